/**
 * What an answer says of its usage where nobody reads all of it: vendors put it last, in a whole one and in a stream alike.
 * A text of the model's cannot pass for it, for inside a string its quotation marks are escaped.
 */
import type { Usage } from '#contracts';
import { readCharge } from './charge.js';
import type { Dialect } from './dialect.js';
import { readGeminiUsage, readInteractionUsage } from './gemini/take-response.js';
import { readChatUsage } from './openai-chat/usage.js';
import { readResponsesUsage } from './openai-responses/read-answer.js';
import { asRecord, type JsonRecord, parseJson } from './read-json.js';
import { usageOf } from './usage.js';

/** More than any vendor writes of usage, and behind it. */
export const USAGE_END_CHARS_MAX = 4_096;
/** Of its object and those inside it. */
const CLOSING_BRACES_MAX = 32;
const USAGE = /"usage(?:Metadata)?"\s*:\s*(?=\{)/g;
/** Beside it, in OpenAI's responses. */
const TOOL_USAGE = /"tool_usage"\s*:\s*(?=\{)/g;

/**
 * @param end of the answer, cut anywhere. Null: it does not say, or not all: every request has a prompt, of which some vendors'
 * streams speak at their beginning alone.
 * @param dialect whose counts they are; undefined: nobody knows
 */
export function readUsageAtEnd(end: string, dialect?: Pick<Dialect, 'readAnswer'>): Usage | null {
  const text = end.slice(-USAGE_END_CHARS_MAX);
  const usage = lastObject(text, USAGE);
  const tool_usage = lastObject(text, TOOL_USAGE);
  const read = dialect
    ? dialect.readAnswer({ usage, usageMetadata: usage, tool_usage }).usage
    : readAnyUsage(usage);
  return read !== null && (read.input_tokens > 0 || read.charged_usd) ? read : null;
}

const readAnyUsage = (usage: unknown): Usage | null =>
  readChatUsage(usage) ??
  readResponsesUsage(usage) ??
  readGeminiUsage(usage) ??
  readInteractionUsage(usage) ??
  readChargeAlone(asRecord(usage));

/** Of pictures and films, which take no tokens. */
function readChargeAlone(usage: JsonRecord | undefined): Usage | null {
  const charged = usage && readCharge(usage);
  return charged ? usageOf({ charged }) : null;
}

/** Undefined where the last of that name is not whole. */
function lastObject(text: string, name: RegExp): unknown {
  const last = [...text.matchAll(name)].at(-1);
  return last && firstObject(text.slice(last.index + last[0].length));
}

/** Undefined where the text does not begin with a whole one. */
function firstObject(text: string): unknown {
  let end = 0;
  for (let count = 0; count < CLOSING_BRACES_MAX; count += 1) {
    end = text.indexOf('}', end) + 1;
    if (end === 0) return undefined;
    const value = asRecord(parseJson(text.slice(0, end)));
    if (value !== undefined) return value;
  }
  return undefined;
}
