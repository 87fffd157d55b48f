/** Fingerprints of what was sent: to know a step sent again, and to name a refused payload without keeping it. */
import { hash } from 'node:crypto';

/** 22 base64url characters: 132 of SHA-256's bits, far beyond any chance of two bodies meeting. */
const BODY_HASH_CHARS = 22;

/**
 * Of the message as compact JSON, as text or as its UTF-8 bytes, which take half the time. @see StepRow.body_hash
 */
export const bodyHash = (json: string | Uint8Array): string =>
  hash('sha256', json, 'base64url').slice(0, BODY_HASH_CHARS);

/** `sha256:` and 64 hex digits, over the raw bytes; text counts as UTF-8. @see ViolationEvent.raw_payload_hash */
export const payloadHash = (payload: Uint8Array | string): string =>
  `sha256:${hash('sha256', payload, 'hex')}`;
