import type { Database } from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { StepRow } from '#contracts';
import { buildCallRow, buildIncident, buildSemanticLoop, buildStepRow } from '#testing';
import { AuditLog } from './audit-log.js';
import { STEP_COLUMNS } from './protocol.js';
import { callBatch } from './proxy/call-batch.js';
import { BLOCK_CALLS } from './proxy/call-blocks.js';
import { CallReader } from './proxy/call-reader.js';
import { CallTable } from './proxy/call-table.js';
import { ProxyWriteTable } from './proxy/proxy-write-table.js';
import { MIGRATIONS, type Migration, migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { StepFinder } from './step-finder.js';
import { NO_PART, partOf, SEGMENT_STEPS, sessionKeyOf, traceKeyOf } from './step-key.js';
import { INDEXED_SEQ } from './step-key-table.js';
import { StepTable } from './step-table.js';

const version = (database: Database) => database.pragma('user_version', { simple: true });
const addColumn: Migration = (database) =>
  database.exec('ALTER TABLE settings ADD COLUMN changed_at_ms INTEGER');

const flat = (row: StepRow) => STEP_COLUMNS.map((column) => row[column]);

/** As every version had it. */
function insertStep(database: Database, seq: number, overrides: Partial<StepRow>): StepRow {
  const row = buildStepRow(overrides);
  database
    .prepare(
      `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, seq) VALUES (${STEP_COLUMNS.map(() => '?').join(', ')}, ?)`,
    )
    .run(...flat(row), seq);
  return row;
}

describe('migrate', () => {
  it('makes a new database, and leaves one that is up to date as it is', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    expect(version(database)).toBe(MIGRATIONS.length);
    migrate(database);
    expect(version(database)).toBe(MIGRATIONS.length);
  });

  it('runs only what an older database lacks, and keeps its rows', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    database.exec(`INSERT INTO settings (key, value) VALUES ('a', '1')`);
    migrate(database, [...MIGRATIONS, addColumn]);
    expect(version(database)).toBe(MIGRATIONS.length + 1);
    expect(database.prepare('SELECT * FROM settings').get()).toEqual({
      key: 'a',
      value: '1',
      changed_at_ms: null,
    });
  });

  it('adds the tables of the proxy to a database of version 1, and keeps what is in it', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 1));
    expect(version(database)).toBe(1);
    insertStep(database, 1, { trace_id: 'old' });
    migrate(database);
    expect(version(database)).toBe(MIGRATIONS.length);
    expect(database.prepare('SELECT trace_id FROM steps').pluck().all()).toEqual(['old']);
    expect(new CallTable(database).append(callBatch([buildCallRow()]))).toBe(1);
  });

  it('adds the table of semantic loops to a database of version 2, and keeps its incidents', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 2));
    const before = new ProxyWriteTable(database, new AuditLog(database));
    before.appendIncident('default', buildIncident());
    migrate(database);
    expect(version(database)).toBe(MIGRATIONS.length);
    expect(database.prepare('SELECT count(*) FROM incidents').pluck().get()).toBe(1);
    expect(
      new ProxyWriteTable(database, new AuditLog(database)).appendSemanticLoop(
        'default',
        buildSemanticLoop(),
      ),
    ).toBe(1);
  });

  it('indexes the steps of a database of version 3 when it is opened, whatever is missing between them', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 3));
    const rows = [3, 4, 9].map((seq) => insertStep(database, seq, { trace_id: `trace-${seq}` }));
    migrate(database);
    const steps = new StepTable(database);
    const indexedSeq = database.prepare('SELECT value FROM counters WHERE name = ?').pluck().get(INDEXED_SEQ);
    expect(indexedSeq).toBe(9);
    const [row] = rows as [StepRow];
    expect(steps.append(flat(row), 0, 1)).toEqual([0, 3]);
    const finder = new StepFinder(database);
    const page = { limit: 9, afterSeq: null, order: 'asc' } as const;
    expect(finder.ofSession(row.tenant_id, row.session_id, page).map((step) => step.seq)).toEqual([3, 4, 9]);
  });

  it('puts the index of a database of version 8 into segments, with what a crash left half merged in it', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 8));
    // More than are sorted together, the next behind the last of those, and a gap.
    const seqs = [
      1,
      1 * SEGMENT_STEPS,
      2 * SEGMENT_STEPS,
      4 * SEGMENT_STEPS,
      4 * SEGMENT_STEPS + 1,
      9 * SEGMENT_STEPS,
    ];
    const rows = seqs.map((seq) => insertStep(database, seq, { trace_id: `trace-${seq}` }));
    const insertKey = database.prepare('INSERT INTO step_keys (key, part, seq) VALUES (?, ?, ?)');
    for (const [index, { tenant_id, session_id, trace_id, body_hash }] of rows.entries()) {
      insertKey.run(traceKeyOf(tenant_id, trace_id), partOf(body_hash), seqs[index]);
      if (index < 4) insertKey.run(sessionKeyOf(tenant_id, session_id), NO_PART, seqs[index]);
    }
    database.prepare('INSERT INTO counters VALUES (?, ?)').run(INDEXED_SEQ, 4 * SEGMENT_STEPS);
    migrate(database);
    const steps = new StepTable(database);
    for (const [index, row] of rows.entries())
      expect(steps.append(flat(row), 0, 1)).toEqual([0, seqs[index]]);
    steps.settle();
    const [{ tenant_id, session_id }] = rows as [StepRow];
    const found = (order: 'asc' | 'desc') =>
      new StepFinder(database)
        .ofSession(tenant_id, session_id, { limit: 9, afterSeq: null, order })
        .map(({ seq }) => seq);
    expect(found('asc')).toEqual(seqs);
    expect(found('desc')).toEqual([...seqs].reverse());
    expect(database.prepare('SELECT count(*) FROM step_keys').pluck().get()).toBe(2 * seqs.length);
    // What it was made from takes no room any more.
    expect(
      database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'step_keys%'").pluck().all(),
    ).toEqual(['step_keys']);
  });

  it('finds who asked for a person in a database of version 7, in all that its paused sessions hold', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 7));
    const addControl = database.prepare(
      `INSERT INTO controls (tenant_id, session_id, state, cooperative, directive_seq, directives)
       VALUES ('default', ?, ?, 0, 0, '[]')`,
    );
    addControl.run('paused', 'paused');
    addControl.run('quiet', 'pause_requested');
    addControl.run('over', 'active');
    const ask = JSON.stringify({ control: { hitl_required: true } });
    const hold = (seq: number, changes: Partial<StepRow>) =>
      insertStep(database, seq, { session_id: 'paused', trace_id: `t-${seq}`, held: 1, ...changes });
    for (let seq = 1; seq <= 30; seq += 1) hold(seq, { agent_id: 'planner' });
    hold(31, { agent_id: 'writer', body: ask });
    hold(32, { agent_id: 'clerk', body: ask });
    hold(33, { agent_id: 'writer', body: ask });
    hold(34, { agent_id: 'other', body: ask, held: 0 });
    hold(35, { agent_id: 'broken', body: '{' });
    hold(36, { agent_id: 'other', body: ask, session_id: 'over' });
    migrate(database);
    const askedBy = database.prepare('SELECT session_id, asked_by FROM controls ORDER BY session_id');
    expect(askedBy.all()).toEqual([
      { session_id: 'over', asked_by: '[]' },
      { session_id: 'paused', asked_by: '["writer","clerk"]' },
      { session_id: 'quiet', asked_by: '[]' },
    ]);
  });

  it('finds the calls of a session in blocks that a database of version 11 wrote, and those of its tenant only', () => {
    const database = new SQLite(':memory:');
    migrate(database, MIGRATIONS.slice(0, 11));
    const rows = Array.from({ length: 2 * BLOCK_CALLS }, (_, index) =>
      buildCallRow({ session_id: `s-${index % 4}` }, index % 2 === 0 ? 'default' : 'acme'),
    );
    new CallTable(database).append(callBatch(rows));
    database.exec(`DELETE FROM call_keys WHERE key LIKE 's%';
      INSERT INTO call_keys SELECT DISTINCT seq / ${BLOCK_CALLS}, 's' || session_id FROM llm_calls
      WHERE seq < ${2 * BLOCK_CALLS}`);
    migrate(database);
    const keys = database.prepare(`SELECT block, key FROM call_keys WHERE key LIKE 's%'`).raw().all();
    const ofBlock = ['sacme:s-1', 'sacme:s-3', 'sdefault:s-0', 'sdefault:s-2'];
    expect(keys).toEqual([0, 1].flatMap((block) => ofBlock.map((key) => [block, key])));
    const reader = new CallReader(database);
    const found = (tenantId: string) =>
      reader.calls({ tenantId, sessionId: 's-2', limit: 9_999, beforeSeq: null }).rows.length;
    expect([found('acme'), found('default')]).toEqual([0, BLOCK_CALLS / 2]);
  });

  it('stays at the last whole version when a step fails', () => {
    const database = new SQLite(':memory:');
    const half: Migration = (target) => {
      target.exec('CREATE TABLE half (a)');
      throw new Error('power went');
    };
    expect(() => migrate(database, [...MIGRATIONS, addColumn, half])).toThrow('power went');
    expect(version(database)).toBe(MIGRATIONS.length + 1);
    expect(database.prepare(`SELECT count(*) AS n FROM sqlite_master WHERE name = 'half'`).get()).toEqual({
      n: 0,
    });
    migrate(database, [...MIGRATIONS, addColumn]);
  });

  it('refuses a database from a newer version and says which', () => {
    const database = new SQLite(':memory:');
    migrate(database, [...MIGRATIONS, addColumn]);
    expect(() => migrate(database)).toThrow(
      `it was written by a newer Observatory (database version ${MIGRATIONS.length + 1}; this one reads up to ${MIGRATIONS.length})`,
    );
  });

  it('answers the hot queries from an index', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    const plan = (sql: string) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
        .map((row) => row.detail)
        .join('; ');
    for (const sql of [
      `SELECT * FROM steps WHERE tenant_id = 'a' AND session_id = 'b' AND held = 1 ORDER BY seq`,
      `SELECT * FROM sessions WHERE tenant_id = 'a' AND (last_seen_ms, session_id) < (9, 'x') ORDER BY last_seen_ms DESC, session_id DESC LIMIT 5`,
      'SELECT * FROM sessions ORDER BY last_seen_ms DESC LIMIT 5',
      `SELECT * FROM controls WHERE state <> 'active' OR directives <> '[]'`,
      'SELECT tenant_id, session_id, count(*) FROM steps WHERE held = 1 GROUP BY tenant_id, session_id',
      `SELECT * FROM alerts WHERE tenant_id = 'a' ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM audit WHERE tenant_id = 'a' AND session_id = 'b' ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM incidents WHERE tenant_id = 'a' AND agent_id = 'b' AND seq < 9 ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM semantic_loops WHERE tenant_id = 'a' ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM semantic_loops WHERE tenant_id = 'a' AND session_id = 'b' AND seq < 9 ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM alert_deliveries WHERE tenant_id = 'a' AND state = 'dead' ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM alert_deliveries WHERE state = 'pending' ORDER BY seq`,
      `SELECT * FROM alert_deliveries WHERE tenant_id = 'a' AND state = 'dead' AND channel_id = 'b' AND seq < 9 ORDER BY seq DESC LIMIT 5`,
      `SELECT * FROM documents WHERE kind = 'prices' ORDER BY tenant_id, id`,
    ]) {
      expect(plan(sql), sql).toMatch(/USING (COVERING )?INDEX/);
      expect(plan(sql), sql).not.toMatch(/TEMP B-TREE/);
    }
    const ofBoth = `SELECT * FROM alert_deliveries WHERE tenant_id = 'a' AND state = 'dead' AND channel_id = 'b' ORDER BY seq`;
    expect(plan(ofBoth)).toContain('(tenant_id=? AND channel_id=? AND state=?)');
  });
});
