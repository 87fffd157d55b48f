const UNESCAPED = /[\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/**
 * A line of JSON with those signs escaped that JSON lets stand: terminals take some of them for commands (U+009B begins one), readers
 * others for the end of a line (U+2028), and some turn the text about. Read as JSON it is the same.
 */
export const plainLine = (line: string): string =>
  line.replace(UNESCAPED, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
