/** An agent asks for a person in a session that is paused already, whoever paused it. Pure. */
import type { ControlRow } from '#contracts';

/** Of one session. Of a further agent nobody hears that it asked, but of the session they did. */
export const ASKERS_PER_SESSION_MAX = 20;

export type AskDecision =
  /** It has asked in this pause before. */
  | { readonly kind: 'none' }
  /** It has no place any more. */
  | { readonly kind: 'full' }
  | { readonly kind: 'apply'; readonly next: ControlRow };

/** Never throws; the row given is not changed. */
export function decideAsk(control: ControlRow, agentId: string): AskDecision {
  const { asked_by } = control;
  if (asked_by.includes(agentId)) return { kind: 'none' };
  if (asked_by.length >= ASKERS_PER_SESSION_MAX) return { kind: 'full' };
  return { kind: 'apply', next: { ...control, asked_by: [...asked_by, agentId] } };
}
