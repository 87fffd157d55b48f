/** What the kill switch remembers of an answer: its text and its tool calls, without ids, timestamps and usage. */
import type { LlmAnswer } from '#contracts';
import { type Fingerprint, fingerprint, isSimilar } from './fingerprint.js';
import { keyOfText, toolCallText } from './tool-call-key.js';

/** Of an answer the first: as many as are kept of a stream. */
const CALL_COUNT_MAX = 512;

export interface AnswerPrint {
  /** Normalised; null without text. */
  readonly text: Fingerprint | null;
  /** Names and arguments, these in order, normalised; null without calls. Apart from the text, so that a long one cannot drown them. */
  readonly calls: Fingerprint | null;
  /** In the order in which the model made them. */
  readonly callKeys: readonly string[];
}

export function answerPrint({ text, tool_calls }: LlmAnswer): AnswerPrint {
  const callTexts = tool_calls.slice(0, CALL_COUNT_MAX).map(toolCallText);
  return {
    text: fingerprint(text),
    calls: fingerprint(callTexts.join('\n')),
    callKeys: callTexts.map(keyOfText),
  };
}

export const isEmptyAnswer = ({ text, calls }: AnswerPrint): boolean => text === null && calls === null;

/** An empty answer is similar to nothing. */
export function isSimilarAnswer(one: AnswerPrint, other: AnswerPrint): boolean {
  const isSame = (left: Fingerprint | null, right: Fingerprint | null) =>
    left === null ? right === null : isSimilar(left, right);
  return !isEmptyAnswer(one) && isSame(one.text, other.text) && isSame(one.calls, other.calls);
}
