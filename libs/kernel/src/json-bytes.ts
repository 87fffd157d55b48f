/** JSON as bytes of UTF-8: the mark that some editors and languages put before it is no part of it (RFC 8259, 8.1). */

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The same memory. Hot path: one look at the first byte. */
export const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === BYTE_ORDER_MARK[0] && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;

/** @throws SyntaxError */
export const parseJsonBytes = (bytes: Buffer): unknown => JSON.parse(withoutMark(bytes).toString('utf8'));
