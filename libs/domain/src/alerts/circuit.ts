/**
 * A circuit per channel: after several failures in a row nothing is sent for a while, then one delivery tries.
 *
 *     closed --5 failures in a row--> open --its time is over--> one trial --success--> closed
 *                                      ^                             |
 *                                      +------ failure, waits twice as long, 15 min at most
 */
export const CIRCUIT_FAILURES_MAX = 5;
export const CIRCUIT_OPEN_MS = 60_000;
export const CIRCUIT_OPEN_MS_MAX = 15 * 60_000;

export interface Circuit {
  /** In a row, up to now. */
  failureCount: number;
  /** Null: closed. */
  retryAtMs: number | null;
  /** How long it was opened last time. */
  openMs: number;
}

export const CLOSED_CIRCUIT: Readonly<Circuit> = { failureCount: 0, retryAtMs: null, openMs: 0 };

/** `go`: send. `trial`: send this one and wait for its outcome. `wait`: nothing before `retryAtMs`. */
export function decideSending(circuit: Readonly<Circuit>, nowMs: number): 'go' | 'trial' | 'wait' {
  if (circuit.retryAtMs === null) return 'go';
  return nowMs >= circuit.retryAtMs ? 'trial' : 'wait';
}

export function afterFailure(circuit: Readonly<Circuit>, nowMs: number): Circuit {
  const failureCount = circuit.failureCount + 1;
  if (failureCount < CIRCUIT_FAILURES_MAX) return { ...circuit, failureCount };
  // Those that were under way when it opened say nothing new.
  if (circuit.retryAtMs !== null && nowMs < circuit.retryAtMs) return { ...circuit, failureCount };
  const openMs = circuit.openMs === 0 ? CIRCUIT_OPEN_MS : Math.min(circuit.openMs * 2, CIRCUIT_OPEN_MS_MAX);
  return { failureCount, openMs, retryAtMs: nowMs + openMs };
}
