/** Whether what is on the screen is live: connected, reconnecting with a countdown, or offline since when. */
import { type ConnectionState, liveClient, useConnection } from '../realtime';
import { cx, formatAge, useNow } from '../ui';

function describe(connection: ConnectionState, nowMs: number): string {
  if (connection.kind === 'connecting') return 'Connecting';
  if (connection.kind === 'connected') return 'Live';
  const wait = connection.retryAtMs === null ? 0 : Math.ceil((connection.retryAtMs - nowMs) / 1_000);
  const retry = wait > 0 ? `next try in ${wait} s` : 'trying now';
  return connection.kind === 'reconnecting'
    ? `Reconnecting, ${retry}`
    : `Offline for ${formatAge(connection.sinceMs, nowMs)}, ${retry}`;
}

const looks: Record<ConnectionState['kind'], { dot: string; chip: string }> = {
  connecting: { dot: 'bg-faint', chip: 'text-muted border-line' },
  connected: { dot: 'bg-success', chip: 'text-muted border-transparent' },
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
      className={cx('inline-flex h-6 items-center gap-1.5 rounded-full border px-2 text-xs', chip, className)}
    >
      <span aria-hidden="true" className={cx('size-1.5 rounded-full', dot)} />
      <span className="nums">{text}</span>
      {isLost && connection.retryAtMs !== null ? (
        <button
          type="button"
          className="font-medium underline underline-offset-2"
          onClick={() => liveClient.retryNow()}
        >
          Retry
        </button>
      ) : null}
      <span role="status" className="sr-only">
        {isLost ? 'Connection lost. What you see may be out of date.' : ''}
      </span>
    </div>
  );
}
