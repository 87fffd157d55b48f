/**
 * When a session without steps shows as idle. One that loops or repeats itself stays what it is for longer, so that
 * nobody misses it; its severity stays, too, and only its state says that it stands still.
 */
import type { NodeState, SessionView } from '#contracts';

/** Null: never; it is idle, or over. */
const IDLE_AFTER_MS: Record<NodeState, number | null> = {
  active: 60_000,
  blocked: 10 * 60_000,
  alert_entropy: 10 * 60_000,
  schema_violation: null,
  idle: null,
  dead: null,
};

/** True when it is time to call it idle: also one that was seen last by a clock that was ahead, and has had no step since. */
export function fallsSilent({ state, last_seen_ms }: SessionView, nowMs: number): boolean {
  const afterMs = IDLE_AFTER_MS[state];
  return afterMs !== null && Math.abs(nowMs - last_seen_ms) >= afterMs;
}
