/** Two minutes of one number as a line, drawn by uPlot. Decoration beside the number itself: hidden from screen readers. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../../app/theme';

/** Seconds shown, whether or not there is data for all of them. */
const SPAN_SECONDS = 120;
const HEIGHT_PX = 28;

interface SparklineProps {
  /** Epoch seconds, ascending. */
  times: readonly number[];
  /** Null = no value then; a gap in the line. */
  values: readonly (number | null)[];
}

export function Sparkline({ times, values }: SparklineProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const theme = useTheme((state) => state.theme);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `theme` changes what the variable resolves to.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const stroke = getComputedStyle(element).getPropertyValue('--accent').trim() || '#888';
    const plot = new uPlot(options(element.clientWidth, stroke), [[], []], element);
    chart.current = plot;
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [theme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew needs its data again.
  useEffect(() => {
    chart.current?.setData([[...times], [...values]]);
  }, [times, values, theme]);

  return (
    <div ref={host} aria-hidden="true" className="w-full overflow-hidden" style={{ height: HEIGHT_PX }} />
  );
}

function options(width: number, stroke: string): uPlot.Options {
  return {
    width: Math.max(1, width),
    height: HEIGHT_PX,
    padding: [3, 0, 1, 0],
    cursor: { show: false },
    legend: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    axes: [{ show: false }, { show: false }],
    scales: {
      x: { time: false, range: (_plot, _min, max) => [(max ?? 0) - SPAN_SECONDS, max ?? 0] },
      // Room above the peak, and a flat line at zero instead of in the middle.
      y: { range: (_plot, _min, max) => [0, Math.max(max ?? 0, 1e-6) * 1.15] },
    },
    series: [{}, { stroke, width: 1.5, fill: `${stroke}1f`, points: { show: false } }],
  };
}
