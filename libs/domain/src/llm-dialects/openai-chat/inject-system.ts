import { asRecord } from '../read-json.js';

/** A system message put first. Without a list of messages the request is left as it is. */
export function injectChatSystem(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request || !Array.isArray(request.messages)) return body;
  return { ...request, messages: [{ role: 'system', content: text }, ...request.messages] };
}
