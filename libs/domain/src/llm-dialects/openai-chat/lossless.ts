/** What of a completion, or of a chunk of one, is text, calls or book-keeping. */
import { hasNoFindings, isTextOrNone, saysOnly } from '../lossless.js';
import { asList, asRecord, type JsonRecord } from '../read-json.js';
import { isFirstChoice } from './parts.js';

/** The last ones are other vendors': who served it and how fast. */
const ENVELOPE = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier', 'system_fingerprint'],
  ...['obfuscation', 'provider', 'timings', 'x_groq', 'prompt_filter_results'],
]);
const CHOICE = new Set([
  ...['index', 'message', 'delta', 'finish_reason', 'native_finish_reason'],
  ...['content_filter_results', 'content_filter_result', 'content_filter_offsets'],
]);
const MESSAGE = new Set(['role', 'content', 'tool_calls']);
const CALL = new Set(['id', 'index', 'type', 'function']);
const FUNCTION = new Set(['name', 'arguments']);

export const isPlainEnvelope = (answer: JsonRecord): boolean =>
  saysOnly(answer, ENVELOPE) && hasNoFindings(answer.prompt_filter_results);

/** @param value its message or delta */
export function isPlainChoice(choice: JsonRecord | undefined, value: unknown): boolean {
  const message = asRecord(value);
  if (!choice || !message || !isFirstChoice(choice) || !saysOnly(choice, CHOICE)) return false;
  const { role, content, tool_calls } = message;
  return (
    saysOnly(message, MESSAGE) &&
    hasNoFindings(choice.content_filter_results) &&
    hasNoFindings(choice.content_filter_result) &&
    (role === undefined || role === null || role === 'assistant') &&
    isTextOrNone(content) &&
    (tool_calls === undefined || tool_calls === null || Array.isArray(tool_calls)) &&
    asList(tool_calls).every(isPlainCall)
  );
}

/** Or a fragment of one. */
function isPlainCall(value: unknown): boolean {
  const call = asRecord(value);
  if (!call || !saysOnly(call, CALL) || !isTextOrNone(call.id)) return false;
  if (!isTextOrNone(call.type) || (call.type && call.type !== 'function')) return false;
  if (call.function === undefined || call.function === null) return true;
  const body = asRecord(call.function);
  return (
    body !== undefined && saysOnly(body, FUNCTION) && isTextOrNone(body.name) && isTextOrNone(body.arguments)
  );
}
