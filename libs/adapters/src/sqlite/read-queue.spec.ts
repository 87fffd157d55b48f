import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deferred, deferred } from '#kernel';
import { FakeClock } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { ReadQueue } from './read-queue.js';
import { SqliteDatabase } from './sqlite-database.js';

let folder: string;
let refusedCount: number;
let database: SqliteDatabase;

beforeEach(async () => {
  folder = temporaryFolder();
  refusedCount = 0;
  database = new SqliteDatabase({
    path: join(folder, 'o.db'),
    clock: new FakeClock(),
    onEvent: ({ kind }) => {
      if (kind === 'read_refused') refusedCount += 1;
    },
    freeBytesMin: 0,
    workerUrl: null,
  });
  await database.open();
});
afterEach(() => database.close());

/** Whose reads were answered, in order. */
const answered: string[] = [];
beforeEach(() => {
  answered.length = 0;
});
const read = async (tenantId: string) => {
  await database.read('control', tenantId, 's1');
  answered.push(tenantId);
};
const reads = (tenantId: string, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => read(tenantId)));
const countOf = (outcomes: PromiseSettledResult<void>[], status: 'fulfilled' | 'rejected') =>
  outcomes.filter((outcome) => outcome.status === status).length;

it('answers tenants by turns, however much one of them asked before', async () => {
  const storm = reads('storm', 500);
  await Promise.all([read('calm'), read('other'), read('calm')]);
  // Those that were with the thread already, then one of each tenant in turn.
  expect(answered.length).toBeLessThan(50);
  expect(answered.filter((tenantId) => tenantId !== 'storm')).toEqual(['calm', 'other', 'calm']);
  expect(countOf(await storm, 'fulfilled')).toBe(500);
});

it('refuses a tenant alone beyond half of the places, never one that has nothing waiting, and nobody once all is answered', async () => {
  const storm = reads('storm', 1_200);
  const second = reads('second', 700);
  const calm = reads('calm', 1);
  expect(countOf(await calm, 'fulfilled')).toBe(1);
  // 32 with the thread, 1,000 waiting; of the other 1,000 places the next tenant takes half.
  expect(countOf(await storm, 'rejected')).toBe(1_200 - 1_032);
  expect(countOf(await second, 'rejected')).toBe(700 - 500);
  expect(refusedCount).toBe(168 + 200);
  expect(countOf(await reads('storm', 1_032), 'fulfilled')).toBe(1_032);
});

it('counts the reads over all tenants as those of one more', async () => {
  const storm = reads('storm', 500);
  await database.read('settings');
  expect(answered.length).toBeLessThan(50);
  await storm;
});

it('says that it is busy, and when to ask again', async () => {
  const storm = reads('storm', 1_032);
  await expect(read('storm')).rejects.toMatchObject({ code: 'store_busy', extra: { retryAfterSeconds: 1 } });
  await storm;
});

it('answers what waits before it closes', async () => {
  const storm = reads('storm', 500);
  await database.close();
  expect(countOf(await storm, 'fulfilled')).toBe(500);
  await expect(read('storm')).rejects.toMatchObject({ code: 'draining' });
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Over a thread that answers when it is told to; `running`: what is with it. */
function queueOver(runningMax: number) {
  const running: Deferred[] = [];
  const ask = async () => {
    const answer = deferred();
    running.push(answer);
    await answer.promise;
    return { result: null, durationMs: 0 };
  };
  const link = { ask, close: async () => {} };
  return { queue: new ReadQueue({ link, runningMax, onRefused: () => {} }), running };
}

it('has nothing with its thread while work is done, and answers after it what came meanwhile', async () => {
  const { queue, running } = queueOver(2);
  const order: string[] = [];
  const ask = (name: string) => queue.ask('control', [name, 's1']).then(() => order.push(name));
  const asked = [ask('a'), ask('b'), ask('c')];
  const work = deferred();
  const held = queue.whileIdle(() => {
    order.push('work');
    return work.promise;
  });
  running.shift()?.resolve();
  await nextTurn();
  expect(order).toEqual(['a']);
  running.shift()?.resolve();
  await nextTurn();
  asked.push(ask('d'), ask('e'));
  expect(order).toEqual(['a', 'b', 'work']);
  expect(running).toEqual([]);
  work.resolve();
  await held;
  while (running.length > 0) {
    expect(running.length).toBeLessThanOrEqual(2);
    running.shift()?.resolve();
    await nextTurn();
  }
  await Promise.all(asked);
  expect(order).toEqual(['a', 'b', 'work', 'c', 'd', 'e']);
});

it('goes on after work that failed', async () => {
  const { queue, running } = queueOver(1);
  await expect(queue.whileIdle(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  const asked = queue.ask('settings', []);
  running.shift()?.resolve();
  await asked;
});
