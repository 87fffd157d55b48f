import type { AgentPolicy, SessionKey } from '#contracts';

/**
 * What was taken for a call before it was sent: enough to name the same windows again when they are corrected. The windows
 * themselves are ten times as large, and a held call would keep them.
 */
export interface TakenLimits {
  policy: AgentPolicy;
  /** Whose caps counted it; null: none. */
  cappedKey: SessionKey | null;
  tokens: number;
  costMicroUsd: number | null;
  /** Of the gateway's clock, when the windows were named. */
  nowMs: number;
  /** `LimitDecision.atMs`; null: from no window, since none is set, one refused, or the limiter's store was silent. */
  takenAtMs: number | null;
  /** Of the gateway's clock, when the limiter was told of it whole, since its store was silent at first; absent: it was not. */
  toldAtMs?: number;
}
