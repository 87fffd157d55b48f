/** What of a response is text, calls or book-keeping. */
import { isExactObject, saysOnly } from '../lossless.js';
import { asList, asRecord, type JsonRecord } from '../read-json.js';
import { functionCallOf } from './fields.js';

const ENVELOPE = new Set([
  ...['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'createTime'],
  ...['usage_metadata', 'model_version', 'response_id', 'create_time'],
]);
const CANDIDATE = new Set([
  ...['content', 'finishReason', 'index', 'tokenCount', 'avgLogprobs'],
  ...['finish_reason', 'token_count', 'avg_logprobs'],
]);
const CONTENT = new Set(['parts', 'role']);
const TEXT = new Set(['text']);
const CALL_PART = new Set(['functionCall', 'function_call']);
const CALL = new Set(['name', 'args', 'id']);

/** One candidate of nothing but text and calls. A stream may hold responses without any. */
export function isPlainResponse(response: JsonRecord): boolean {
  const candidates = asList(response.candidates);
  return saysOnly(response, ENVELOPE) && candidates.length <= 1 && candidates.every(isPlainCandidate);
}

function isPlainCandidate(value: unknown): boolean {
  const candidate = asRecord(value);
  if (!candidate || !saysOnly(candidate, CANDIDATE)) return false;
  if (candidate.index !== undefined && candidate.index !== 0) return false;
  if (candidate.content === undefined || candidate.content === null) return true;
  const content = asRecord(candidate.content);
  if (!content || !saysOnly(content, CONTENT)) return false;
  if (content.role !== undefined && content.role !== 'model') return false;
  return (
    (content.parts === undefined || Array.isArray(content.parts)) && asList(content.parts).every(isPlainPart)
  );
}

function isPlainPart(value: unknown): boolean {
  const part = asRecord(value);
  if (!part) return false;
  const call = functionCallOf(part);
  if (!call) return saysOnly(part, TEXT) && (part.text === undefined || typeof part.text === 'string');
  return (
    saysOnly(part, CALL_PART) && saysOnly(call, CALL) && (call.args === undefined || isExactObject(call.args))
  );
}
