/**
 * Entropy: labels a session that goes round in circles. The tracker, being the writer, is not here: it has the
 * subpath `#domain/entropy/writer` of its own.
 */
export { findMissingAlertField } from './entropy-alert.js';
export type { EntropyNodeState, EntropyPublisher } from './entropy-publisher.js';
export type { EntropyReader } from './entropy-reader.js';
export {
  decideSeverity,
  mostFrequent,
  type RepeatedTuple,
  roundScore,
} from './entropy-score.js';
export { toolKey, tupleOf } from './tool-key.js';
