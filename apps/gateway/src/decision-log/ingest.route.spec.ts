import { expect, test } from 'vitest';
import { ObservatoryError } from '#contracts';
import { type IngestRouteParts, ingestRoute } from './ingest.route.js';

const HEAD = {
  path: '/v1/decision-logs',
  authorization: undefined,
  observatoryKey: undefined,
  contentType: 'application/json',
};

test.each([
  ['the code of its refusal', new ObservatoryError('rate_limited'), 'rate_limited'],
  ['internal_error, where nobody foresaw what went wrong', new Error('disk I/O error'), 'internal_error'],
])('a request that comes to nothing is counted by %s', async (_, error, reason) => {
  const counted: string[] = [];
  const route = ingestRoute({
    senders: { of: () => ({ tenant_id: 'default', key_id: 'key' }) },
    isInForce: () => true,
    refusal: () => null,
    rate: { check: () => {}, take: () => {} },
    limits: { bodyBytesMax: 1_000 },
    bodyBytes: { take: () => true, giveBack: () => {} },
    interceptor: { intercept: () => Promise.reject(error) },
    events: { refused: (what: string) => counted.push(what) },
    answerError: () => ({ status: 500, text: '{}', headers: [] }),
  } as unknown as IngestRouteParts);
  expect(await route.answer(HEAD, Buffer.from('{}'))).toMatchObject({ status: 500 });
  expect(counted).toEqual([reason]);
});
