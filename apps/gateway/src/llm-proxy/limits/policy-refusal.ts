/** A refusal in the name of an agent's policy, or of that of all agents together. */
import type { CallDecision, ErrorCode } from '#contracts';
import { slidingLifeMs } from '#domain/policy';
import { MINUTE_MS } from '#kernel';
import type { Verdict } from '../proxy-call.js';

/** A client told to wait longer than for a minute's limit had better not wait. */
const RETRY_WITHIN_MS = slidingLifeMs(MINUTE_MS);

/** @param retryAfterMs null: no waiting helps */
export const policyRefusal = (
  decision: CallDecision,
  code: ErrorCode,
  detail: string,
  retryAfterMs: number | null,
): Verdict => ({
  kind: 'refuse',
  decision,
  code,
  detail,
  // Waiting helps only where there is something to wait for.
  shouldRetry: retryAfterMs !== null && retryAfterMs <= RETRY_WITHIN_MS,
  ...(retryAfterMs !== null && { retryAfterSeconds: retryAfterMs / 1_000 }),
});
