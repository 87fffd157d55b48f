/** Whether a key or token still opens anything. */
import type { ReactNode } from 'react';
import { Badge, formatExact, RelativeTime } from '../../ui';

export function AccessStatus({ revokedAtMs }: { revokedAtMs: number | null }) {
  return revokedAtMs === null ? (
    <Badge tone="success">Active</Badge>
  ) : (
    <Badge title={`Revoked ${formatExact(revokedAtMs)}`}>Revoked</Badge>
  );
}

/** What a phone has no column for, below the name. */
export const PhoneLine = ({ children }: { children: ReactNode }) => (
  <span className="block whitespace-normal font-normal text-muted text-xs [overflow-wrap:anywhere] md:hidden">
    {children}
  </span>
);

export const LastUsedLine = ({ atMs }: { atMs: number | null }) => (
  <PhoneLine>
    {atMs === null ? (
      'Never used'
    ) : (
      <>
        Used <RelativeTime atMs={atMs} />
      </>
    )}
  </PhoneLine>
);

export function LastUsed({ atMs }: { atMs: number | null }) {
  return atMs === null ? <span className="text-muted">Never</span> : <RelativeTime atMs={atMs} />;
}
