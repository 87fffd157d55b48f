/** How long ago what stands before it came up. */
import { useState } from 'react';
import { MINUTE_MS } from '#kernel/duration';
import { gatewayNowMs } from '../api/gateway-clock';
import { formatAgo } from './format';
import { useNow } from './now';

interface SinceNoteProps {
  /** When that was, if that was before it was drawn. */
  atMs?: number | undefined;
}

/**
 * " · 3 min ago", behind what failed: nobody may take it for what has just been done. Nothing in the first minute. Within an alert, it is
 * not read out whenever it changes.
 */
export function SinceNote({ atMs }: SinceNoteProps) {
  const [drawnAtMs] = useState(gatewayNowMs);
  const cameAtMs = atMs ?? drawnAtMs;
  const text = useNow((nowMs) => (nowMs - cameAtMs < MINUTE_MS ? null : formatAgo(cameAtMs, nowMs)));
  return (
    <span aria-live="off" className="nums whitespace-nowrap">
      {text === null ? null : ` · ${text}`}
    </span>
  );
}
