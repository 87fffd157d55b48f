/** The definition of entropy over a plain list, which the tracker's incremental figures are tested against. */
import type { EntropyTuple } from '#contracts';
import { isSameTuple, roundScore } from './entropy-score.js';

/** Over the tuples there are, also when fewer than a full window. `ratio` is unrounded; 1 for an empty window. @see FR-9.2 */
export function scoreWindow(tuples: readonly EntropyTuple[]): { score: number; ratio: number } {
  const distinct = tuples.filter((one, at) => tuples.findIndex((other) => isSameTuple(one, other)) === at);
  const ratio = tuples.length === 0 ? 1 : distinct.length / tuples.length;
  return { score: roundScore(ratio), ratio };
}
