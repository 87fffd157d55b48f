import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SPEND_GROUPS } from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';
import { buildCallRow } from '#testing';
import { migrate } from '../schema.js';
import { SQLite } from '../sqlite-library.js';
import type { CallBatch, SpendKeys } from './proxy-protocol.js';
import { SpendReader } from './spend-reader.js';
import { spendSums } from './spend-sums.js';
import { SpendTable } from './spend-table.js';

const FIRST_MS = Date.UTC(2026, 0, 1);
const HOURS = 5 * 24;

interface Call {
  tenantId: string;
  hour: number;
  agentId: string;
  model: string | null;
  costUsd: number;
}

const someCall: fc.Arbitrary<Call> = fc.record({
  tenantId: fc.constantFrom('default', 'other'),
  hour: fc.nat(HOURS - 1),
  agentId: fc.constantFrom('a', 'b'),
  model: fc.constantFrom('large', 'small', null),
  costUsd: fc.integer({ min: 1, max: 9 }),
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someKeys = fc.record({
  tenantId: fc.constantFrom('default', 'other', 'nobody'),
  group: fc.constantFrom(...SPEND_GROUPS),
  from: fc.integer({ min: -30, max: HOURS }),
  to: fc.integer({ min: 0, max: HOURS + 30 }),
  agentId: optional(fc.constantFrom('a', 'b')),
  model: optional(fc.constantFrom('large', '')),
});

const sumsOf = (calls: readonly Call[]): CallBatch['spend'] =>
  spendSums(
    calls.map(({ tenantId, hour, agentId, model, costUsd }) =>
      buildCallRow(
        { agent_id: agentId, model, cost_usd: costUsd, started_at_ms: FIRST_MS + hour * HOUR_MS + 7 },
        tenantId,
      ),
    ),
  );

const keyOf = ({ hour, agentId, model }: Call, group: SpendKeys['group']): string | number => {
  const hourMs = FIRST_MS + hour * HOUR_MS;
  if (group === 'agent') return agentId;
  if (group === 'model') return model ?? '';
  return group === 'hour' ? hourMs : hourMs - (hourMs % DAY_MS);
};

describe('SpendReader', () => {
  it('sums up what adding every call would, however late some come and however far days are added up', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(someCall, { maxLength: 8 }), { maxLength: 30, size: 'max' }),
        fc.nat(30),
        fc.array(someKeys, { minLength: 1, maxLength: 8 }),
        (batches, updateAfter, queries) => {
          const database = new SQLite(':memory:');
          // Some calls were written by a version without sums by day.
          migrate(database);
          const table = new SpendTable(database);
          for (const batch of batches.slice(0, updateAfter)) table.add(sumsOf(batch));
          database.exec(`DELETE FROM spend_days; DELETE FROM counters`);
          for (const batch of batches.slice(updateAfter)) table.add(sumsOf(batch));
          const reader = new SpendReader(database);
          for (const { from, to, ...query } of queries) {
            const keys: SpendKeys = {
              ...query,
              fromHourMs: FIRST_MS + from * HOUR_MS,
              toMs: FIRST_MS + to * HOUR_MS,
              limit: 1_000,
            };
            const expected = new Map<string | number, number>();
            for (const call of batches.flat()) {
              const isMeant =
                call.tenantId === keys.tenantId &&
                call.hour >= from &&
                call.hour < to &&
                (keys.agentId === undefined || call.agentId === keys.agentId) &&
                (keys.model === undefined || (call.model ?? '') === keys.model);
              const key = keyOf(call, keys.group);
              if (isMeant) expected.set(key, (expected.get(key) ?? 0) + call.costUsd * 1e9);
            }
            const found = reader.spend(keys).map((line) => [line.key, line.cost_nano_usd] as const);
            expect(new Map(found)).toEqual(expected);
            expect(found).toHaveLength(expected.size);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('adds hours that are over to their days, one with each batch, over those without calls', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const table = new SpendTable(database);
    const call = (hour: number): Call => ({
      tenantId: 'default',
      hour,
      agentId: 'a',
      model: null,
      costUsd: 1,
    });
    const added = () => database.prepare('SELECT total(call_count) FROM spend_days').pluck().get();
    table.add(sumsOf([call(0), call(1), call(50)]));
    expect(added()).toBe(1);
    table.add(sumsOf([call(50)]));
    expect(added()).toBe(2);
    table.add(sumsOf([call(50)]));
    expect(added()).toBe(2);
    table.add(sumsOf([call(51)]));
    expect(added()).toBe(5);
    table.add(sumsOf([call(0)]));
    expect(added()).toBe(6);
  });

  it('goes on where what a day claims to have cost no longer fits into a number', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const table = new SpendTable(database);
    const call = (hour: number) =>
      sumsOf([{ tenantId: 'default', hour, agentId: 'a', model: null, costUsd: 1 }]);
    for (const hour of [0, 1]) {
      const broken = call(hour).with(-1, Number.MAX_SAFE_INTEGER);
      for (let index = 0; index < 600; index += 1) table.add(broken);
    }
    for (const hour of [30, 30, 30, 0]) table.add(call(hour));
    const keys = {
      tenantId: 'default',
      group: 'agent',
      fromHourMs: FIRST_MS,
      toMs: FIRST_MS + 2 * DAY_MS,
      limit: 9,
    } as const;
    expect(new SpendReader(database).spend(keys)).toMatchObject([{ key: 'a', call_count: 1_204 }]);
  });
});
