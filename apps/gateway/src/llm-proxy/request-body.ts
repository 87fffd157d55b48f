/** The body of a proxied request, as its bytes came, within a size and a time. */
import type { IncomingMessage } from 'node:http';
import { ObservatoryError } from '#contracts';
import { deadlinesOf } from '../decision-log/deadlines.js';

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
    const deadlines = deadlinesOf(bodyTimeoutMs);
    let chunks: Buffer[] = [];
    let byteCount = 0;
    const stop = () => {
      deadlines.delete(expire);
      request.removeListener('data', take).removeListener('end', finish);
      request.removeListener('error', breakOff).removeListener('close', breakOff);
      // The request outlives its body by a whole answer.
      chunks = [];
    };
    const fail = (error: ObservatoryError) => {
      stop();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount > bodyBytesMax) fail(tooLarge(bodyBytesMax));
      else chunks.push(chunk);
    };
    const finish = () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, byteCount);
      stop();
      resolve(body);
    };
    const breakOff = () => fail(new ObservatoryError('invalid_request', 'The body ended early.'));
    const expire = () =>
      fail(
        new ObservatoryError('body_timeout', `The body did not arrive within ${bodyTimeoutMs / 1_000} s.`),
      );
    deadlines.add(expire);
    request.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}

const tooLarge = (bytesMax: number): ObservatoryError =>
  new ObservatoryError(
    'payload_too_large',
    `The body is larger than ${bytesMax} bytes (PROXY_BODY_BYTES_MAX).`,
  );
