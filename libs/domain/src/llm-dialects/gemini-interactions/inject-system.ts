import { asName, asRecord } from '../read-json.js';

/**
 * At the end of `system_instruction`, which applies to this call alone, whatever it goes on from. A request that names a cached
 * content may not have one, and the rest of an answer that the vendor had cut is to be asked for as its beginning was: they stay
 * as they are, like instructions of another type.
 */
export function injectInteractionSystem(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request || asName(request.cached_content) !== null || asName(request.continuation_token) !== null)
    return body;
  const { system_instruction: said } = request;
  if (said === undefined || said === null || said === '') return { ...request, system_instruction: text };
  return typeof said === 'string' ? { ...request, system_instruction: `${said}\n\n${text}` } : body;
}
