/** What became of a call, read from its record. */
import type { LlmCall } from './llm-call.js';

/** It reached the upstream, so that it costs something. */
export const reachedUpstream = ({ decision }: Pick<LlmCall, 'decision'>): boolean =>
  decision === 'forwarded' ||
  decision === 'hinted' ||
  decision === 'aborted' ||
  decision === 'upstream_failed';

/** Neither an upstream nor the cache answered it: a guard or an operator let it go no further. */
export const wasRefused = ({ decision }: Pick<LlmCall, 'decision'>): boolean =>
  decision !== 'cached' && !reachedUpstream({ decision });

/** It cost something, and nobody knows how much: a model without a price, a recording, no usage reported. */
export const isCostUnknown = (call: Pick<LlmCall, 'decision' | 'cost_usd' | 'usage'>): boolean =>
  call.cost_usd === null && (call.usage !== null || reachedUpstream(call));
