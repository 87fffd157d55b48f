import { asRecord, type JsonRecord } from '../read-json.js';
import { listOf } from './fields.js';

/**
 * At the end of the system instruction. A request that names a cached content may not have one (the vendor refuses
 * it), so there the text goes before the contents, as the user's. Odd shapes are left as they are.
 */
export function injectSystemInstruction(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request) return body;
  if (request.cachedContent || request.cached_content) return injectContent(request, text);
  // Null in one spelling is no instruction, and the vendor refuses a request that has it in both.
  const name =
    (request.systemInstruction ?? null) === null && 'system_instruction' in request
      ? 'system_instruction'
      : 'systemInstruction';
  const parts = partsOf(request[name]);
  return parts === undefined
    ? body
    : { ...request, [name]: { ...asRecord(request[name]), parts: [...parts, { text }] } };
}

/** Undefined for what is no instruction. */
function partsOf(instruction: unknown): readonly unknown[] | undefined {
  if (instruction === undefined || instruction === null || instruction === '') return [];
  if (typeof instruction === 'string') return [{ text: instruction }];
  const parts = asRecord(instruction) ? (instruction as JsonRecord).parts : null;
  if (parts === undefined) return [];
  if (Array.isArray(parts)) return parts;
  return asRecord(parts) ? [parts] : undefined;
}

function injectContent(request: JsonRecord, text: string): JsonRecord {
  const contents = listOf(request.contents);
  return contents.length === 0
    ? request
    : { ...request, contents: [{ role: 'user', parts: [{ text }] }, ...contents] };
}
