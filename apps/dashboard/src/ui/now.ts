/** One clock for every relative time on the page, the gateway's: ticks once a second, and only while somebody looks. */
import { useSyncExternalStore } from 'react';
import { gatewayNowMs } from '../api/gateway-clock';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const notify of listeners) notify();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/**
 * Re-renders only when `select` gives another value: pass a function that rounds, such as a formatted text.
 * @param select takes the gateway's time in epoch milliseconds; returns a primitive.
 */
export function useNow<T extends string | number | boolean | null>(select: (nowMs: number) => T): T {
  const read = () => select(gatewayNowMs());
  return useSyncExternalStore(subscribe, read, read);
}
