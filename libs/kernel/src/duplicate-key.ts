import { withoutMark } from './json-bytes.js';
import { countPunctuation } from './json-punctuation.js';
import { unitAt } from './unit-at.js';

/**
 * Finds an object that names one key twice. JSON.parse keeps the last and says nothing; for a record that
 * people are judged by, a message that says two things is a malformed message.
 *
 * Linear and iterative: depth costs memory, not stack. Expects text that JSON.parse accepted.
 *
 * @returns the key, or null
 */
export function findDuplicateKey(text: string): string | null {
  /** Keys of the objects we are inside of; null for an array. */
  const open: (Set<string> | null)[] = [];
  let isKeyNext = false;
  const { length } = text;
  for (let index = 0; index < length; index += 1) {
    switch (unitAt(text, index)) {
      case 0x22: {
        const end = endOfString(text, index);
        if (isKeyNext) {
          const key = keyOf(text.slice(index + 1, end - 1));
          const keys = open.at(-1) as Set<string>;
          if (keys.has(key)) return key;
          keys.add(key);
          isKeyNext = false;
        }
        index = end - 1;
        break;
      }
      case 0x7b:
        open.push(new Set());
        isKeyNext = true;
        break;
      case 0x5b:
        open.push(null);
        isKeyNext = false;
        break;
      case 0x7d:
      case 0x5d:
        open.pop();
        isKeyNext = false;
        break;
      case 0x2c:
        isKeyNext = open.at(-1) instanceof Set;
        break;
    }
  }
  return null;
}

/** Most names have no escape, and are what they look like. */
const keyOf = (inner: string): string =>
  inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;

/** @param start index of the opening quote. Returns the index after the closing one. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

/**
 * The same for who has the value already, at a fraction of the cost: what names a key twice has a colon more than its value
 * accounts for. Only where the counts differ, or a colon may be written as an escape, are the keys told apart.
 *
 * @param json that JSON.parse accepted
 * @param value what it made of it
 */
export function duplicateKeyOf(json: Buffer, value: unknown): string | null {
  const isSure = countPunctuation(json).members === countColons(value) && !json.includes(ESCAPED_COLON);
  return isSure ? null : findDuplicateKey(withoutMark(json).toString('utf8'));
}

/** `\\u003a`, in either case; a few other characters begin alike. */
const ESCAPED_COLON = '\\u003';

/** That stand behind names, and in names and texts. */
function countColons(root: unknown): number {
  const open: unknown[] = [root];
  let count = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') count += colonsIn(value);
    else if (Array.isArray(value)) for (const element of value) open.push(element);
    else if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value)) {
        count += 1 + colonsIn(key);
        open.push((value as Record<string, unknown>)[key]);
      }
  }
  return count;
}

function colonsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}
