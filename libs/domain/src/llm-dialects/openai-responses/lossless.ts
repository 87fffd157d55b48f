/** What of a response is text, calls or book-keeping. */
import { hasNoFindings, isNothing, saysOnly } from '../lossless.js';
import { asList, asName, asRecord, type JsonRecord } from '../read-json.js';

/** Most of it is the request, said back. */
const ENVELOPE = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'model', 'status', 'output', 'output_text', 'usage'],
  ...['instructions', 'metadata', 'parallel_tool_calls', 'temperature', 'tool_choice', 'tools', 'top_p'],
  ...['top_logprobs', 'max_output_tokens', 'max_tool_calls', 'previous_response_id', 'reasoning', 'store'],
  ...['text', 'truncation', 'user', 'safety_identifier', 'service_tier', 'billing', 'presence_penalty'],
  ...['frequency_penalty', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['content_filters', 'tool_usage', 'image', 'access_programs'],
]);
const MESSAGE = new Set(['id', 'type', 'role', 'status', 'content']);
const TEXT = new Set(['type', 'text']);
const CALL = new Set(['id', 'type', 'status', 'call_id', 'name', 'arguments', 'caller']);

/** One message of one text at most, then calls of functions: no order but this can be written again. */
export function isPlainResponse(response: JsonRecord): boolean {
  const output = response.output;
  return (
    saysOnly(response, ENVELOPE) &&
    hasNoFindings(response.content_filters) &&
    Array.isArray(output) &&
    output.every((item, index) => isPlainCall(asRecord(item)) || (index === 0 && isPlainText(asRecord(item))))
  );
}

function isPlainText(item: JsonRecord | undefined): boolean {
  if (item?.type !== 'message' || item.role !== 'assistant' || !isDone(item) || !saysOnly(item, MESSAGE)) {
    return false;
  }
  const parts = asList(item.content);
  const part = asRecord(parts[0]);
  return (
    parts.length === 1 &&
    part?.type === 'output_text' &&
    typeof part.text === 'string' &&
    saysOnly(part, TEXT)
  );
}

function isPlainCall(item: JsonRecord | undefined): boolean {
  if (item?.type !== 'function_call' || !isDone(item) || !saysOnly(item, CALL)) return false;
  const caller = asRecord(item.caller);
  return (
    asName(item.name) !== null &&
    asName(item.call_id) !== null &&
    typeof item.arguments === 'string' &&
    (isNothing(item.caller) || (caller?.type === 'direct' && Object.keys(caller).length === 1))
  );
}

const isDone = ({ status }: JsonRecord): boolean => status === undefined || status === 'completed';
