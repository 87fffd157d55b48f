/**
 * Access secrets: how they are made, what is kept of them. A generated secret carries 192 random bits, so a
 * plain SHA-256 of it cannot be searched back; a slow hash would only slow down every request.
 *
 * @see docs/decisions/0004-access.md
 */
import { hash } from 'node:crypto';
import type { IdSource } from '#kernel';

/** What a generated secret begins with, so that scanners and people recognise a leaked one. */
const SECRET_PREFIXES = { agent: 'obs_agent_', operator: 'obs_op_' } as const;
export type SecretKind = keyof typeof SECRET_PREFIXES;

const SECRET_BYTES = 24;
const COOKIE_BYTES = 32;
/** Characters shown after the fixed prefix of a generated secret. */
const SHOWN_CHARS = 4;
/** Of a secret somebody chose, at most this share is shown. */
const SHOWN_SHARE = 0.25;

/** `obs_agent_` or `obs_op_` and 32 base64url characters. */
export const createSecret = (kind: SecretKind, ids: IdSource): string =>
  SECRET_PREFIXES[kind] + ids.next(SECRET_BYTES);

/** Value of a login cookie: 256 random bits, base64url. */
export const createCookieValue = (ids: IdSource): string => ids.next(COOKIE_BYTES);

/**
 * SHA-256, 64 hex digits; about 1.2 us. Looking the result up in a Map is constant-time by construction: what an
 * attacker can time is a comparison of hashes, whose bytes it cannot steer.
 */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex');

/** Enough of a secret to tell it from others, too little to use it. */
export function displayPrefix(secret: string): string {
  for (const prefix of Object.values(SECRET_PREFIXES)) {
    const isGenerated = secret.startsWith(prefix) && secret.length >= prefix.length + 4 * SHOWN_CHARS;
    if (isGenerated) return secret.slice(0, prefix.length + SHOWN_CHARS);
  }
  return secret.slice(0, Math.min(SHOWN_CHARS, Math.floor(secret.length * SHOWN_SHARE)));
}
