/** The body of a proxied request, as its bytes came, within a size and a time. */
import type { IncomingMessage } from 'node:http';
import { ObservatoryError } from '#contracts';
import { BytePieces } from '#kernel';
import { deadlinesOf } from '../../decision-log/deadlines.js';
import type { BodyRoom } from './body-room.js';

/** Bodies leave with their calls, and most calls take seconds. */
const RETRY_AFTER_SECONDS = 2;

export interface RequestBodyLimits {
  bodyBytesMax: number;
  /** From the first byte to the last. */
  bodyTimeoutMs: number;
}

/**
 * Bytes are taken from `room` as they come, since a length is no more than a promise, and stay taken whatever happens; but what
 * cannot fit is refused before it is sent.
 *
 * @throws ObservatoryError payload_too_large, too_many_bytes, body_timeout, invalid_request
 */
export function readRequestBody(
  request: IncomingMessage,
  { bodyBytesMax, bodyTimeoutMs }: RequestBodyLimits,
  room: BodyRoom,
): Promise<BytePieces> {
  const promisedCount = Number(request.headers['content-length'] ?? 0);
  if (promisedCount > bodyBytesMax) return Promise.reject(tooLarge(bodyBytesMax));
  if (!room.fits(promisedCount)) return Promise.reject(noRoom());
  return new Promise((resolve, reject) => {
    const deadlines = deadlinesOf(bodyTimeoutMs);
    let body = new BytePieces();
    const stop = () => {
      deadlines.delete(deadline);
      request.removeListener('data', take).removeListener('end', finish);
      request.removeListener('error', breakOff).removeListener('close', breakOff);
      // The request outlives its body by a whole answer.
      body = new BytePieces();
    };
    const fail = (error: ObservatoryError) => {
      stop();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      if (body.byteCount + chunk.length > bodyBytesMax) fail(tooLarge(bodyBytesMax));
      else if (!room.take(chunk.length)) fail(noRoom());
      else body.push(chunk);
    };
    const finish = () => {
      resolve(body);
      stop();
    };
    const breakOff = () => fail(new ObservatoryError('invalid_request', 'The body ended early.'));
    const expire = () =>
      fail(
        new ObservatoryError('body_timeout', `The body did not arrive within ${bodyTimeoutMs / 1_000} s.`),
      );
    const deadline = deadlines.add(expire);
    request.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}

const tooLarge = (bytesMax: number): ObservatoryError =>
  new ObservatoryError(
    'payload_too_large',
    `The body is larger than ${bytesMax} bytes (PROXY_BODY_BYTES_MAX).`,
  );

const noRoom = (): ObservatoryError =>
  new ObservatoryError('too_many_bytes', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
