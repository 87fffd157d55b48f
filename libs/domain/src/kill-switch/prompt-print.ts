/**
 * What the kill switch remembers of a request: fingerprints of its new content, which is what the request brings that
 * the model has not seen, and nothing of the conversation before it. An agent at its tenth tool step on one user
 * message has ten different prints.
 *
 * - The user's text is compared normalised, unless it is what a tool came back with to a call that the model wrote as text.
 * - A tool result is compared as it is, but for what the agent's own shell writes around it, and together with the call
 *   it answers: two files that both come back as "ok" are two steps. Two results are similar when their words are nearly
 *   the same *and* every digit is the same: from 41 % to 42 % is progress, also in the middle of a long page where the
 *   SimHash alone would not see it, while a result that only renames a temporary file is still the same answer.
 * - Images and files count as the same only when they are the same bytes, and so does an answer that is to be gone on with:
 *   one that has grown by a word since is progress.
 * - Agents that hand over to each other write into one history. Of a result whose call another of them made, mostly the same
 *   "transferred back" each time, all counts that was said since the request before.
 */
import type { LlmRequest, LlmToolCall, LlmToolResult, NewestTurn } from '#contracts';
import {
  type Fingerprint,
  fingerprint,
  hammingDistance,
  isSimilar,
  type RawFingerprint,
  rawFingerprint,
} from './fingerprint.js';
import { withoutRunMarks } from './run-marks.js';
import { toolCallKey } from './tool-call-key.js';

/** Results of one turn that are compared one by one; more are compared by their number only. */
const RESULT_COUNT_MAX = 64;

export interface ResultPrint {
  /** Which of the request's results it is. */
  readonly index: number;
  /** Null where nobody knows which call it answers: then it is similar to nothing. */
  readonly callKey: string | null;
  /** Null for an empty result. */
  readonly result: RawFingerprint | null;
}

export interface PromptPrint {
  /** Null without user text. */
  readonly text: Fingerprint | null;
  /** By call, so that calls made at the same time may come back in any order. */
  readonly results: readonly ResultPrint[];
  readonly resultCount: number;
  /** With an answer that is to be gone on with, if any; "" without images or files. */
  readonly attachments: string;
  /** What other agents did since the request before; then `results` is empty. Null where nobody else had a turn. */
  readonly handover: RawFingerprint | null;
}

/**
 * @param madeCallKeys calls of the latest answer, which name the calls of a request that does not hold them itself
 */
export function promptPrint({ newest }: LlmRequest, madeCallKeys: readonly string[]): PromptPrint {
  const results = resultsOf(newest);
  const areInOrder = madeCallKeys.length === results.length;
  const callKeyOf = keysOfCalls();
  const prints = results.slice(0, RESULT_COUNT_MAX).map((result, index) => ({
    index,
    callKey: callKeyOf(result) ?? (areInOrder ? (madeCallKeys[index] ?? null) : null),
    result: rawFingerprint(withoutRunMarks(result.text)),
  }));
  const byKey = (one: ResultPrint, other: ResultPrint) => compare(one.callKey ?? '', other.callKey ?? '');
  return {
    text: newest.observation === undefined ? fingerprint(newest.user_text) : null,
    results: prints.length > 1 ? prints.sort(byKey) : prints,
    resultCount: results.length,
    attachments:
      rawFingerprint([...newest.attachment_digests, newest.continued ?? ''].join('\n'))?.exact ?? '',
    handover: null,
  };
}

/** Those that a client writes as text are results like any other. */
export const resultsOf = ({ observation, tool_results }: NewestTurn): readonly LlmToolResult[] =>
  observation === undefined ? tool_results : [observation];

/**
 * The same request where another agent made the calls that its results answer: no call of this one's, so none that it repeats.
 *
 * @param said all words since the request before, the results among them
 */
export const handedOver = (print: PromptPrint, said: string): PromptPrint => ({
  ...print,
  results: [],
  resultCount: 0,
  handover: rawFingerprint(said),
});

/** Of a call that many results answer, made once: its arguments may be as large as a request. */
function keysOfCalls(): (result: LlmToolResult) => string | null {
  const keys = new Map<LlmToolCall, string>();
  return ({ call }) => {
    if (call === null) return null;
    const key = keys.get(call) ?? toolCallKey(call);
    keys.set(call, key);
    return key;
  };
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Nothing to compare: no text, no attachment, no result with anything in it. */
const isEmptyPrompt = ({ text, results, attachments, handover }: PromptPrint): boolean =>
  text === null && attachments === '' && handover === null && results.every(({ result }) => result === null);

/** The same step again. An empty prompt is similar to nothing, itself included. */
export function isSimilarPrompt(one: PromptPrint, other: PromptPrint): boolean {
  if (one.attachments !== other.attachments || one.resultCount !== other.resultCount) return false;
  if (one.text !== null || other.text !== null) {
    if (!isSimilar(one.text, other.text)) return false;
  }
  if (one.handover !== null || other.handover !== null) {
    if (!isSimilarResult(one.handover, other.handover)) return false;
  }
  if (isEmptyPrompt(one) || isEmptyPrompt(other)) return false;
  return one.results.every((result, index) => {
    const match = other.results[index];
    if (match === undefined || !isSameCall(result, match)) return false;
    return result.result === null ? match.result === null : isSimilarResult(result.result, match.result);
  });
}

/** The same call again, with a similar result. An empty result tells nothing. */
export const isRepeatedCall = (one: ResultPrint, other: ResultPrint): boolean =>
  isSameCall(one, other) && isSimilarResult(one.result, other.result);

const isSameCall = (one: ResultPrint, other: ResultPrint): boolean =>
  one.callKey !== null && one.callKey === other.callKey;

const isSimilarResult = (one: RawFingerprint | null, other: RawFingerprint | null): boolean =>
  isSimilar(one, other) && one?.digits === other?.digits;

/** Bits between two prompts, of their parts the worst; null when either is empty or they have not the same parts. */
export function promptDistance(one: PromptPrint, other: PromptPrint): number | null {
  if (isEmptyPrompt(one) || isEmptyPrompt(other) || one.results.length !== other.results.length) return null;
  if ((one.text === null) !== (other.text === null)) return null;
  if ((one.handover === null) !== (other.handover === null)) return null;
  let distance = one.text && other.text ? hammingDistance(one.text, other.text) : 0;
  if (one.handover && other.handover)
    distance = Math.max(distance, hammingDistance(one.handover, other.handover));
  for (const [index, { result }] of one.results.entries()) {
    const match = other.results[index]?.result ?? null;
    if (result && match) distance = Math.max(distance, hammingDistance(result, match));
  }
  return distance;
}
