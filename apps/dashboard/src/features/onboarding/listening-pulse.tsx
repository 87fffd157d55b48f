/** Says that a page waits for something that comes by itself; while the gateway is away, that nothing can come. */
import type { ReactNode } from 'react';
import { useConnection } from '../../realtime';
import { cx } from '../../ui';

export function ListeningPulse({ children }: { children: ReactNode }) {
  const isAway = 'sinceMs' in useConnection();
  return (
    <p role="status" className="flex items-center justify-center gap-2.5 text-muted">
      <span aria-hidden="true" className="relative flex size-2.5">
        {isAway ? null : (
          <span className="absolute inset-0 rounded-full bg-accent-solid opacity-60 motion-safe:animate-[ping_2.4s_ease-out_infinite]" />
        )}
        <span className={cx('relative size-2.5 rounded-full', isAway ? 'bg-faint' : 'bg-accent-solid')} />
      </span>
      {isAway ? 'Not connected: nothing can arrive now' : children}
    </p>
  );
}
