/**
 * Proof that a webhook is ours and fresh: HMAC-SHA256 over `<unix seconds>.<body>`, as
 * `x-observatory-signature: t=<unix seconds>,v1=<hex>`. The body is taken as the bytes that were sent.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-observatory-signature';
/** Older or newer than this is refused: somebody replays it, or a clock is wrong. */
const SIGNATURE_TOLERANCE_S = 300;

const digest = (secret: string, seconds: string, body: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();

/** The header's value. @param atMs epoch ms of this attempt */
export function signBody(secret: string, body: string, atMs: number): string {
  const seconds = String(Math.floor(atMs / 1_000));
  return `t=${seconds},v1=${digest(secret, seconds, body).toString('hex')}`;
}

export interface SignedDelivery {
  secret: string;
  /** Value of the header; undefined when it was missing. */
  header: string | undefined;
  body: string | Uint8Array;
  nowMs: number;
}

/** What a receiver does. True if one of the header's `v1` is ours and its time is near. Never throws. */
export function verifySignature({ secret, header, body, nowMs }: SignedDelivery): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim());
  const seconds = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2);
  if (seconds === undefined || Math.abs(nowMs / 1_000 - Number(seconds)) > SIGNATURE_TOLERANCE_S)
    return false;
  const expected = digest(secret, seconds, body);
  return parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .some((part) => timingSafeEqual(Buffer.from(part.slice(3), 'hex'), expected));
}
