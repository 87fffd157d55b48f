/**
 * How deep a JSON text nests, without parsing it: a text of a million brackets costs the parser a second and more, and
 * nobody needs it. Strings are skipped by a native search, so a prompt costs next to nothing whatever its length.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** False as soon as it is deeper. Text that is no JSON gets some answer; the parser will say more. */
export function nestsWithin(bytes: Buffer, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1);
      if (at < 0) return true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > depthMax) return false;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return true;
}

/** Of the closing quote: one that an even number of back-slashes precedes. -1: there is none. */
function stringEnd(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(QUOTE, from);
  while (end >= 0) {
    let slashes = end;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes -= 1;
    if ((end - slashes) % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return -1;
}
