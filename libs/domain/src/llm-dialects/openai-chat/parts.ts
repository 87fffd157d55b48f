/** Content parts of Chat Completions, and the calls in its messages. */
import type { LlmToolCall } from '#contracts';
import { firstText, type PartReading, textOf } from '../content-parts.js';
import { asJsonText, asList, asName, asRecord, asText, type JsonRecord } from '../read-json.js';

export function readChatPart(part: JsonRecord): PartReading {
  switch (part.type) {
    case 'text':
      return { text: asText(part.text) };
    case 'refusal':
      return { text: asText(part.refusal) };
    case 'image_url':
      return { attachment: firstText(asRecord(part.image_url)?.url, part.image_url) };
    case 'input_audio':
      return { attachment: firstText(asRecord(part.input_audio)?.data) };
    case 'file': {
      const file = asRecord(part.file);
      return { attachment: firstText(file?.file_data, file?.file_id) };
    }
    default:
      return {};
  }
}

/** Undefined for what names no function. Takes a call of the `tool_calls` list and the older `function_call` alike. */
export function readChatCall(value: unknown): LlmToolCall | undefined {
  const call = asRecord(value);
  const body = callBody(call);
  const name = asName(body?.name);
  if (!call || !body || name === null) return undefined;
  return { id: asName(call.id), name, arguments: asJsonText(body.arguments ?? body.input) };
}

const callBody = (call: JsonRecord | undefined): JsonRecord | undefined =>
  asRecord(call?.function) ?? asRecord(call?.custom) ?? call;

/** The calls of an assistant message, in order. */
export function readChatCalls(message: JsonRecord): LlmToolCall[] {
  const calls = [...asList(message.tool_calls), message.function_call].map(readChatCall);
  return calls.filter((call) => call !== undefined);
}

/** Reasoning, as compatible vendors show it under one name or another. */
export const reasoningChars = (message: JsonRecord): number =>
  (asText(message.reasoning_content) || asText(message.reasoning)).length;

/** All that is written in a choice of which nothing is kept, or in a piece of one. */
export function writtenChars(message: JsonRecord): number {
  const text = textOf(message.content, readChatPart, '') + asText(message.refusal);
  const spoken = asText(asRecord(message.audio)?.transcript);
  let chars = reasoningChars(message) + text.length + spoken.length;
  for (const value of [...asList(message.tool_calls), message.function_call]) {
    const body = callBody(asRecord(value));
    chars += asText(body?.name).length + asJsonText(body?.arguments ?? body?.input).length;
  }
  return chars;
}

export const isFirstChoice = (choice: JsonRecord | undefined): boolean =>
  choice !== undefined && (choice.index === undefined || choice.index === 0);
