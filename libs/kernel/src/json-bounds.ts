/**
 * How deep a JSON text nests and how many values it holds, without parsing it. A million brackets cost the parser a second
 * and more, and so do a million empty objects to whatever walks over them, of a text that is small in bytes; nobody needs
 * either. Strings are skipped by a native search, so a prompt costs next to nothing whatever its length.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

export interface JsonBounds {
  depthMax: number;
  /** Members, elements and the objects and arrays around them, by their commas and brackets. */
  valuesMax: number;
}

/** Which bound it passes, as soon as it does; null: none. Text that is no JSON gets some answer; the parser will say more. */
export function passedBound(bytes: Buffer, { depthMax, valuesMax }: JsonBounds): keyof JsonBounds | null {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1);
      if (at < 0) return null;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > depthMax) return 'depthMax';
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > valuesMax) return 'valuesMax';
  }
  return null;
}

/** @returns index of the closing quote: one that an even number of back-slashes precedes. -1: there is none. */
export function stringEnd(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(QUOTE, from);
  while (end >= 0) {
    let slashes = end;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes -= 1;
    if ((end - slashes) % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return -1;
}
