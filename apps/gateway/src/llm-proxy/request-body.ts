/** The body of a proxied request, as its bytes came, within a size and a time. */
import type { IncomingMessage } from 'node:http';
import { ObservatoryError } from '#contracts';

export interface RequestBodyLimits {
  bodyBytesMax: number;
  /** From the first byte to the last. */
  bodyTimeoutMs: number;
}

/** One copy at most, none when it came in one piece. @throws ObservatoryError payload_too_large, body_timeout, invalid_request */
export function readRequestBody(
  request: IncomingMessage,
  { bodyBytesMax, bodyTimeoutMs }: RequestBodyLimits,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax)
    return Promise.reject(tooLarge(bodyBytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    const settle = (error: Error | null) => {
      clearTimeout(timer);
      request.removeListener('data', take);
      if (error !== null) reject(error);
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, byteCount));
    };
    const take = (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount > bodyBytesMax) settle(tooLarge(bodyBytesMax));
      else chunks.push(chunk);
    };
    const timer = setTimeout(
      () =>
        settle(
          new ObservatoryError('body_timeout', `The body did not arrive within ${bodyTimeoutMs / 1_000} s.`),
        ),
      bodyTimeoutMs,
    );
    request.on('data', take);
    request.once('end', () => settle(null));
    request.once('error', () => settle(new ObservatoryError('invalid_request', 'The body ended early.')));
    request.once('close', () => {
      if (!request.complete) settle(new ObservatoryError('invalid_request', 'The body ended early.'));
    });
  });
}

const tooLarge = (bytesMax: number): ObservatoryError =>
  new ObservatoryError(
    'payload_too_large',
    `The body is larger than ${bytesMax} bytes (PROXY_BODY_BYTES_MAX).`,
  );
