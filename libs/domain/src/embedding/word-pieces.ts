/**
 * WordPiece ids of a text, made fit for a model: cut to its length, and judged by how much of the text it knows.
 *
 *     [CLS] w1 w2 ... w254 | w255 ... w900 [SEP]      ->      [CLS] w1 w2 ... w254 [SEP]
 */
import type { Fitness } from '#contracts/embedding';

/** Above this share of unknown tokens a vector says more about what is missing than about the text. */
const UNKNOWN_SHARE_MAX = 0.1;

/**
 * Cuts in front of the closing [SEP], so that both marks stay.
 *
 * @param ids of one text, the marks included
 * @param tokensMax marks included, at least 2
 */
export function truncateWordPieces(ids: readonly number[], tokensMax: number): number[] {
  if (ids.length <= tokensMax) return [...ids];
  return [...ids.slice(0, tokensMax - 1), ids[ids.length - 1] as number];
}

/**
 * @param ids of one text, between [CLS] and [SEP], both of which are there and not judged
 * @param unknownId of [UNK]
 */
export function judgeWordPieces(ids: readonly number[], unknownId: number): Fitness {
  const count = ids.length - 2;
  if (count <= 0) return 'empty';
  let unknown = 0;
  for (let at = 1; at <= count; at += 1) if (ids[at] === unknownId) unknown += 1;
  return unknown / count > UNKNOWN_SHARE_MAX ? 'unknown_tokens' : 'fit';
}
