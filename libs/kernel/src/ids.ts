import { randomBytes, randomFillSync } from 'node:crypto';

/** Source of unguessable identifiers; tests pass a counting one. */
export interface IdSource {
  /** @param bytes entropy, in bytes. Returns base64url text. */
  next(bytes?: number): string;
}

/** Randomness fetched at once: asking the system for each id alone costs twenty times the id. */
const POOL_BYTES = 4_096;
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let usedBytes = POOL_BYTES;

/** Cryptographically random identifiers; 16 bytes (22 characters) unless told otherwise. No byte serves twice. */
export const randomIds: IdSource = {
  next(bytes = 16) {
    if (bytes > POOL_BYTES) return randomBytes(bytes).toString('base64url');
    if (usedBytes + bytes > POOL_BYTES) {
      randomFillSync(pool);
      usedBytes = 0;
    }
    const from = usedBytes;
    usedBytes += bytes;
    return pool.toString('base64url', from, usedBytes);
  },
};
