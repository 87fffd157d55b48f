import { beforeEach, expect, test } from 'vitest';
import type { AgentPrincipal } from '#contracts';
import type { PlainHead } from '../fast-lane/plain-head.js';
import { KnownSenders } from './known-senders.js';

const headOf = (authorization: string): PlainHead => ({
  path: '/v1/decision-logs',
  authorization,
  observatoryKey: undefined,
  contentType: 'application/json',
});
const ADA = { key_id: 'ada' } as AgentPrincipal;

let nowMs = 0;
let revoked: boolean;
let lookedUp: string[];
let senders: KnownSenders;

beforeEach(() => {
  nowMs = 0;
  revoked = false;
  lookedUp = [];
  senders = new KnownSenders({
    authenticate: (authorization = '') => {
      lookedUp.push(authorization);
      return authorization === 'Bearer ada' && !revoked ? ADA : null;
    },
    isInForce: () => !revoked,
    clock: { steadyMs: () => nowMs },
  });
});

test('a head that comes again is not looked up again within the second', () => {
  const head = headOf('Bearer ada');
  expect([senders.of(head), senders.of(head)]).toEqual([ADA, ADA]);
  expect(lookedUp).toHaveLength(1);
  nowMs = 1_000;
  expect(senders.of(head)).toBe(ADA);
  expect(lookedUp).toHaveLength(2);
});

test('a key that is revoked meanwhile is nobody at once', () => {
  const head = headOf('Bearer ada');
  expect(senders.of(head)).toBe(ADA);
  revoked = true;
  expect(senders.of(head)).toBeNull();
});

test('who is nobody is looked up each time, and no head passes for another', () => {
  const stranger = headOf('Bearer bob');
  expect([senders.of(stranger), senders.of(headOf('Bearer ada')), senders.of(stranger)]).toEqual([
    null,
    ADA,
    null,
  ]);
  expect(lookedUp).toEqual(['Bearer bob', 'Bearer ada', 'Bearer bob']);
});
