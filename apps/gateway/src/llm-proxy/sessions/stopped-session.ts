/**
 * Refusals of calls whose session is paused or ended. They tell the reason, which the session's agent finds in its control as well: who
 * develops it may know nothing of that, and sees the error alone.
 */
import { type ControlView, ERRORS } from '#contracts';
import { oneLine } from '#kernel';
import type { Verdict } from '../proxy-call.js';

/** Of a reason, in UTF-16 units; with the call it is kept. */
const REASON_CHARS_MAX = 500;
/** What a call of a paused session is told to wait before it tries again. */
export const PAUSED_RETRY_AFTER_SECONDS = 5;

type Why = Pick<ControlView, 'reason'>;

/** The session is still paused at the end of the wait. */
export const holdExpired = (why: Why): Verdict => ({
  kind: 'refuse',
  decision: 'hold_expired',
  code: 'hold_expired',
  detail: withReason('hold_expired', why),
  shouldRetry: true,
  retryAfterSeconds: PAUSED_RETRY_AFTER_SECONDS,
});

export const terminated = (why: Why): Verdict => ({
  kind: 'refuse',
  decision: 'terminated',
  code: 'call_terminated',
  detail: withReason('call_terminated', why),
  shouldRetry: false,
});

function withReason(code: 'hold_expired' | 'call_terminated', { reason }: Why): string {
  const { text } = ERRORS[code];
  // The one that is a code.
  const said = reason === 'hitl_required' ? 'the agent asks for a person' : (reason ?? '');
  const words = oneLine(said, REASON_CHARS_MAX).trim();
  return words === '' ? text : `${text} Reason: ${words}`;
}
