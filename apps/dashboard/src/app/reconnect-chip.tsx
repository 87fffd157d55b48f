/** Whether what is on the screen is live: connected, silent, reconnecting with a countdown, or offline since when. */
import { type ConnectionState, liveClient, useConnection } from '../realtime';
import { cx, formatAge, formatClock, formatZone, useNow } from '../ui';

function describe(connection: ConnectionState, nowMs: number): string {
  if (connection.kind === 'connecting') return 'Connecting';
  if (connection.kind === 'connected') return 'Live';
  if (connection.kind === 'silent') return `No answer for ${formatAge(connection.sinceMs, nowMs)}`;
  const wait = connection.retryAtMs === null ? 0 : Math.ceil((connection.retryAtMs - nowMs) / 1_000);
  const retry = wait > 0 ? `next try in ${wait} s` : 'trying now';
  return connection.kind === 'reconnecting'
    ? `Reconnecting, ${retry}`
    : `Offline for ${formatAge(connection.sinceMs, nowMs)}, ${retry}`;
}

const looks: Record<ConnectionState['kind'], { dot: string; chip: string }> = {
  connecting: { dot: 'bg-faint', chip: 'text-muted border-line' },
  connected: { dot: 'bg-success', chip: 'text-muted border-transparent' },
  silent: { dot: 'bg-warning', chip: 'text-warning bg-warning-soft border-warning-line' },
  reconnecting: { dot: 'bg-warning', chip: 'text-warning bg-warning-soft border-warning-line' },
  offline: { dot: 'bg-danger', chip: 'text-danger bg-danger-soft border-danger-line' },
};

export function ReconnectChip({ className }: { className?: string }) {
  const connection = useConnection();
  const text = useNow((nowMs) => describe(connection, nowMs));
  const { dot, chip } = looks[connection.kind];
  const isLost = 'sinceMs' in connection;
  return (
    <div
      data-testid="reconnect-chip"
      data-state={connection.kind}
      className={cx(
        'inline-flex min-h-6 items-center gap-1.5 rounded-md border px-2 py-0.5 text-xs',
        chip,
        className,
      )}
    >
      <span aria-hidden="true" className={cx('says-by-colour size-1.5 shrink-0 rounded-full', dot)} />
      <span className="nums">{text}</span>
      {'retryAtMs' in connection && connection.retryAtMs !== null ? (
        <button
          type="button"
          className="font-medium underline underline-offset-2"
          onClick={() => liveClient.retryNow()}
        >
          Retry
        </button>
      ) : null}
      <span role="status" className="sr-only">
        {isLost ? 'No connection. What you see may be out of date.' : ''}
      </span>
    </div>
  );
}

/** "08:48:32 UTC", "22 Nov 08:48 UTC": whoever reads it out may do so to another zone. */
const describeSince = (sinceMs: number, nowMs: number): string =>
  `${formatClock(sinceMs, nowMs).split('.')[0]} ${formatZone(sinceMs)}`;

/** Below a page that is no longer live, saying as of when it is: there it covers nothing, and moves nothing at its top. */
export function StaleNotice() {
  const connection = useConnection();
  const since = useNow((nowMs) =>
    'sinceMs' in connection ? describeSince(connection.sinceMs, nowMs) : null,
  );
  if (since === null) return null;
  return (
    <p className="nums shrink-0 border-warning-line border-t bg-warning-soft px-3 py-1 text-center font-medium text-warning text-xs">
      Not live: as of {since}
    </p>
  );
}
