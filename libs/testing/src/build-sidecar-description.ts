/** What an embedding sidecar says of itself that has done nothing yet, with whatever a test cares about on top. */
import type { Cosine, LoopSimilarity, SidecarDescription } from '#contracts';

export const buildSidecarDescription = (overrides: Partial<SidecarDescription> = {}): SidecarDescription => ({
  model_id: 'scripted',
  dimension: 2,
  tokens_max: 512,
  loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
  hitWhenCosineAtLeast: 0.92 as Cosine,
  needsStrictGate: false,
  loop_similarity_threshold: 0.95 as LoopSimilarity,
  store: 'memory',
  store_problem: null,
  history_size: 5,
  ttl_s: 3_600,
  checks_total: 0,
  loops_total: 0,
  failures_total: 0,
  queued: 0,
  uptime_s: 1,
  ...overrides,
});
