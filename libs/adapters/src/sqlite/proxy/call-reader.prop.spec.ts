import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '#contracts';
import { buildCallRow } from '#testing';
import { migrate } from '../schema.js';
import { SQLite } from '../sqlite-library.js';
import { callBatch } from './call-batch.js';
import { BLOCK_CALLS } from './call-blocks.js';
import { CallReader } from './call-reader.js';
import { CallTable } from './call-table.js';
import type { CallKeys } from './proxy-protocol.js';

const CALLS = 3 * BLOCK_CALLS + 100;

const pick = <T>(values: readonly T[], random: number): T => values[random % values.length] as T;

/** Calls whose columns recur at different rates, so that some blocks hold them and some do not. */
const callAt = (index: number): CallRow =>
  buildCallRow(
    {
      call_id: `call-of-${index}`,
      agent_id: `agent-${Math.floor(index / 500)}`,
      session_id: `session-${index % 97}`,
      model: pick(['large', 'small', null], index),
      decision: index % 400 === 0 ? 'killed' : 'forwarded',
      status: index > 1_500 && index % 3 === 0 ? 500 : 200,
      started_at_ms: 10_000 + index + (index % 5) * 300,
    },
    index % 7 === 0 ? 'other' : 'default',
  );

const matches = ({ tenant_id, call }: CallRow, keys: CallKeys): boolean =>
  tenant_id === keys.tenantId &&
  (keys.callId === undefined || call.call_id === keys.callId) &&
  (keys.agentId === undefined || call.agent_id === keys.agentId) &&
  (keys.sessionId === undefined || call.session_id === keys.sessionId) &&
  (keys.model === undefined || call.model === keys.model) &&
  (keys.decision === undefined || call.decision === keys.decision) &&
  (keys.failed === undefined || call.status >= 400 === keys.failed) &&
  (keys.fromMs === undefined || call.started_at_ms >= keys.fromMs) &&
  (keys.toMs === undefined || call.started_at_ms < keys.toMs);

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someKeys: fc.Arbitrary<CallKeys> = fc.record({
  tenantId: fc.constantFrom('default', 'other', 'nobody'),
  callId: fc.option(
    fc.nat(CALLS).map((index) => `call-of-${index}`),
    { nil: undefined, freq: 1 },
  ),
  agentId: optional(fc.nat(8).map((index) => `agent-${index}`)),
  sessionId: optional(fc.nat(97).map((index) => `session-${index}`)),
  model: optional(fc.constantFrom('large', 'small')),
  decision: optional(fc.constantFrom('killed', 'forwarded', 'cached')),
  failed: optional(fc.boolean()),
  fromMs: optional(fc.integer({ min: 9_000, max: 15_000 })),
  toMs: optional(fc.integer({ min: 9_000, max: 15_000 })),
  limit: fc.integer({ min: 1, max: 60 }),
  beforeSeq: fc.option(fc.integer({ min: 0, max: CALLS + 5 })),
});

describe('CallReader', () => {
  it('finds what reading every call would find, though it leaves blocks out', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const table = new CallTable(database);
    const rows = Array.from({ length: CALLS }, (_, index) => callAt(index));
    for (let at = 0; at < CALLS; at += 333) table.append(callBatch(rows.slice(at, at + 333)));
    const deletedUpTo = 700;
    database.prepare('DELETE FROM llm_calls WHERE seq <= ?').run(deletedUpTo);
    table.noteDeleted(deletedUpTo);
    const reader = new CallReader(database);

    fc.assert(
      fc.property(someKeys, (keys) => {
        const expected = rows
          .map((row, index) => ({ row, seq: index + 1 }))
          .filter(({ row, seq }) => seq > deletedUpTo && matches(row, keys))
          .filter(({ seq }) => keys.beforeSeq === null || seq < keys.beforeSeq)
          .map(({ seq }) => seq)
          .reverse()
          .slice(0, keys.limit);
        expect(reader.calls(keys).map((call) => call.seq)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('walks blocks and calls in order, without sorting, so that a page ends the search', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const plans: string[] = [];
    const prepare = database.prepare.bind(database);
    database.prepare = ((sql: string) => {
      if (sql.includes('call_keys')) plans.push(sql);
      return prepare(sql);
    }) as typeof database.prepare;
    new CallReader(database).calls({ tenantId: 'default', sessionId: 's', limit: 5, beforeSeq: 9 });
    const [sql = ''] = plans;
    const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(1, 's', 't', 'default', 9, 's', 5) as {
      detail: string;
    }[];
    const plan = steps.map((step) => step.detail).join('; ');
    expect(plan).toMatch(/SEARCH b USING INTEGER PRIMARY KEY.*SEARCH c USING INTEGER PRIMARY KEY/);
    expect(plan).not.toMatch(/TEMP B-TREE/);
  });
});
