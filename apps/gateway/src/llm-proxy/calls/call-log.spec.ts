import { expect, it } from 'vitest';
import { type CallRow, type LlmCall, ObservatoryError } from '#contracts';
import { CallLog } from './call-log.js';

/** Only what the log touches. */
const call = (call_id: string) => ({ call_id, seq: 0 }) as LlmCall;

function logOn(appendCalls: (rows: readonly CallRow[]) => Promise<number[]>) {
  const dropped: number[] = [];
  const log = new CallLog({
    store: { appendCalls },
    live: { publish: () => {} },
    onDropped: (count) => dropped.push(count),
  });
  return { log, dropped };
}

it('is flushed when what waited is written, however many calls come meanwhile', async () => {
  const written: string[] = [];
  let count = 0;
  const { log } = logOn(async (rows) => {
    written.push(...rows.map((row) => row.call.call_id));
    // As under load: while one batch is written there is always a next call.
    count += 1;
    if (count < 1_000) log.add('t', call(`later-${count}`));
    return rows.map((_, at) => at + 1);
  });
  log.add('t', call('first'));
  await log.flush();
  expect(written).toEqual(['first']);
  expect(log.waitingCount).toBe(1);
});

it('writes one batch after another, and each flush waits for its own', async () => {
  let underWayCount = 0;
  let writtenCount = 0;
  const { log, dropped } = logOn(async (rows) => {
    underWayCount += 1;
    expect(underWayCount).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    underWayCount -= 1;
    writtenCount += rows.length;
    if (writtenCount === 2_000) throw new Error('the disk is full');
    return rows.map((_, at) => at + 1);
  });
  const add = (count: number) => {
    for (let at = 0; at < count; at += 1) log.add('t', call(`c-${at}`));
  };
  add(1_500);
  const one = log.flush();
  add(2_500);
  const other = log.flush();
  await one;
  expect(writtenCount).toBeGreaterThanOrEqual(1_500);
  await other;
  expect(writtenCount).toBe(4_000);
  expect(dropped).toEqual([1_000]);
});

it.each(['store_busy', 'store_full'] as const)(
  'keeps what a store refuses with %s until it has room',
  async (code) => {
    const written: string[] = [];
    let refusals = 2;
    const { log, dropped } = logOn(async (rows) => {
      refusals -= 1;
      if (refusals >= 0) throw new ObservatoryError(code);
      written.push(...rows.map((row) => row.call.call_id));
      return rows.map((_, at) => at + 1);
    });
    log.add('t', call('first'));
    await log.flush();
    log.add('t', call('second'));
    await log.flush();
    expect(log.waitingCount).toBe(2);
    await log.close();
    expect(written).toEqual(['first', 'second']);
    expect(dropped).toEqual([]);
  },
);

it('drops what a store that has no room for long leaves no place for, and what is left at the end', async () => {
  const { log, dropped } = logOn(() => Promise.reject(new ObservatoryError('store_full')));
  for (let at = 0; at < 20_005; at += 1) log.add(at % 2 === 0 ? 't' : 'u', call(`c-${at}`));
  await log.flush();
  expect([log.waitingCount, ...dropped]).toEqual([20_000, 5]);
  await log.close();
  expect([log.waitingCount, ...dropped]).toEqual([0, 5, 20_000]);
});

it('shows the latest calls of each tenant live, however many another one has among them', async () => {
  const shown: string[] = [];
  const log = new CallLog({
    store: { appendCalls: async (rows) => rows.map((_, at) => at + 1) },
    live: {
      publish: (tenantId, _, published) => void shown.push(`${tenantId} ${(published as LlmCall).call_id}`),
    },
    onDropped: () => {},
  });
  log.add('quiet', call('first'));
  for (let at = 0; at < 100; at += 1) log.add('loud', call(`c-${at}`));
  await log.flush();
  expect(shown).toHaveLength(21);
  expect(shown).toEqual(expect.arrayContaining(['quiet first', 'loud c-80', 'loud c-99']));
});

it('drops of a tenant that has half of the places, and never what another has', async () => {
  const written: string[] = [];
  let isFull = true;
  const { log, dropped } = logOn(async (rows) => {
    if (isFull) throw new ObservatoryError('store_busy');
    written.push(...rows.map((row) => row.tenant_id));
    return rows.map((_, at) => at + 1);
  });
  for (let at = 0; at < 30_000; at += 1) log.add('loud', call(`c-${at}`));
  log.add('quiet', call('last'));
  isFull = false;
  await log.flush();
  expect(written).toContain('quiet');
  await log.close();
  expect(dropped).toEqual([20_000]);
});
