/**
 * What is known of the two local models: how long a text they read, and where their thresholds lie.
 *
 * @see models/observatory-static-384/MODEL_CARD.md for the static one's; the semantic loop's design for MiniLM's
 */
import {
  type Cosine,
  type EmbedderDescription,
  type LoopSimilarity,
  similarityOfCosine,
} from '#contracts/embedding';

/** Longer text loses its middle: 512 tokens of either end are read, so that this leaves 64 characters for each. */
export const STATIC_TEXT_CHARS_MAX = 65_536;

/** Longer text loses its end: 254 word pieces are read, about 1,200 characters of English. */
export const MINILM_TEXT_CHARS_MAX = 4_096;

/** Exclusive, on the scale of a plain cosine: a similarity of 0.825. */
const STATIC_LOOP_COSINE = 0.65 as Cosine;

/** The bundled one: words, word pairs and n-grams, no meaning beyond them. */
export const STATIC_DESCRIPTION: EmbedderDescription = {
  model_id: 'observatory-static-384-v1',
  dimension: 384,
  tokens_max: 1_024,
  loopWhenSimilarityAbove: similarityOfCosine(STATIC_LOOP_COSINE),
  hitWhenCosineAtLeast: 0.92 as Cosine,
  needsStrictGate: true,
};

/** The two give vectors that are near each other but not equal, so they have different ids. */
export type MinilmVariant = 'int8' | 'fp32';

/** all-MiniLM-L6-v2: meaning, in English. */
export const minilmDescription = (variant: MinilmVariant): EmbedderDescription => ({
  model_id: `all-MiniLM-L6-v2-${variant}`,
  dimension: 384,
  tokens_max: 256,
  loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
  hitWhenCosineAtLeast: 0.92 as Cosine,
  needsStrictGate: false,
});
