import { randomBytes } from 'node:crypto';

/** Source of unguessable identifiers; tests pass a counting one. */
export interface IdSource {
  /** @param bytes entropy, in bytes. Returns base64url text. */
  next(bytes?: number): string;
}

/** Cryptographically random identifiers; 16 bytes (22 characters) unless told otherwise. */
export const randomIds: IdSource = { next: (bytes = 16) => randomBytes(bytes).toString('base64url') };
