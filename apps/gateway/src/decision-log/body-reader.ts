/**
 * Reads a request body within its limits: bytes as they arrive, bytes after inflation, time. A gzip bomb
 * stops at the limit, not after it; a sender that dawdles is cut.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ObservatoryError } from '#contracts';
import { BytePieces } from '#kernel';
import { CONFIG_VARIABLES } from '../config/env.js';
import { deadlinesOf } from './deadlines.js';

const DECODERS: Record<string, () => ReturnType<typeof createGunzip>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface BodyLimits {
  /** As it arrives, before inflation. */
  bodyBytesMax: number;
  inflatedBytesMax: number;
  /** From the first read to the last byte. */
  bodyTimeoutMs: number;
}

/** False: so many bytes more have no room now, and nothing was taken. */
export type TakeBytes = (byteCount: number) => boolean;

const RETRY_AFTER_SECONDS = 2;

/**
 * The whole body, inflated. What it comes to is taken as it comes, and stays taken.
 * @throws ObservatoryError payload_too_large, too_many_bytes, body_timeout, unsupported_media_type, invalid_request
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, take: TakeBytes): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = encoding === 'identity' ? null : DECODERS[encoding]?.();
  if (decoder === undefined) {
    throw new ObservatoryError(
      'unsupported_media_type',
      `content-encoding: ${JSON.stringify(encoding.slice(0, 40))} is not known here; send identity, gzip, deflate or br.`,
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytesMax)
    throw tooLarge('body', limits.bodyBytesMax);
  return decoder
    ? readInflated(request, decoder, limits, take)
    : collect(request, request, {
        name: 'body',
        bytesMax: limits.bodyBytesMax,
        timeoutMs: limits.bodyTimeoutMs,
        take,
      });
}

async function readInflated(
  request: IncomingMessage,
  decoder: ReturnType<typeof createGunzip>,
  limits: BodyLimits,
  take: TakeBytes,
): Promise<Buffer> {
  let arrivedBytes = 0;
  request.on('data', (chunk: Buffer) => {
    arrivedBytes += chunk.length;
    if (arrivedBytes > limits.bodyBytesMax) decoder.destroy(tooLarge('body', limits.bodyBytesMax));
  });
  request.once('error', (error) => decoder.destroy(error));
  request.once('aborted', () => decoder.destroy(cutShort()));
  request.pipe(decoder);
  try {
    const { inflatedBytesMax: bytesMax, bodyTimeoutMs: timeoutMs } = limits;
    return await collect(request, decoder, { name: 'inflated body', bytesMax, timeoutMs, take });
  } finally {
    request.unpipe(decoder);
    decoder.destroy();
  }
}

interface Collection {
  /** Names the limit in the refusal. */
  name: keyof typeof BOUNDS;
  bytesMax: number;
  timeoutMs: number;
  take: TakeBytes;
}

function collect(
  request: IncomingMessage,
  source: Readable,
  { name, bytesMax, timeoutMs, take }: Collection,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new BytePieces();
    let isSettled = false;
    const settle = (error: Error | null) => {
      if (isSettled) return;
      isSettled = true;
      deadlines.delete(deadline);
      source.removeListener('data', onData);
      if (error) reject(error);
      else resolve(body.toBuffer());
    };
    const expire = () =>
      settle(new ObservatoryError('body_timeout', `The body did not arrive within ${timeoutMs / 1000} s.`));
    const deadlines = deadlinesOf(timeoutMs);
    const deadline = deadlines.add(expire);
    const onData = (chunk: Buffer) => {
      if (body.byteCount + chunk.length > bytesMax) settle(tooLarge(name, bytesMax));
      else if (!take(chunk.length)) settle(noRoom());
      else body.push(chunk);
    };
    source.on('data', onData);
    source.on('end', () => settle(null));
    source.on('error', (error) => settle(asRefusal(error)));
    if (source !== request) request.once('aborted', () => settle(cutShort()));
  });
}

const BOUNDS = { body: CONFIG_VARIABLES.bodyBytesMax, 'inflated body': CONFIG_VARIABLES.inflatedBytesMax };

const tooLarge = (name: keyof typeof BOUNDS, bytesMax: number): ObservatoryError =>
  new ObservatoryError(
    'payload_too_large',
    `The ${name} is larger than ${bytesMax} bytes (${BOUNDS[name]}); send smaller batches.`,
  );

/** The bytes that are under way together leave no room for more. */
export const noRoom = (): ObservatoryError =>
  new ObservatoryError(
    'too_many_bytes',
    'Too many bytes of DecisionLogs are on their way; try again in a moment.',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );

const cutShort = (): ObservatoryError => new ObservatoryError('invalid_request', 'The body ended early.');

/** A sender that hangs up and zlib's own errors are the sender's fault; anything else is ours. */
function asRefusal(error: Error): Error {
  if (error instanceof ObservatoryError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNRESET') return cutShort();
  if (code?.startsWith('Z_') || code?.startsWith('ERR__ERROR_') || code?.startsWith('ERR_BROTLI')) {
    return new ObservatoryError('invalid_request', 'The body does not decompress; check content-encoding.');
  }
  return error;
}
