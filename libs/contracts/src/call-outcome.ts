/** What became of a call, read from its record. */
import type { CallDecision, LlmCall } from './llm-call.js';

const REACHED: readonly CallDecision[] = ['forwarded', 'hinted', 'aborted', 'cut_off', 'upstream_failed'];

/** It reached the upstream, so that it costs something. */
export const reachedUpstream = ({ decision }: Pick<LlmCall, 'decision'>): boolean =>
  REACHED.includes(decision);

/** Neither an upstream nor the cache answered it: a guard or an operator let it go no further. */
export const wasRefused = ({ decision }: Pick<LlmCall, 'decision'>): boolean =>
  decision !== 'cached' && !reachedUpstream({ decision });

/** It cost something, and nobody knows how much: a model without a price, a recording, no usage reported. */
export const isCostUnknown = (call: Pick<LlmCall, 'decision' | 'cost_usd' | 'usage'>): boolean =>
  call.cost_usd === null && (call.usage !== null || reachedUpstream(call));

/** What becomes of a call that may count as one against what its agent may use. */
export const USED_DECISIONS: readonly CallDecision[] = [...REACHED, 'cached'];

/** It counts: it was answered, or whoever broke it off left something to pay. */
export const wasUsed = (call: Pick<LlmCall, 'decision' | 'status' | 'cost_usd' | 'usage'>): boolean => {
  if (wasRefused(call)) return false;
  if (call.cost_usd === null || call.cost_usd > 0 || call.decision === 'cached') return true;
  return call.decision !== 'upstream_failed' && call.status >= 200 && call.status < 300;
};
