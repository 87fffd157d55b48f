/** What a receiver of webhooks does, as docs/clients.md has it. */
import { createHmac } from 'node:crypto';

/** True if the header is the secret's own for this body, of a time near `nowMs`. */
export function verifySignature(given: {
  secret: string;
  header: string | undefined;
  body: string;
  nowMs: number;
}): boolean {
  const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(given.header ?? '') ?? [];
  const own = createHmac('sha256', given.secret).update(`${seconds}.${given.body}`).digest('hex');
  return digest === own && Math.abs(given.nowMs / 1_000 - Number(seconds)) < 300;
}
