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
  (keys.decisions === undefined || keys.decisions.includes(call.decision)) &&
  (keys.failed === undefined || call.status >= 400 === keys.failed) &&
  (keys.fromMs === undefined || call.started_at_ms >= keys.fromMs) &&
  (keys.toMs === undefined || call.started_at_ms < keys.toMs);

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someKeys: fc.Arbitrary<CallKeys> = fc.record({
  tenantId: fc.constantFrom('default', 'other', 'nobody'),
  callId: fc.option(
    fc.nat(CALLS).map((index) => `call-of-${index}`),
    { nil: undefined, freq: 3 },
  ),
  agentId: optional(fc.nat(8).map((index) => `agent-${index}`)),
  sessionId: optional(fc.nat(97).map((index) => `session-${index}`)),
  model: optional(fc.constantFrom('large', 'small')),
  decision: optional(fc.constantFrom('killed', 'forwarded', 'cached')),
  decisions: optional(fc.constantFrom(['killed'], ['forwarded', 'cached'])),
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
    fc.assert(
      fc.property(someKeys, fc.integer({ min: 1, max: 4 }), (keys, blocksReadMax) => {
        const reader = new CallReader(database, blocksReadMax);
        const expected = rows
          .map((row, index) => ({ row, seq: index + 1 }))
          .filter(({ row, seq }) => seq > deletedUpTo && matches(row, keys))
          .filter(({ seq }) => keys.beforeSeq === null || seq < keys.beforeSeq)
          .map(({ seq }) => seq)
          .reverse()
          .slice(0, keys.limit);
        const found: number[] = [];
        let { beforeSeq } = keys;
        do {
          const piece = reader.calls({ ...keys, limit: keys.limit - found.length, beforeSeq });
          found.push(...piece.rows.map((call) => call.seq));
          beforeSeq = piece.lookedDownTo;
        } while (beforeSeq !== null);
        expect(found).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('stops where calls have in common what each of very many has, and says how far it looked', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const rows = Array.from({ length: 3 * BLOCK_CALLS }, (_, index) =>
      index % 2 === 0 ? buildCallRow({ agent_id: 'even', model: 'large' }) : buildCallRow({ model: 'small' }),
    );
    new CallTable(database).append(callBatch(rows));
    const reader = new CallReader(database, 1);
    const neverMet = { tenantId: 'default', agentId: 'even', model: 'small', limit: 5 };
    expect(reader.calls({ ...neverMet, beforeSeq: null })).toEqual({
      rows: [],
      lookedDownTo: 2 * BLOCK_CALLS,
    });
    expect(reader.calls({ ...neverMet, beforeSeq: 2 * BLOCK_CALLS })).toEqual({
      rows: [],
      lookedDownTo: BLOCK_CALLS,
    });
    expect(reader.calls({ ...neverMet, beforeSeq: BLOCK_CALLS })).toEqual({ rows: [], lookedDownTo: null });
  });

  it('does not look into blocks for the like-named session of another tenant, nor tell by that that there is one', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const rows = Array.from({ length: 3 * BLOCK_CALLS }, (_, index) =>
      index % 2 === 0 ? buildCallRow({ session_id: 'shared' }, 'acme') : buildCallRow(),
    );
    new CallTable(database).append(callBatch(rows));
    const reader = new CallReader(database, 1);
    const shared = { sessionId: 'shared', limit: 5, beforeSeq: null };
    expect(reader.calls({ ...shared, tenantId: 'default' })).toEqual({ rows: [], lookedDownTo: null });
    expect(reader.calls({ ...shared, tenantId: 'acme' }).rows).toHaveLength(5);
  });

  it('walks blocks and calls in order, without sorting, so that a page ends the search', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    new CallTable(database).append(callBatch(Array.from({ length: BLOCK_CALLS }, () => buildCallRow())));
    const prepared: string[] = [];
    const prepare = database.prepare.bind(database);
    database.prepare = ((sql: string) => {
      prepared.push(sql);
      return prepare(sql);
    }) as typeof database.prepare;
    new CallReader(database).calls({ tenantId: 'default', sessionId: 'session-1', limit: 5, beforeSeq: 9 });
    const planOf = (part: string) => {
      const sql = prepared.find((each) => each.includes(part)) ?? '';
      const values = Array.from(sql.match(/\?/g) ?? [], () => 1);
      const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
      return steps.map((step) => step.detail).join('; ');
    };
    expect(planOf('call_keys')).toMatch(/^SEARCH b USING INTEGER PRIMARY KEY \(rowid<\?\)/);
    expect(planOf('call_keys')).not.toMatch(/TEMP B-TREE/);
    expect(planOf('llm_calls')).toBe('SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
  });
});
