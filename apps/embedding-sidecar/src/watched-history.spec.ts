import { beforeEach, expect, it } from 'vitest';
import { type PromptEntry, PromptHistoryFailure } from '#contracts/embedding';
import { FakeTime, turn } from '#testing';
import { WatchedHistory } from './watched-history.js';

const SCOPE = { tenant_id: 't', session_id: 's' };
const VECTOR = new Float32Array([1]);
const ENTRY: PromptEntry = { request_id: '1', prompt: 'hello there', vector: VECTOR, at_ms: 0 };
const AWAY = new PromptHistoryFailure('unavailable', 'Redis is not connected');
const FULL = new PromptHistoryFailure('failed', 'Redis has no memory left');

let time: FakeTime;
let seen: (string | null)[];
let failures: { probe: Error | null; similar: Error | null; record: Error | null };
let probeCount: number;
/** What the store was told beside questions. */
let told: string[];
let watched: WatchedHistory;

beforeEach(() => {
  time = new FakeTime();
  seen = [];
  failures = { probe: null, similar: null, record: null };
  probeCount = 0;
  told = [];
  const asked = async (name: keyof typeof failures): Promise<void> => {
    const failure = failures[name];
    if (failure !== null) throw failure;
  };
  watched = new WatchedHistory({
    history: {
      kind: 'redis',
      open: async () => void told.push('open'),
      close: async () => void told.push('close'),
      probe: () => {
        probeCount += 1;
        return asked('probe');
      },
      similar: () => asked('similar').then(() => []),
      record: () => asked('record'),
    },
    timer: time,
    onServing: (problem) => seen.push(problem),
  });
});

it('is asked every five seconds, and says of each change once', async () => {
  watched.watch();
  await turn();
  expect([watched.problem, seen]).toEqual([null, []]);
  failures.probe = AWAY;
  await time.pass(4_999);
  expect([probeCount, watched.problem]).toEqual([1, null]);
  await time.pass(1);
  failures.probe = FULL;
  await time.pass(5_000);
  expect(watched.problem).toBe('Redis has no memory left');
  failures.probe = AWAY;
  await time.pass(5_000);
  expect([watched.problem, seen]).toEqual(['Redis is not connected', ['Redis is not connected']]);
  failures.probe = null;
  await time.pass(5_000);
  expect([watched.problem, seen]).toEqual([null, ['Redis is not connected', null]]);
});

it('is asked at once after it has failed a check, and not for each of many', async () => {
  failures.probe = AWAY;
  failures.similar = AWAY;
  await expect(watched.similar(SCOPE, VECTOR, '1')).rejects.toBe(AWAY);
  await turn();
  expect(watched.problem).toBe('Redis is not connected');
  for (let count = 0; count < 10; count += 1)
    await expect(watched.similar(SCOPE, VECTOR, '1')).rejects.toBe(AWAY);
  await turn();
  expect(probeCount).toBe(1);
});

it('is asked once for many that fail together', async () => {
  failures.similar = AWAY;
  const failed = Array.from({ length: 10 }, () => watched.similar(SCOPE, VECTOR, '1').catch(() => {}));
  await Promise.all(failed);
  expect(probeCount).toBe(1);
});

it('that is away when it should remember is asked at once, and has that problem', async () => {
  failures.probe = AWAY;
  failures.record = FULL;
  await expect(watched.record(SCOPE, ENTRY)).rejects.toBe(FULL);
  await turn();
  expect([watched.problem, seen]).toEqual(['Redis is not connected', ['Redis is not connected']]);
});

it.each([AWAY, new TypeError('cannot read "a secret prompt"')])(
  'that answers has no problem for what it once did not remember: %s',
  async (failure) => {
    failures.record = failure;
    await expect(watched.record(SCOPE, ENTRY)).rejects.toBe(failure);
    await turn();
    expect([probeCount, watched.problem]).toEqual([1, null]);
  },
);

it('that finds but does not remember has a problem until it remembers again', async () => {
  failures.record = FULL;
  await expect(watched.record(SCOPE, ENTRY)).rejects.toBe(FULL);
  await turn();
  expect(watched.problem).toBe('Redis has no memory left');
  failures.record = null;
  await watched.record(SCOPE, ENTRY);
  expect([watched.problem, seen]).toEqual([null, []]);
});

it('tells nobody what an error says that nobody foresaw', async () => {
  failures.probe = new TypeError('cannot read "a secret prompt"');
  watched.watch();
  await turn();
  expect(watched.problem).toBe('internal error');
});

it('is no longer asked once closed', async () => {
  watched.watch();
  await turn();
  await watched.close();
  watched.watch();
  expect([probeCount, time.timerCount]).toEqual([1, 0]);
});

it('says nothing of a probe that fails because it was closed', async () => {
  failures.probe = AWAY;
  watched.watch();
  await watched.close();
  await turn();
  expect(seen).toEqual([]);
});

it('passes the rest on', async () => {
  await watched.open();
  failures.probe = AWAY;
  await expect(watched.probe()).rejects.toBe(AWAY);
  await watched.close();
  expect(told).toEqual(['open', 'close']);
});
