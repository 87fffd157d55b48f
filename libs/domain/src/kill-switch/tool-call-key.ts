/** What makes two tool calls the same call: the name, and the arguments whatever the order of their keys. */
import type { LlmToolCall } from '#contracts';
import { canonicalJson, parseJsonExactly } from '#kernel';
import { rawFingerprint } from './fingerprint.js';

/** Longer arguments are compared as the model wrote them: parsing and sorting would cost more than the decision may. */
const CANONICAL_CHARS_MAX = 16_384;

type NamedCall = Pick<LlmToolCall, 'name' | 'arguments'>;

/** Equal for equal calls; the white space inside an argument counts by its amount, its numbers to the digit. Never throws. */
export const toolCallKey = (call: NamedCall): string => keyOfText(toolCallText(call));

/** The name and the arguments in order, from which a call's prints are made. Never throws. */
export const toolCallText = (call: NamedCall): string =>
  `${call.name}\n${canonicalArguments(call.arguments)}`;

/** @param text of `toolCallText` */
export const keyOfText = (text: string): string =>
  `${rawFingerprint(text)?.exact ?? ''}.${text.length.toString(36)}`;

/** As they came where they are no JSON, nest too deep or are too long to be put in order. Never throws. */
export function canonicalArguments(text: string): string {
  if (text.trim() === '') return '{}';
  if (text.length > CANONICAL_CHARS_MAX) return text;
  try {
    return canonicalJson(parseJsonExactly(Buffer.from(text)));
  } catch {
    // Not JSON, or nested deeper than the stack: compared as it is written.
    return text;
  }
}
