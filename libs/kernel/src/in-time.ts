import { systemTimer, type Timer } from './timer.js';

/** Settles like `reply`, or rejects with what `onTimeout` makes. The reply may come later; nobody hears it then. */
export function inTime<T>(
  reply: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
  timer: Timer = systemTimer,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // After one look at the socket: if this process was busy for that long, the reply may lie there already.
    const callOff = timer.after(timeoutMs, () => setImmediate(() => reject(onTimeout())));
    reply.finally(callOff).then(resolve, reject);
  });
}
