import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEVERITIES, type SessionView } from '#contracts';
import { buildSessionView } from '#testing';
import { type Primitive, SESSION_COLUMNS, type SessionKeys, sessionWidth } from './protocol.js';
import { pushSession } from './rows.js';
import { migrate } from './schema.js';
import { SessionFinder } from './session-finder.js';
import { SQLite } from './sqlite-library.js';

type Row = { tenantId: string; view: SessionView };

/** Many were seen at the same time; ids are no ascending numbers. */
const rowAt = (index: number): Row => ({
  tenantId: index % 6 === 0 ? 'other' : 'default',
  view: buildSessionView({
    session_id: `s-${(index * 37) % 101}`,
    agent_id: `agent-${index % 5}`,
    severity: SEVERITIES[index % SEVERITIES.length] as SessionView['severity'],
    last_intent: index % 17 === 0 ? 'Höhe MESSEN' : 'search',
    ended: index % 3 === 0,
    last_seen_ms: 1_000 + Math.floor(index / 4),
  }),
});
const ROWS = Array.from({ length: 101 }, (_, index) => rowAt(index));

function filled(rows: readonly Row[]) {
  const database = new SQLite(':memory:');
  migrate(database);
  const insert = database.prepare(
    `INSERT INTO sessions (${SESSION_COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(sessionWidth - 1)})`,
  );
  for (const { tenantId, view } of rows) {
    const values: Primitive[] = [];
    pushSession(values, tenantId, view);
    insert.run(values);
  }
  return database;
}

const matches = ({ tenantId, view }: Row, keys: SessionKeys): boolean =>
  tenantId === keys.tenantId &&
  (keys.severity === undefined || view.severity === keys.severity) &&
  (keys.agentId === undefined || view.agent_id === keys.agentId) &&
  (keys.ended === undefined || view.ended === keys.ended) &&
  (!keys.search ||
    [view.session_id, view.agent_id, view.last_intent, view.last_tool]
      .join('\n')
      .toLowerCase()
      .includes(keys.search));

const latestFirst = (left: Row, right: Row): number =>
  right.view.last_seen_ms - left.view.last_seen_ms || (left.view.session_id < right.view.session_id ? 1 : -1);

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someKeys: fc.Arbitrary<SessionKeys> = fc.record({
  tenantId: fc.constantFrom('default', 'other', 'nobody'),
  limit: fc.integer({ min: 1, max: 40 }),
  after: fc.constant(null),
  search: optional(fc.constantFrom('höhe', 's-1', 'agent-3', '', 'nowhere')),
  severity: optional(fc.constantFrom(...SEVERITIES)),
  agentId: optional(fc.constantFrom('agent-1', 'agent-4', 'nobody')),
  ended: optional(fc.boolean()),
});

describe('SessionFinder', () => {
  it('finds in pieces, each session once, what looking at every session would find', () => {
    const database = filled(ROWS);
    fc.assert(
      fc.property(someKeys, fc.integer({ min: 1, max: 12 }), (keys, stretchSessions) => {
        const finder = new SessionFinder(database, stretchSessions);
        const found: string[] = [];
        let { after } = keys;
        for (;;) {
          const { rows, lookedUpTo } = finder.find({ ...keys, after });
          expect(rows.length).toBeLessThanOrEqual(keys.limit);
          found.push(...rows.map((row) => row.session_id));
          const last = rows.length === keys.limit ? rows.at(-1) : undefined;
          after = last ? { lastSeenMs: last.last_seen_ms, sessionId: last.session_id } : lookedUpTo;
          if (after === null) break;
        }
        const expected = ROWS.filter((row) => matches(row, keys)).sort(latestFirst);
        expect(found).toEqual(expected.map(({ view }) => view.session_id));
      }),
      { numRuns: 300 },
    );
  });

  it('looks at so many at most, and says how far it looked', () => {
    const rows = Array.from({ length: 110 }, (_, index) => ({
      tenantId: 'default',
      view: buildSessionView({ session_id: `s-${index}`, last_seen_ms: index, ended: index === 0 }),
    }));
    const finder = new SessionFinder(filled(rows), 2);
    const keys = { tenantId: 'default', limit: 5, ended: true };
    const first = finder.find({ ...keys, after: null });
    expect(first).toEqual({ rows: [], lookedUpTo: { lastSeenMs: 10, sessionId: 's-10' } });
    expect(finder.find({ ...keys, after: first.lookedUpTo })).toMatchObject({
      rows: [{ session_id: 's-0' }],
      lookedUpTo: null,
    });
  });

  it('looks at no row that does not match, and sorts nothing', () => {
    const database = filled([]);
    const prepared: string[] = [];
    const prepare = database.prepare.bind(database);
    database.prepare = ((sql: string) => {
      prepared.push(sql);
      return prepare(sql);
    }) as typeof database.prepare;
    new SessionFinder(database, 1).find({
      tenantId: 'a',
      limit: 5,
      after: null,
      search: 'x',
      severity: 'loop',
      agentId: 'b',
      ended: true,
    });
    const plans = prepared.map((sql) => {
      const values = Array.from(sql.match(/\?/g) ?? [], () => 1);
      return (prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[])
        .map((step) => step.detail)
        .join('; ');
    });
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(
        /^SEARCH sessions USING (COVERING )?INDEX sessions_of_tenant \(tenant_id=\? AND \(last_seen_ms,session_id\)</,
      );
      expect(plan).not.toMatch(/TEMP B-TREE/);
    }
    const columns = database.pragma('index_info(sessions_of_tenant)') as { name: string }[];
    expect(columns.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['agent_id', 'severity', 'ended', 'search']),
    );
  });
});
