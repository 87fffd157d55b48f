/**
 * What leaves at the end of a turn of the event loop, together. Between two pieces of work a write to a socket costs more than
 * itself: it wakes a reader who sleeps again before the next one comes, and the processor's caches forget the work. One write
 * after the other finds both awake. Nobody waits longer for it than the rest of the turn takes.
 */
import { type Deferred, deferred } from './deferred.js';

/** Turns may be long: the first of their writes waits no longer. */
const WAIT_MS_MAX = 2;

let writes: (() => void)[] = [];
let firstAtMs = 0;
/** Null: nobody waits. */
let left: Deferred | null = null;

/** Runs `write` when the work of this turn is done, in the order of the calls. It must not throw. */
export function atTurnEnd(write: () => void): void {
  const nowMs = performance.now();
  if (writes.push(write) === 1) {
    firstAtMs = nowMs;
    setImmediate(leave);
  } else if (nowMs - firstAtMs >= WAIT_MS_MAX) leave();
}

/** Resolves when all that was to leave has left: at once if that is nothing. For work that nobody waits for. */
export function afterTurnEnd(): Promise<void> {
  if (writes.length === 0) return NOTHING_LEFT;
  left ??= deferred();
  return left.promise;
}

const NOTHING_LEFT = Promise.resolve();

function leave(): void {
  const leaving = writes;
  const awaited = left;
  writes = [];
  left = null;
  for (const write of leaving) write();
  awaited?.resolve();
}
