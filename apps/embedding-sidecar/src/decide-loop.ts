/** Whether a prompt repeats an earlier one: a pure decision over what the history found. */
import {
  type LoopAnswer,
  type LoopSimilarity,
  type PromptMatch,
  similarityOfCosine,
} from '#contracts/embedding';

export interface LoopFindings {
  /** Nearest first. */
  matches: readonly PromptMatch[];
  /** A similarity of just this is no loop. */
  loopWhenSimilarityAbove: LoopSimilarity;
  /** Why this earlier prompt is another question after all; null: it is not. Asked only above the threshold. */
  vetoOf: (earlierPrompt: string) => string | null;
}

export type LoopDecision = Pick<
  LoopAnswer,
  | 'loop_detected'
  | 'max_similarity'
  | 'similar_prompt'
  | 'similar_request_id'
  | 'compared_count'
  | 'similar_count'
  | 'vetoed_by'
  | 'further'
>;

/**
 * The nearest prompt above the threshold that nothing vetoes makes it a loop. A similarity that is no number (a store
 * that answers nonsense) compares as nothing at all.
 */
export function decideLoop({ matches, loopWhenSimilarityAbove, vetoOf }: LoopFindings): LoopDecision {
  const compared = matches
    .map((match) => ({ match, similarity: similarityOfCosine(match.cosine) }))
    .filter(({ similarity }) => Number.isFinite(similarity));
  const above = compared
    .filter(({ similarity }) => similarity > loopWhenSimilarityAbove)
    .map(({ match }) => ({ match, veto: vetoOf(match.prompt) }));
  const [repeated, ...further] = above.filter(({ veto }) => veto === null).map(({ match }) => match);
  const named = repeated ?? compared[0]?.match;
  return {
    loop_detected: repeated !== undefined,
    // Rounding of single floats may leave 0..1 by a hair.
    max_similarity: Math.min(1, Math.max(0, compared[0]?.similarity ?? 0)) as LoopSimilarity,
    similar_prompt: named?.prompt ?? '',
    similar_request_id: named?.request_id ?? '',
    compared_count: compared.length,
    similar_count: repeated === undefined ? 0 : 1 + further.length,
    vetoed_by: above[0]?.veto ?? null,
    further: further.map(({ prompt, request_id }) => ({ prompt, request_id })),
  };
}
