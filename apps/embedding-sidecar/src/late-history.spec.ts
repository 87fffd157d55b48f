import { beforeEach, expect, it } from 'vitest';
import { type PromptHistory, PromptHistoryFailure } from '#contracts/embedding';
import { LateHistory } from './late-history.js';

const SCOPE = { tenant_id: 't', session_id: 's' };
const VECTOR = new Float32Array([1]);

let states: (string | null)[];
let dues: (() => void)[];

beforeEach(() => {
  states = [];
  dues = [];
});

/** Opens, or not, as the list of reasons says; null opens. */
function late(reasons: (PromptHistoryFailure['reason'] | null)[]): LateHistory {
  const history: PromptHistory = {
    kind: 'redis',
    open: async () => {
      const reason = reasons.shift() ?? null;
      if (reason !== null) throw new PromptHistoryFailure(reason, reason);
    },
    close: async () => {},
    probe: async () => {},
    similar: async () => [],
    record: async () => {},
  };
  return new LateHistory({
    history,
    onState: (failure) => states.push(failure?.reason ?? null),
    timer: {
      after: (_delayMs, run) => {
        dues.push(run);
        return () => {
          dues = [];
        };
      },
    },
  });
}

it('serves at once where the store is there', async () => {
  const history = late([null]);
  await history.open();
  expect(await history.similar(SCOPE, VECTOR, '1')).toEqual([]);
  expect(states).toEqual([]);
});

it('rejects calls as unavailable while the store is away, and serves when it comes', async () => {
  const history = late(['unavailable', 'unavailable', null]);
  await history.open();
  await expect(history.similar(SCOPE, VECTOR, '1')).rejects.toMatchObject({ reason: 'unavailable' });
  await expect(history.probe()).rejects.toMatchObject({ reason: 'unavailable' });
  dues.shift()?.();
  await expect.poll(() => dues.length).toBe(1);
  dues.shift()?.();
  await expect.poll(() => states).toEqual(['unavailable', null]);
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
