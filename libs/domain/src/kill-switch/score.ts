/**
 * The kill switch's arithmetic, free of state: how much a request repeats the ones before it.
 *
 *     score = 1.0 * similar prompts + 2.0 * similar responses + 1.5 * repeated tool calls
 *
 * An equal question with equal answers has n - 1 similar prompts at request n and, of their n - 1 answers, n - 2 that
 * are similar to the latest: 3n - 5, which passes 10 at the sixth. An equal tool step with equal results, the user's
 * message having been request 1, scores 4.5n - 11 at request n and passes 10 at the fifth.
 *
 * @see seed 001, decision 2
 */
import { SCORE_WEIGHTS, type ScoreBreakdown } from '#contracts';
import { type AnswerPrint, isSimilarAnswer } from './answer-print.js';
import { isRepeatedCall, isSimilarPrompt, type PromptPrint, type ResultPrint } from './prompt-print.js';

/** One request of a window. */
export interface Step {
  readonly prompt: PromptPrint;
  /** Null while unanswered: such a step counts for nothing, since nobody can have asked again because of its answer. */
  readonly answer: AnswerPrint | null;
}

/** Why one earlier request counts. */
export interface StepMatch {
  isSimilarPrompt: boolean;
  isSimilarResponse: boolean;
  repeatedToolCallCount: number;
}

/**
 * @param earlier oldest first
 * @param crowd similar prompts under way that count all the same
 * @returns `matches` in the order of `earlier`; none at all where no step matches, as for most requests
 */
export function scoreRequest(
  earlier: readonly Step[],
  prompt: PromptPrint,
  crowd = 0,
): { breakdown: ScoreBreakdown; matches: StepMatch[] } {
  const isRepeated = (step: Step) => step.answer !== null && isSimilarPrompt(step.prompt, prompt);
  const repeatedCalls = (step: Step) =>
    prompt.results.length === 0 || step.answer === null
      ? 0
      : repeatedCallCount(step.prompt.results, prompt.results);
  if (!earlier.some((step) => isRepeated(step) || repeatedCalls(step) > 0))
    return { breakdown: breakdownOf([], crowd), matches: [] };
  const matches = earlier.map((step) => ({
    isSimilarPrompt: isRepeated(step),
    isSimilarResponse: false,
    repeatedToolCallCount: repeatedCalls(step),
  }));
  // The latest answer is what the others are compared with, and does not count itself.
  const latest = matches.findLastIndex(({ isSimilarPrompt }) => isSimilarPrompt);
  const latestAnswer = earlier[latest]?.answer ?? null;
  for (let index = 0; index < latest; index += 1) {
    const match = matches[index] as StepMatch;
    const answer = earlier[index]?.answer ?? null;
    if (match.isSimilarPrompt && answer !== null && latestAnswer !== null)
      match.isSimilarResponse = isSimilarAnswer(answer, latestAnswer);
  }
  return { breakdown: breakdownOf(matches, crowd), matches };
}

/**
 * Which of a request's results repeat one of the others: of an earlier request beside the stopped one, or of the stopped one
 * beside those that counted.
 *
 * @returns their `index`
 */
export const repeatedIndexes = (request: PromptPrint, others: readonly PromptPrint[]): ReadonlySet<number> =>
  new Set(
    request.results
      .filter((call) => others.some(({ results }) => results.some((one) => isRepeatedCall(one, call))))
      .map(({ index }) => index),
  );

function repeatedCallCount(earlier: readonly ResultPrint[], newest: readonly ResultPrint[]): number {
  let count = 0;
  for (const call of earlier) if (newest.some((one) => isRepeatedCall(one, call))) count += 1;
  return count;
}

function breakdownOf(matches: readonly StepMatch[], crowd: number): ScoreBreakdown {
  let similar_prompts = crowd;
  let similar_responses = 0;
  let repeated_tool_calls = 0;
  for (const match of matches) {
    if (match.isSimilarPrompt) similar_prompts += 1;
    if (match.isSimilarResponse) similar_responses += 1;
    repeated_tool_calls += match.repeatedToolCallCount;
  }
  const score =
    SCORE_WEIGHTS.similar_prompts * similar_prompts +
    SCORE_WEIGHTS.similar_responses * similar_responses +
    SCORE_WEIGHTS.repeated_tool_calls * repeated_tool_calls;
  return { similar_prompts, similar_responses, repeated_tool_calls, score };
}
