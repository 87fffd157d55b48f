/** Where the model's last word ends in a list of messages: what comes after it is what a request brings. */
import type { NewestTurn } from '#contracts';
import { type ReadPart, textOf } from './content-parts.js';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { beginsAsObservation, observationBehind, observationIn, partScratchpad } from './observation.js';
import { askedOf } from './opening.js';
import { asJsonText, asList, asRecord, asText, type JsonRecord } from './read-json.js';

type ContinuedTurn = Pick<NewestTurn, 'continued' | 'continued_text' | 'observation'>;

export const emptyTurn = (continued: ContinuedTurn = {}): NewestTurn => ({
  user_text: '',
  tool_results: [],
  attachment_digests: [],
  ...continued,
});

export interface NewestBounds {
  /** Index of the first message of the newest turn; the model's last message is before it. */
  start: number;
  /** Index after its last message: less than the list's length where the client ends with a prefill. */
  end: number;
  /** Of a request that ends in the model's words, and brings nothing new or what a tool came back with. @see NewestTurn.continued */
  continued: ContinuedTurn | undefined;
}

/**
 * A short assistant text at the very end is a prefill: words the client puts into the model's mouth, so the turn it
 * belongs to is the one before it. A long one is an answer being continued, which brings nothing new, or a prefill that nobody
 * can tell from one; a client that has the same one continued again and again repeats itself. What a client wrote behind the model's
 * words is none of them.
 *
 * @param isModel whether the model said this message
 * @param plainText the message's text if it holds nothing but text, else null
 */
export function findNewest(
  messages: readonly unknown[],
  isModel: IsModel,
  plainText: (message: JsonRecord) => string | null,
): NewestBounds {
  let end = messages.length;
  const last = asRecord(messages[end - 1]);
  if (last && isModel(last)) {
    const text = plainText(last);
    if (text !== null && text.length <= DIALECT_LIMITS.prefillCharsMax && !observationBehind(text)) end -= 1;
  }
  const start = startOfTurn(messages, end, isModel);
  return { start, end, continued: start === end ? continuedTurn(messages, end, isModel) : undefined };
}

/**
 * What the user's messages of a turn say, once its results are known.
 *
 * @param start index of the turn's first message
 */
export function takeUserTexts(
  turn: NewestTurn,
  texts: readonly string[],
  messages: readonly unknown[],
  start: number,
  isModel: IsModel,
): void {
  const isAlone = turn.tool_results.length === 0;
  turn.user_text = askedOf(texts, isAlone);
  if (!isAlone) return;
  const isObservation = beginsAsObservation(turn.user_text);
  const observation = isObservation
    ? observationIn(turn.user_text, modelWords(messages, start, isModel))
    : observationBehind(partScratchpad(turn.user_text).scratchpad);
  if (observation === undefined) return;
  turn.observation = observation;
  // What is asked beside a scratchpad was asked before.
  if (!isObservation) turn.user_text = '';
}

/** All that the model said between the user's last turn and this one; some clients write a list of its calls behind it. */
function modelWords(messages: readonly unknown[], end: number, isModel: IsModel): string {
  const words: string[] = [];
  for (let index = end - 1; index >= 0 && isModelAt(messages, index, isModel); index -= 1)
    words.push(wordsOf(messages[index]));
  return words.reverse().join('\n');
}

function wordsOf(value: unknown): string {
  const message = asRecord(value);
  return textOf(message?.content ?? message?.parts, readAnyText);
}

/** In any vendor's shape. */
const readAnyText: ReadPart = ({ type = 'text', text }) =>
  typeof text === 'string' && /^(?:output_)?text$/.test(asText(type)) ? { text } : {};

type IsModel = (message: JsonRecord) => boolean;

/** Index behind the model's last message before `end`. */
export function startOfTurn(messages: readonly unknown[], end: number, isModel: IsModel): number {
  let start = end;
  while (start > 0 && !isModelAt(messages, start - 1, isModel)) start -= 1;
  return start;
}

/**
 * @param end behind a message of the model, or of nothing at all
 * @returns undefined where there is nothing
 */
export function continuedTurn(
  messages: readonly unknown[],
  end: number,
  isModel: IsModel,
): ContinuedTurn | undefined {
  if (end === messages.length && end > 0) {
    const observation = observationBehind(wordsOf(messages[end - 1]));
    if (observation !== undefined) return { observation };
  }
  let start = end;
  while (start > 0 && isModelAt(messages, start - 1, isModel)) start -= 1;
  // What the system says is no part of a turn, and may tell the time.
  const turn = messages.slice(startOfTurn(messages, start, isModel)).filter((message) => !isSystem(message));
  if (turn.length === 0) return undefined;
  const texts = turn.map((message) => userWords(asRecord(message))).filter((text) => text !== null);
  return { continued: asJsonText(turn), continued_text: texts.join('\n') };
}

/** Of a message of the user's that holds nothing but text, in any vendor's shape; of any other null. */
function userWords(message: JsonRecord | undefined): string | null {
  if (message === undefined || (message.role ?? 'user') !== 'user') return null;
  const content = message.content ?? message.parts;
  if (typeof content === 'string') return content;
  const texts = asList(content).map((value) => {
    const { type = 'text', text } = asRecord(value) ?? {};
    return (type === 'text' || type === 'input_text') && typeof text === 'string' ? text : null;
  });
  return texts.length === 0 || texts.includes(null) ? null : texts.join('\n');
}

function isModelAt(messages: readonly unknown[], index: number, isModel: IsModel): boolean {
  const message = asRecord(messages[index]);
  return message !== undefined && isModel(message);
}

const isSystem = (message: unknown): boolean =>
  /^(?:system|developer)$/.test(asText(asRecord(message)?.role));
