/**
 * What leaves at the end of a turn of the event loop, together. Between two pieces of work a write to a socket costs more than
 * itself: it wakes a reader who sleeps again before the next one comes, and the processor's caches forget the work. One write
 * after the other finds both awake. Nobody waits longer for it than the rest of the turn takes; who begins a long piece of work
 * has the others leave first.
 */
import { type Deferred, deferred } from './deferred.js';

/** What was to leave so long ago leaves with the next that comes, though the turn goes on. */
const WAIT_MS_MAX = 2;

let writes: (() => void)[] = [];
let firstAtMs = 0;
/** Null: nobody waits. */
let left: Deferred | null = null;

/** Runs `write` when the work of this turn is done. An error of it is nobody's here: it ends the process, after all others have run. */
export function atTurnEnd(write: () => void): void {
  const nowMs = performance.now();
  if (writes.push(write) === 1) {
    firstAtMs = nowMs;
    setImmediate(leaveNow);
  } else if (nowMs - firstAtMs >= WAIT_MS_MAX) leaveNow();
}

/** Resolves when all that was to leave has left: at once if that is nothing. For work that nobody waits for. */
export function afterTurnEnd(): Promise<void> {
  if (writes.length === 0) return NOTHING_LEFT;
  left ??= deferred();
  return left.promise;
}

const NOTHING_LEFT = Promise.resolve();

/** Ahead of work that takes long. */
export function leaveNow(): void {
  const leaving = writes;
  const awaited = left;
  writes = [];
  left = null;
  for (const write of leaving) {
    try {
      write();
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  }
  awaited?.resolve();
}
