/** Cost over time as bars, drawn by uPlot. The table by day says the same: hidden from screen readers. */
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../../app/theme';
import { formatPartialCost, formatZone } from '../../ui';
import { axisUsd } from './axis-usd';
import { bucketLabel, hourLabel, type Series, type Span } from './spend-range';

const HEIGHT_PX = 200;

interface SpendChartProps {
  series: Series;
  span: Pick<Span, 'bucket' | 'isLocal'>;
}

export function SpendChart({ series, span: { bucket, isLocal } }: SpendChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const theme = useTheme((state) => state.theme);
  const [hovered, setHovered] = useState<number | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `theme` changes what the colours resolve to.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name).trim() || '#888';
    const plot = new uPlot(
      options(element.clientWidth, { bucket, isLocal }, colour, setHovered),
      [series.times, series.costs],
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      setHovered(null);
    };
  }, [series, bucket, isLocal, theme]);

  const at = hovered === null ? undefined : series.times[hovered];
  return (
    <div aria-hidden="true">
      <p className="nums h-5 text-right text-muted text-xs">
        {hovered === null || at === undefined ? (
          `Per ${bucket}, ${isLocal ? formatZone(Date.now()) : 'UTC'}`
        ) : (
          <>
            {bucketLabel(at * 1_000, { bucket, isLocal })}{' '}
            <span className="font-semibold text-fg">
              {formatPartialCost(series.costs[hovered] ?? 0, series.haveUnknown[hovered] ?? false)}
            </span>
          </>
        )}
      </p>
      <div ref={host} className="w-full overflow-hidden" style={{ height: HEIGHT_PX }} />
    </div>
  );
}

function options(
  width: number,
  { bucket, isLocal }: SpendChartProps['span'],
  colour: (name: string) => string,
  onHover: (index: number | null) => void,
): uPlot.Options {
  const axis = {
    stroke: colour('--muted'),
    font: '11px "Inter Variable", sans-serif',
    ticks: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  };
  const bars = uPlot.paths.bars?.({ size: [0.72, 56], radius: 0.12 });
  return {
    width: Math.max(1, width),
    height: HEIGHT_PX,
    padding: [8, 4, 0, 4],
    legend: { show: false },
    tzDate: (seconds) =>
      isLocal ? new Date(seconds * 1_000) : uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? null)] },
    scales: {
      x: { time: true, range: (_plot, min, max) => padded(min, max, bucket) },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 64,
        values: (_plot, splits) => splits.map((seconds) => tick(seconds, { bucket, isLocal })),
        incrs: bucket === 'hour' ? [3_600, 7_200, 10_800, 21_600] : [86_400, 172_800, 604_800, 1_209_600],
      },
      {
        ...axis,
        size: (_plot, values) => 14 + 6.5 * Math.max(2, ...(values ?? []).map(({ length }) => length)),
        values: (_plot, splits) => axisUsd(splits),
      },
    ],
    series: [
      {},
      {
        stroke: colour('--accent-solid'),
        fill: colour('--accent-solid'),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      },
    ],
  };
}

/** Half a bucket at either side, so that the first and the last bar are whole. */
function padded(min: number, max: number, bucket: Span['bucket']): [number, number] {
  const half = bucket === 'hour' ? 1_800 : 43_200;
  return [min - half, max + half];
}

const tick = (seconds: number, { bucket, isLocal }: SpendChartProps['span']): string =>
  bucket === 'hour'
    ? hourLabel(seconds * 1_000, { isLocal })
    : new Date(seconds * 1_000).toLocaleDateString('en-GB', {
        day: 'numeric',
        month: 'short',
        timeZone: 'UTC',
      });
