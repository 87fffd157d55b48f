export { circuitEmbedder, LeftAlone } from './circuit-embedder.js';
export { cutToEnds, cutToHead } from './cut-text.js';
export {
  MINILM_TEXT_CHARS_MAX,
  type MinilmVariant,
  minilmDescription,
  STATIC_DESCRIPTION,
  STATIC_TEXT_CHARS_MAX,
} from './embedder-descriptions.js';
export { meanPool, toUnitLength } from './mean-pool.js';
export { type MemoEmbedderOptions, type MemoOutcome, memoEmbedder } from './memo-embedder.js';
export { STATIC_BUCKET_COUNT } from './static-buckets.js';
export { StaticFeaturiser } from './static-featuriser.js';
export { STATIC_RANK, StaticTable } from './static-table.js';
export { judgeWordPieces, truncateWordPieces } from './word-pieces.js';
