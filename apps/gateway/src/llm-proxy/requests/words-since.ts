/**
 * What was said in a conversation from some message on, whoever said it and in whatever dialect: texts, calls, arguments
 * and results alike, since agents that hand over to each other may bring any of them.
 */
import { messagesOf } from './messages-of.js';

/** The newest are kept. */
const CHARS_MAX = 65_536;
/** Nested deeper is nothing that anybody said. */
const DEPTH_MAX = 32;
/** Other each time, though the same is said: ids, and what a vendor signs or seals. */
const IS_NO_WORD = /(?:^|_)id$|signature$|^encrypted_content$/i;

/** @returns "" where the request has no more messages than that, or none */
export function wordsSince(body: unknown, messageCount: number): string {
  const messages = messagesOf(body)?.list.slice(messageCount) ?? [];
  const words: string[] = [];
  let chars = 0;
  for (let index = messages.length - 1; index >= 0 && chars < CHARS_MAX; index -= 1) {
    const said = textsIn(messages[index], DEPTH_MAX).join('\n');
    words.unshift(said);
    chars += said.length;
  }
  return words.join('\n').slice(-CHARS_MAX);
}

function textsIn(value: unknown, depthLeft: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (typeof value !== 'object' || value === null || depthLeft === 0) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    IS_NO_WORD.test(name) ? [] : textsIn(member, depthLeft - 1),
  );
}
