/**
 * The quiet parts of the semantic loop: what counts as a prompt, the last few of each session, and what follows when
 * one comes back in other words. Embeddings and the comparison of words are elsewhere.
 */
export { checkUnitVector } from './check-unit-vector.js';
export { HISTORY_COUNT_MAX, HISTORY_TTL_MS } from './history-defaults.js';
export {
  LADDER_IDLE_MS,
  LoopLadder,
  type LoopLadderOptions,
} from './loop-ladder.js';
export {
  MemoryPromptHistory,
  type MemoryPromptHistoryOptions,
  type PromptHistoryCounts,
} from './memory-prompt-history.js';
export { cutPrompt, excerptOf } from './prompt-chars.js';
export { promptOf } from './prompt-of.js';
