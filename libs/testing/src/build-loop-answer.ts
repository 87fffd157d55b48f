/** What a sidecar says that has found a loop, with whatever a test cares about on top. */
import type { LoopAnswer, LoopSimilarity } from '#contracts';

export const buildLoopAnswer = (overrides: Partial<LoopAnswer> = {}): LoopAnswer => ({
  loop_detected: true,
  max_similarity: 0.97 as LoopSimilarity,
  threshold: 0.95 as LoopSimilarity,
  similar_prompt: 'What was asked before',
  similar_request_id: 'call-before',
  compared_count: 1,
  similar_count: 1,
  fitness: 'fit',
  vetoed_by: null,
  model_id: 'scripted',
  further: [],
  ...overrides,
});
