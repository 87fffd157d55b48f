import { BadRequestException, HttpException, NotFoundException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ERRORS, ObservatoryError } from '#contracts';
import { createLogger } from '../telemetry/logger.js';
import { createSendError } from './send-error.js';

interface Sent {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  log: string;
  isDestroyed: boolean;
}

/** What leaves when `error` is thrown on `POST /v1/x?token=...`. */
function answerTo(error: unknown, isSent = false): Sent {
  const sent: Sent = { status: 0, headers: {}, body: {}, log: '', isDestroyed: false };
  const reply = {
    sent: isSent,
    raw: { headersSent: isSent, destroy: () => Object.assign(sent, { isDestroyed: true }) },
    request: { method: 'POST', url: '/v1/x?token=canary' },
    code(status: number) {
      sent.status = status;
      return reply;
    },
    headers(headers: Record<string, string>) {
      sent.headers = headers;
      return reply;
    },
    send(body: Record<string, unknown>) {
      sent.body = body;
      return reply;
    },
  };
  const destination = { write: (line: string) => void Object.assign(sent, { log: sent.log + line }) };
  const logger = createLogger({ level: 'info', secrets: [], destination });
  createSendError({ logger, ids: { next: () => 'id-1' } })(reply as unknown as FastifyReply, error);
  return sent;
}

const fastifyError = (code: string, statusCode: number) =>
  Object.assign(new Error('inner text'), { code, statusCode });

describe('an error leaves', () => {
  it('from the catalogue with its status, its detail and its fields', () => {
    const { status, body, log } = answerTo(
      new ObservatoryError('invalid_fields', 'limit: too big.', { fields: ['limit'] }),
    );
    expect([status, log]).toEqual([422, '']);
    expect(body).toEqual({
      status: 'error',
      reason: 'invalid_fields',
      detail: 'limit: too big.',
      fields: ['limit'],
    });
  });

  it('with Retry-After whenever it is worth trying again', () => {
    const slow = new ObservatoryError('rate_limited', 'Slow down.', { retryAfterSeconds: 1.2 });
    expect(answerTo(slow).headers).toEqual({ 'retry-after': '2' });
    expect(answerTo(new ObservatoryError('store_full')).headers).toEqual({ 'retry-after': '1' });
  });

  it('unknown, as an internal error: its text and stack are in the log only, under the same correlation id', () => {
    const { status, body, log } = answerTo(new Error('SQLITE_CORRUPT at /srv/data/observatory.db'));
    expect([status, body]).toEqual([
      500,
      {
        status: 'error',
        reason: 'internal_error',
        detail: ERRORS.internal_error.text,
        correlation_id: 'id-1',
      },
    ]);
    expect(log).toContain('SQLITE_CORRUPT');
    expect(log).toContain('"correlation_id":"id-1"');
    expect(log).not.toContain('canary');
  });

  it.each([null, undefined, 'text', 42, {}])('thrown as %j is an internal error too', (thrown) => {
    expect(answerTo(thrown).body.reason).toBe('internal_error');
  });

  it('of a schema, naming the fields', () => {
    const { error } = z
      .object({ reason: z.string(), deep: z.object({ n: z.number() }) })
      .safeParse({ deep: { n: 'x' } });
    expect(answerTo(error).body).toMatchObject({ reason: 'invalid_fields', fields: ['reason', 'deep.n'] });
  });

  it.each([
    [new NotFoundException('Cannot GET /internal/path'), 'not_found'],
    [fastifyError('FST_ERR_CTP_INVALID_JSON_BODY', 400), 'invalid_json'],
    [
      new HttpException('x', 400, { cause: fastifyError('FST_ERR_CTP_EMPTY_JSON_BODY', 400) }),
      'invalid_json',
    ],
    [new BadRequestException('inner text'), 'invalid_request'],
    [fastifyError('FST_ERR_CTP_BODY_TOO_LARGE', 413), 'payload_too_large'],
    [fastifyError('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 'unsupported_media_type'],
    [new HttpException('teapot', 418), 'invalid_request'],
    [fastifyError('FST_ERR_REP_ALREADY_SENT', 500), 'internal_error'],
  ])('of the framework (%s) as %s in our own words', (error, reason) => {
    const { body } = answerTo(error);
    expect(body.reason).toBe(reason);
    expect(body.detail).toBe(ERRORS[reason as keyof typeof ERRORS].text);
  });

  it.each([
    ['FST_ERR_BAD_URL', 400, '%25'],
    ['FST_ERR_MAX_PARAM_LENGTH', 414, '256 characters'],
  ])('of a path (%s) with what is wrong about it, and without the path', (code, status, told) => {
    const { body } = answerTo(fastifyError(code, status));
    expect(body.reason).toBe('invalid_request');
    expect(body.detail).toContain(told);
    expect(body.detail).not.toContain('inner');
  });

  it('after the headers by cutting the connection, since nothing else can be said any more', () => {
    const { isDestroyed, body } = answerTo(new Error('late'), true);
    expect([isDestroyed, body]).toEqual([true, {}]);
  });
});
