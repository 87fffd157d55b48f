/** How long checks take, against the time they may take: the histogram since the start, p50 and p99 of late. */
import type { ReactNode } from 'react';
import type { SystemView } from '#contracts';
import { cx, formatCount, formatDuration, formatTokens, Panel } from '../../ui';
import { formatCheckMs, isNearTimeout, type LatencyBar, latencyBars, timeoutText } from './latency-bars';
import { sumOf } from './system-texts';

export function LatencyPanel({ semanticLoop }: { semanticLoop: SystemView['semantic_loop'] }) {
  const { p50_ms, p99_ms, latency, timeout_ms, checks } = semanticLoop;
  const timeout = formatDuration(timeout_ms);
  const bars = latencyBars(latency, timeout_ms);
  // Those that fail open are checks, too, and have no time.
  const none = sumOf(checks) === 0 ? 'no checks' : 'none answered';
  const isNear = isNearTimeout(p99_ms, timeout_ms);
  return (
    <Panel
      title="Latency of checks"
      aside={<span className="text-muted text-xs">since the gateway’s start, in ms</span>}
      bodyClassName="flex flex-col gap-3 p-3"
    >
      <dl className="nums flex flex-wrap gap-x-6 gap-y-1">
        <Fact name="p50, 5 min">{p50_ms === null ? none : formatCheckMs(p50_ms)}</Fact>
        <Fact name="p99, 5 min" className={cx(isNear && 'text-warning')}>
          {p99_ms === null ? none : formatCheckMs(p99_ms)}
        </Fact>
        <Fact name="Timeout">{timeout}</Fact>
        <Fact name="Checks">{formatCount(sumOf(checks))}</Fact>
      </dl>
      {sumOf(checks) === 0 ? (
        <p className="text-muted">No prompt was checked since the start of this gateway.</p>
      ) : (
        <ol
          aria-label="Checks by how long they took"
          className="mt-auto flex h-36 items-end gap-1.5 max-md:gap-1"
        >
          {bars.map((bar) => (
            <Bar key={bar.label} bar={bar} />
          ))}
        </ol>
      )}
      <p className="text-muted text-xs">
        {timeoutText(p99_ms, timeout_ms)}
        {bars.some(({ isPastTimeout, count }) => isPastTimeout && count > 0)
          ? ' Those are drawn in amber.'
          : ''}
      </p>
    </Panel>
  );
}

function Bar({ bar }: { bar: LatencyBar }) {
  return (
    <li
      title={`${bar.text}: ${formatCount(bar.count)}`}
      className="flex h-full min-w-0 flex-1 flex-col items-center justify-end gap-1"
    >
      <span className="sr-only">
        {bar.text}: {formatCount(bar.count)}
      </span>
      <span aria-hidden="true" className="nums text-2xs text-muted leading-none">
        {bar.count > 0 ? formatTokens(bar.count) : ''}
      </span>
      <span
        aria-hidden="true"
        className={cx('w-full rounded-t-sm', bar.isPastTimeout ? 'bg-[#f59e0b]' : 'bg-accent-solid')}
        style={{ height: `${bar.height * 72}%`, minHeight: bar.count > 0 ? 2 : 0 }}
      />
      <span
        aria-hidden="true"
        className="nums w-full border-line border-t pt-1 text-center text-2xs text-muted leading-none"
      >
        {bar.label === 'more' ? '∞' : bar.label}
      </span>
    </li>
  );
}

function Fact({ name, className, children }: { name: string; className?: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-2xs text-muted">{name}</dt>
      <dd className={cx('font-semibold text-md', className)}>{children}</dd>
    </div>
  );
}
