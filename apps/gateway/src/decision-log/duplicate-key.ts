import { unitAt } from '#kernel';

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
