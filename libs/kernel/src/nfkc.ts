/**
 * Unicode's compatibility form. Marks on one letter are put in their order by a search back through those before, so that
 * 65,536 of them take seconds; as in Unicode's own format for streams, a joiner that nobody sees stands behind each thirty.
 *
 * @see UAX #15, Stream-Safe Text Format
 */

/** Marks, and the two of katakana that become some. No writing puts as many as thirty on a letter. */
const MANY_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;

/** Any text. Linear in it. */
export const nfkc = (text: string): string => text.replace(MANY_MARKS, '$&\u034f').normalize('NFKC');
