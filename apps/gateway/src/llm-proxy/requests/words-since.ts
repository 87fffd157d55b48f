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
  const words: string[] = [];
  let charsLeft = CHARS_MAX;
  /** From the end, and no further than what is kept. */
  const collect = (value: unknown, depthLeft: number): void => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      const word = String(value);
      words.push(word);
      charsLeft -= word.length + 1;
    } else if (typeof value === 'object' && value !== null && depthLeft > 0) {
      const names = Object.keys(value);
      for (let index = names.length - 1; index >= 0 && charsLeft > 0; index -= 1) {
        const name = names[index] as string;
        if (!IS_NO_WORD.test(name)) collect((value as Record<string, unknown>)[name], depthLeft - 1);
      }
    }
  };
  collect(messagesOf(body)?.list.slice(messageCount), DEPTH_MAX);
  return words.reverse().join('\n').slice(-CHARS_MAX);
}
