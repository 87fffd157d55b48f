import { asRecord, type JsonRecord } from '../read-json.js';

/**
 * At the end of the system prompt, else as one, put first: Qwen's templates take a system message at the beginning alone,
 * MiniMax just one. Without a list of messages the request is left as it is.
 */
export function injectChatSystem(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request || !Array.isArray(request.messages)) return body;
  const [first, ...rest] = request.messages;
  const longer = isSystem(first) ? longerContent(first.content, text) : undefined;
  const messages =
    longer === undefined
      ? [{ role: 'system', content: text }, ...request.messages]
      : [{ ...first, content: longer }, ...rest];
  return { ...request, messages };
}

function isSystem(message: unknown): message is JsonRecord {
  const role = asRecord(message)?.role;
  return role === 'system' || role === 'developer';
}

/** Undefined for what is no content. */
function longerContent(content: unknown, text: string): unknown {
  if (content === undefined || content === null || content === '') return text;
  if (typeof content === 'string') return `${content}\n\n${text}`;
  return Array.isArray(content) ? [...content, { type: 'text', text }] : undefined;
}
