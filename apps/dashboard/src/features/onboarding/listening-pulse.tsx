/** Says that a page waits for something that comes by itself. */
import type { ReactNode } from 'react';

export function ListeningPulse({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="flex items-center justify-center gap-2.5 text-muted">
      <span aria-hidden="true" className="relative flex size-2.5">
        <span className="absolute inset-0 rounded-full bg-accent-solid opacity-60 motion-safe:animate-[ping_2.4s_ease-out_infinite]" />
        <span className="relative size-2.5 rounded-full bg-accent-solid" />
      </span>
      {children}
    </p>
  );
}
