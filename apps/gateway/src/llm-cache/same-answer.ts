/** Whether two answers to two questions say the same: how shadow mode tells a right match from a wrong one. */
import type { LlmToolCall } from '#contracts';
import { canonicalArguments } from '#domain/kill-switch';

interface Answer {
  text: string;
  tool_calls: readonly LlmToolCall[];
}

export interface AnswerLikeness {
  /** Cosine of two texts; null: not to be had. */
  cosine: (one: string, other: string) => Promise<number | null>;
  /** The texts differ in something that matters. */
  differs: (one: string, other: string) => boolean;
}

/** Each character is looked at a dozen times, in the turn of everybody. Longer answers than these are rare. */
export const COMPARED_CHARS_MAX = 64 * 1024;

/** Two models' words for one thing; below it they say different things, as far as we can tell. */
const SAME_WHEN_COSINE_AT_LEAST = 0.9;

/** Null: nobody can tell, of long ones that are not equal to the letter. Differing tool calls are different answers, whatever the text. */
export async function sameAnswer(
  one: Answer,
  other: Answer,
  likeness: AnswerLikeness,
): Promise<boolean | null> {
  if (callsOf(one) !== callsOf(other)) return false;
  if (one.text === other.text) return true;
  if (Math.max(one.text.length, other.text.length) > COMPARED_CHARS_MAX) return null;
  const [first, second] = [plain(one.text), plain(other.text)];
  if (first === second) return true;
  // A sign, an operator, a decimal point: vectors see words alone.
  if (wordsOf(first) === wordsOf(second)) return false;
  if (first === '' || second === '' || likeness.differs(one.text, other.text)) return false;
  const cosine = await likeness.cosine(one.text, other.text);
  return cosine === null ? null : cosine >= SAME_WHEN_COSINE_AT_LEAST;
}

/** Of a sentence, or a part of it. Behind a number an exclamation mark is an operator. */
const ENDS: readonly RegExp[] = [
  /(?<=[\p{L}\p{N}%)\]"'](?:\*\*|__|`)?)[.,;:?…]+(?=$|\s)/gmu,
  /(?<=[\p{L})"'](?:\*\*|__|`)?)!+(?=$|\s)/gmu,
];

/** What ends a sentence, marks a text up or quotes it says nothing; each a single pass, whatever the text. */
const IDLE_MARKS: readonly RegExp[] = [
  // Bullets and headings.
  /^[ \t]*(?:[-*•]|#{1,6})[ \t]+(?=[\p{L}"'*_])/gmu,
  // Behind a mark-up, and once more where one stood behind them.
  ...ENDS,
  /`+/gu,
  // Around words: quotation marks, bold.
  /(?<=^|[\s(])(?:["'«„]|\*\*|__)(?=[\p{L}\p{N}*_"'])/gmu,
  /(?<=[\p{L}\p{N}.,;:!?…%)*_"'])(?:["'»]|\*\*|__)(?=$|[\s.,;:!?…)"'*_])/gmu,
  // Dashes and hyphens of prose; those between single letters or numbers subtract.
  /(?<=\p{L}{2})\s?[-–—]{1,2}\s?(?=\p{L}{2})/gu,
  ...ENDS,
  /[。，、；：！？「」『』《》]/gu,
];

const plain = (text: string): string => {
  let left = text.toLowerCase().replaceAll(/[‘’]/g, "'").replaceAll(/[“”]/g, '"');
  for (const mark of IDLE_MARKS) left = left.replaceAll(mark, ' ');
  return left.replaceAll(/\s+/g, ' ').trim();
};

/** Without marks, those of mathematics and money among them. */
const wordsOf = (text: string): string => text.replaceAll(/[\s\p{P}\p{Sm}\p{Sc}\p{Sk}]+/gu, ' ').trim();

/** Names and arguments in order; ids are the vendor's. */
const callsOf = ({ tool_calls }: Answer): string =>
  JSON.stringify(tool_calls.map(({ name, arguments: text }) => [name, canonicalArguments(text)]));
