/** What became of a call, in the words an operator reads. */
import { CALL_DECISIONS, type CallDecision, isCostUnknown, type LlmCall } from '#contracts';
import type { Tone } from '../../ui/badge';
import { formatCost } from '../../ui/format';

interface DecisionText {
  label: string;
  tone: Tone;
  text: string;
}

export const DECISIONS: Record<CallDecision, DecisionText> = {
  forwarded: { label: 'Forwarded', tone: 'neutral', text: 'The upstream answered; its answer went through.' },
  refused: {
    label: 'Refused',
    tone: 'danger',
    text: 'Refused: no valid key, or nothing that could be read.',
  },
  hinted: { label: 'Hinted', tone: 'accent', text: 'A hint was added before it went to the upstream.' },
  cached: { label: 'Cached', tone: 'success', text: 'Answered from the cache.' },
  killed: { label: 'Killed', tone: 'danger', text: 'The kill switch stopped it before the upstream.' },
  inactive: { label: 'Deactivated', tone: 'danger', text: 'Refused: its agent is deactivated.' },
  outside_hours: { label: 'Out of hours', tone: 'warning', text: 'Refused: outside the allowed hours.' },
  not_allowed: { label: 'Not allowed', tone: 'warning', text: 'Refused: its policy does not allow it.' },
  rate_limited: { label: 'Rate limited', tone: 'warning', text: 'Refused: too many requests or tokens.' },
  over_budget: { label: 'Over budget', tone: 'warning', text: 'Refused: the budget is used up.' },
  session_capped: { label: 'Session capped', tone: 'warning', text: 'Refused: the session reached its cap.' },
  hold_expired: {
    label: 'Hold expired',
    tone: 'paused',
    text: 'Held for an operator until the hold ran out.',
  },
  terminated: { label: 'Session ended', tone: 'danger', text: 'Refused: an operator ended the session.' },
  aborted: { label: 'Client left', tone: 'neutral', text: 'The client hung up before the answer was whole.' },
  cut_off: {
    label: 'Cut off',
    tone: 'danger',
    text: 'The session was ended, the agent stopped or its key revoked before the answer was whole.',
  },
  upstream_failed: { label: 'No answer', tone: 'danger', text: 'The upstream gave no answer.' },
};

/** Why a client got no whole answer is told by the detail alone: it may be the gateway that left. */
export const whatBecameOf = ({ decision, detail }: Pick<LlmCall, 'decision' | 'detail'>): string =>
  decision === 'aborted' && detail !== null
    ? detail
    : [DECISIONS[decision]?.text, detail].filter(Boolean).join(' ');

export const DECISION_OPTIONS = CALL_DECISIONS.map((value) => ({ value, label: DECISIONS[value].label }));

/** "$0.0042", "unknown" for a model without a price, "–" for a call that never was sent. */
export function costText(call: Pick<LlmCall, 'decision' | 'cost_usd' | 'usage'>): string {
  if (call.cost_usd === null && !isCostUnknown(call)) return '–';
  return formatCost(call.cost_usd);
}

export const UNKNOWN_COST = 'This model has no price. Add one in Settings, Prices.';
export const UNKNOWN_USAGE = 'No usage was reported, so what it cost is not known.';
