/** Whether a key or token still opens anything. */
import { Badge, formatExact, RelativeTime } from '../../ui';

export function AccessStatus({ revokedAtMs }: { revokedAtMs: number | null }) {
  return revokedAtMs === null ? (
    <Badge tone="success">Active</Badge>
  ) : (
    <Badge title={`Revoked ${formatExact(revokedAtMs)}`}>Revoked</Badge>
  );
}

export function LastUsed({ atMs }: { atMs: number | null }) {
  return atMs === null ? <span className="text-muted">Never</span> : <RelativeTime atMs={atMs} />;
}
