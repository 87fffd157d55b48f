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
let watched: WatchedHistory;

beforeEach(() => {
  time = new FakeTime();
  seen = [];
  failures = { probe: null, similar: null, record: null };
  probeCount = 0;
  const asked = async (name: keyof typeof failures): Promise<void> => {
    const failure = failures[name];
    if (failure !== null) throw failure;
  };
  watched = new WatchedHistory({
    history: {
      kind: 'redis',
      open: async () => {},
      close: async () => {},
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
  await time.pass(5_000);
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
  expect(time.timerCount).toBe(0);
});
