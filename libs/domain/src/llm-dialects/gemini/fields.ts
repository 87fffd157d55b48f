/**
 * The vendor's JSON is protobuf's, which takes every member in camelCase and in snake_case. Requests may use either;
 * answers come in camelCase.
 */
import type { LlmToolCall } from '#contracts';
import { firstText, type PartReading } from '../content-parts.js';
import { asJsonText, asList, asName, asRecord, asText, type JsonRecord } from '../read-json.js';

export const field = (record: JsonRecord | undefined, camel: string, snake: string): unknown =>
  record?.[camel] ?? record?.[snake];

/** One content, or part, in place of a list is taken for a list of one. */
export const listOf = (value: unknown): readonly unknown[] => (asRecord(value) ? [value] : asList(value));

/** A thought is neither text nor attachment. */
export function readPart(part: JsonRecord): PartReading {
  if (part.thought === true) return {};
  if (typeof part.text === 'string') return { text: part.text };
  const blob = asRecord(field(part, 'inlineData', 'inline_data'));
  if (blob) return { attachment: firstText(blob.data) };
  const file = asRecord(field(part, 'fileData', 'file_data'));
  return file ? { attachment: firstText(field(file, 'fileUri', 'file_uri')) } : {};
}

export const functionCallOf = (part: JsonRecord): JsonRecord | undefined =>
  asRecord(field(part, 'functionCall', 'function_call'));

export const functionResponseOf = (part: JsonRecord): JsonRecord | undefined =>
  asRecord(field(part, 'functionResponse', 'function_response'));

/** Null for what names no function. */
export function readFunctionCall(call: JsonRecord | undefined): LlmToolCall | null {
  const name = asText(call?.name);
  return !call || name === '' ? null : { id: asName(call.id), name, arguments: asJsonText(call.args) };
}
