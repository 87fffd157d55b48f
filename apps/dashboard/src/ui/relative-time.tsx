/** A time relative to now that ticks by itself; the exact time is in the tooltip. */
import { formatAge, formatAgo } from './format';
import { useNow } from './now';

interface RelativeTimeProps {
  atMs: number;
  /** Leaves out "ago". */
  short?: boolean;
  className?: string;
}

export function RelativeTime({ atMs, short = false, className }: RelativeTimeProps) {
  const text = useNow((nowMs) => (short ? formatAge(atMs, nowMs) : formatAgo(atMs, nowMs)));
  const at = new Date(atMs);
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()} className={className ?? 'nums'}>
      {text}
    </time>
  );
}
