import { beforeEach, expect, it } from 'vitest';
import { type PromptEntry, type PromptHistory, PromptHistoryFailure } from '#contracts/embedding';
import { turn } from '#testing';
import { LateHistory } from './late-history.js';

const SCOPE = { tenant_id: 't', session_id: 's' };
const VECTOR = new Float32Array([1]);
const ENTRY: PromptEntry = { request_id: '1', prompt: 'hello there', vector: VECTOR, at_ms: 0 };

let states: (string | null)[];
let dues: (() => void)[];
let delaysMs: number[];
/** What the store was asked. */
let asked: string[];

beforeEach(() => {
  states = [];
  dues = [];
  delaysMs = [];
  asked = [];
});

/** Opens, or not, as the list of reasons says; null opens. */
function late(reasons: (PromptHistoryFailure['reason'] | Error | null)[]): LateHistory {
  const history: PromptHistory = {
    kind: 'redis',
    open: async () => {
      const reason = reasons.shift() ?? null;
      if (reason instanceof Error) throw reason;
      if (reason !== null) throw new PromptHistoryFailure(reason, reason);
    },
    close: async () => void asked.push('close'),
    probe: async () => void asked.push('probe'),
    similar: async () => {
      asked.push('similar');
      return [];
    },
    record: async () => void asked.push('record'),
  };
  return new LateHistory({
    history,
    onState: (failure) => states.push(failure?.reason ?? null),
    timer: {
      after: (delayMs, run) => {
        delaysMs.push(delayMs);
        dues.push(run);
        return () => {
          dues = [];
        };
      },
    },
  });
}

it('serves at once where the store is there, and not before it is open', async () => {
  const history = late([null]);
  await expect(history.similar(SCOPE, VECTOR, '1')).rejects.toMatchObject({ reason: 'unavailable' });
  await history.open();
  expect(await history.similar(SCOPE, VECTOR, '1')).toEqual([]);
  await history.record(SCOPE, ENTRY);
  await history.probe();
  await history.close();
  expect(asked).toEqual(['similar', 'record', 'probe', 'close']);
  expect(states).toEqual([]);
});

it('rejects calls as unavailable while the store is away, and serves when it comes', async () => {
  const history = late(['unavailable', 'unavailable', null]);
  await history.open();
  await expect(history.similar(SCOPE, VECTOR, '1')).rejects.toMatchObject({ reason: 'unavailable' });
  await expect(history.record(SCOPE, ENTRY)).rejects.toMatchObject({ reason: 'unavailable' });
  await expect(history.probe()).rejects.toMatchObject({ reason: 'unavailable' });
  expect(asked).toEqual([]);
  dues.shift()?.();
  await expect.poll(() => dues.length).toBe(1);
  dues.shift()?.();
  await expect.poll(() => states).toEqual(['unavailable', null]);
  expect(delaysMs).toEqual([1_000, 1_000]);
  expect(await history.similar(SCOPE, VECTOR, '1')).toEqual([]);
});

it('stops the start for a Redis without a query engine', async () => {
  await expect(late(['no_query_engine']).open()).rejects.toMatchObject({ reason: 'no_query_engine' });
});

it('says so when the store that comes late can never serve, and goes on looking', async () => {
  const history = late(['unavailable', 'no_query_engine', null]);
  await history.open();
  dues.shift()?.();
  await expect.poll(() => states).toEqual(['unavailable', 'no_query_engine']);
  await expect(history.similar(SCOPE, VECTOR, '1')).rejects.toMatchObject({ reason: 'no_query_engine' });
  dues.shift()?.();
  await expect.poll(() => states.at(-1)).toBeNull();
});

it('no longer tries once closed', async () => {
  const history = late(['unavailable', 'unavailable']);
  await history.open();
  await history.close();
  expect(dues).toEqual([]);
});

it('no longer tries once closed during an attempt', async () => {
  const history = late(['unavailable', 'unavailable']);
  await history.open();
  dues.shift()?.();
  await history.close();
  await turn();
  expect(dues).toEqual([]);
});

it('goes on looking after an error that nobody foresaw, of which it tells nobody', async () => {
  const history = late(['unavailable', new TypeError('cannot read "a secret"'), null]);
  await history.open();
  dues.shift()?.();
  await turn();
  expect(states).toEqual(['unavailable']);
  dues.shift()?.();
  await turn();
  expect(states).toEqual(['unavailable', null]);
});
