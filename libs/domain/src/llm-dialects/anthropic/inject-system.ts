import { asRecord, type JsonRecord } from '../read-json.js';

/**
 * At the end of `system`, so that a prompt cached up to a block of it stays cached. Without a list of messages, or
 * with a `system` that is neither text nor blocks, the request is left as it is. A thread has at its vendor the `system` that it
 * was begun with, and a request with another one is refused: there the text goes behind the newest message.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/message-threads
 */
export function injectMessagesSystem(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request || !Array.isArray(request.messages)) return body;
  if (asRecord(request.thread)) return injectBehind(request, request.messages, text);
  const { system } = request;
  if (system === undefined || system === null || system === '') return { ...request, system: text };
  if (typeof system === 'string') return { ...request, system: `${system}\n\n${text}` };
  if (!Array.isArray(system)) return body;
  return { ...request, system: [...system, { type: 'text', text }] };
}

/** Results of tools come first in their message. Behind words that the client puts into the model's mouth nothing may come. */
function injectBehind(request: JsonRecord, messages: readonly unknown[], text: string): JsonRecord {
  const last = asRecord(messages.at(-1));
  if (last?.role !== 'user' && last?.role !== 'system') return request;
  const { content } = last;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) return request;
  const told = { ...last, content: [...blocks, { type: 'text', text }] };
  return { ...request, messages: [...messages.slice(0, -1), told] };
}
