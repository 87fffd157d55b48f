/** A time relative to now that ticks by itself; the exact time and its zone are in the tooltip. */
import { formatAge, formatAgo, formatExact } from './format';
import { useNow } from './now';

interface RelativeTimeProps {
  atMs: number;
  /** Leaves out "ago". */
  short?: boolean;
  className?: string;
}

export function RelativeTime({ atMs, short = false, className }: RelativeTimeProps) {
  const text = useNow((nowMs) => (short ? formatAge(atMs, nowMs) : formatAgo(atMs, nowMs)));
  return (
    <time dateTime={new Date(atMs).toISOString()} title={formatExact(atMs)} className={className ?? 'nums'}>
      {text}
    </time>
  );
}
