/** Refusals in the gateway's own name. */
import type { ErrorCode } from '#contracts';
import type { Verdict } from './proxy-call.js';

type Refusal = Extract<Verdict, { kind: 'refuse' }>;

/** What is full has room again before long. */
const ROOM_AGAIN_SECONDS = 2;

/** Trying again helps nobody. */
export const refused = (code: ErrorCode, detail?: string): Refusal => ({
  kind: 'refuse',
  decision: 'refused',
  code,
  detail,
  shouldRetry: false,
});

export const refusedForNow = (code: ErrorCode): Refusal => ({
  kind: 'refuse',
  decision: 'refused',
  code,
  shouldRetry: true,
  retryAfterSeconds: ROOM_AGAIN_SECONDS,
});
