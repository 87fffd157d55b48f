/** What the parts of the SimHash program agree on: where things lie, how many, and which constants they mix with. */

/** Where things lie in memory. */
export const LAYOUT = {
  /** Two 64-bit words a plane, whose counts are to be added; plane 0, the ones, first. */
  planes: 0,
  planeCount: 32,
  /** i64: pieces of tokens found. */
  tokenCount: 512,
  /** i64: hash of all features in their order. */
  exact: 520,
  /** i64, raw only: hash of all digits and of where they part. */
  digits: 528,
  /** i64: the hashes of the latest token and of the one before it. */
  before: 536,
  beforeThat: 544,
  /** Sixteen times 0xff, then sixteen times 0, put there by the caller: from n bytes ahead of the middle, n are set. */
  pieceMask: 576,
  /** Hashes of tokens, and in their place then features; the eight bytes before it are free. */
  batch: 1_024,
  text: 8_192,
  /** Room behind the text, which the program zeroes. */
  paddingBytes: 80,
} as const;

/** Tokens hashed before they become features and are added. */
export const BATCH_COUNT = 512;
export const FEATURES_PER_SUM = 32;
export const BLOCK_BYTES = 64;
export const PIECE_BYTES = 16;

/** Odd, their bits without pattern: from the fractional parts of square roots of primes, as SHA-2 has them. */
export const MIX_TOKEN = 0x6a09e667f3bcc909n;
export const MIX_FEATURE = 0xbb67ae8584caa73bn;
export const MIX_LAST = 0x3c6ef372fe94f82bn;
/** Bytes that no folded text has: control characters are white space, and that is zero. */
export const SYMBOL = { number: 1, timestamp: 2, uuid: 3 } as const;
/** In place of the tokens before the first and after the last. */
export const BORDER = 0x5be0cd19137e2179n;
export const UUID_BYTES = 36;

/** Functions of the module by index, in the order in which it lists them. */
export const FUNCTION = {
  isDigits: 0,
  isUuid: 1,
  timestampEnd: 2,
  numberEnd: 3,
  replace: 4,
  longToken: 5,
  mixBatch: 6,
  addBatch: 7,
  runFolded: 8,
  runRaw: 9,
} as const;
