/**
 * Proof that a webhook is ours and fresh: HMAC-SHA256 over `<unix seconds>.<body>`, as
 * `x-observatory-signature: t=<unix seconds>,v1=<hex>`. The body is taken as the bytes that were sent.
 */
import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-observatory-signature';

/** The header's value. @param atMs epoch ms of this attempt */
export function signBody(secret: string, body: string, atMs: number): string {
  const seconds = Math.floor(atMs / 1_000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}
