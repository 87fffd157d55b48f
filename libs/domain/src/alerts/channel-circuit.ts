/**
 * A circuit per channel: after several failures in a row nothing is sent for a while, then one delivery tries.
 *
 *     closed --5 failures in a row--> open --its time is over--> one trial --success--> closed
 *                                      ^                             |
 *                                      +------ failure, waits twice as long, 15 min at most
 *
 * A receiver that says how long it wants to rest (`Retry-After`) is left alone for so long, by all that goes to it.
 */
export const CIRCUIT_FAILURES_MAX = 5;
export const CIRCUIT_OPEN_MS = 60_000;
export const CIRCUIT_OPEN_MS_MAX = 15 * 60_000;

export interface ChannelCircuit {
  /** In a row, up to now. */
  failureCount: number;
  /** Null: closed. */
  retryAtMs: number | null;
  /** It is left alone for so long because its receiver asked for it, and not because of failures in a row. */
  isAsked: boolean;
  /** How long it was opened last time. */
  openMs: number;
}

export const CLOSED_CIRCUIT: Readonly<ChannelCircuit> = {
  failureCount: 0,
  retryAtMs: null,
  isAsked: false,
  openMs: 0,
};

/** `go`: send. `trial`: send this one and wait for its outcome. `wait`: nothing before `retryAtMs`. */
export function decideSending(circuit: Readonly<ChannelCircuit>, nowMs: number): 'go' | 'trial' | 'wait' {
  const retryAtMs = restsUntilMs(circuit, nowMs);
  if (retryAtMs === null) return 'go';
  return retryAtMs <= nowMs ? 'trial' : 'wait';
}

/** When one delivery is to try; null: it does not rest. */
export const restsUntilMs = (circuit: Readonly<ChannelCircuit>, nowMs: number): number | null =>
  asOf(nowMs, circuit).retryAtMs;

/** Of a rest that is longer than any, the clock was set back since it began: it ends now. */
function asOf(nowMs: number, circuit: Readonly<ChannelCircuit>): Readonly<ChannelCircuit> {
  const restMs = (circuit.retryAtMs ?? nowMs) - nowMs;
  return restMs > CIRCUIT_OPEN_MS_MAX ? { ...circuit, retryAtMs: nowMs } : circuit;
}

/** @param restMs what the receiver asked for; taken up to `CIRCUIT_OPEN_MS_MAX` */
export function afterFailure(
  circuit: Readonly<ChannelCircuit>,
  nowMs: number,
  restMs: number | null = null,
): ChannelCircuit {
  const before = asOf(nowMs, circuit);
  const isAsked = before.isAsked && nowMs < (before.retryAtMs ?? 0);
  const failed = opened({ ...before, isAsked, failureCount: before.failureCount + 1 }, nowMs);
  if (restMs === null) return failed;
  const restedMs = nowMs + Math.min(restMs, CIRCUIT_OPEN_MS_MAX);
  return restedMs < (failed.retryAtMs ?? 0) ? failed : { ...failed, retryAtMs: restedMs, isAsked: true };
}

function opened(failed: ChannelCircuit, nowMs: number): ChannelCircuit {
  if (failed.failureCount < CIRCUIT_FAILURES_MAX) return failed;
  // Those that were under way when it opened say nothing new.
  if (failed.retryAtMs !== null && nowMs < failed.retryAtMs) return failed;
  const openMs = failed.openMs === 0 ? CIRCUIT_OPEN_MS : Math.min(failed.openMs * 2, CIRCUIT_OPEN_MS_MAX);
  return { ...failed, openMs, retryAtMs: nowMs + openMs };
}
