import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StepRow } from '#contracts';
import { bodyHash } from '#domain/decision-log';
import { buildStepRow } from '#testing';
import { STEP_COLUMNS } from './protocol.js';
import { CallTable } from './proxy/call-table.js';
import { Retention } from './retention.js';
import { migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { StepFinder } from './step-finder.js';
import { partOf } from './step-key.js';
import { SWEPT_SEQ } from './step-key-sweep.js';
import { INDEXED_SEQ } from './step-key-table.js';
import { StepTable } from './step-table.js';

/** Small enough that every run sees generations come and go, large enough that a merge takes several commits. */
const GENERATION_STEPS = 9;
/** Of which a generation takes several, so that steps are looked for in many. */
const SEGMENT_STEPS = 4;
/** The least there is: a generation does not fit into the pages that the table has already. */
const PAGE_BYTES = 512;
const PAGES_MAX = 1_000_000;

const BODIES = ['one', 'two', 'three', 'four'].map(bodyHash);
const name = fc.constantFrom<string>('a', 'b', 'a\n', '1 a');
const step = fc.record({
  tenant_id: name,
  session_id: name,
  trace_id: name,
  body_hash: fc.constantFrom(...BODIES),
});

const action = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('transact' as const),
      steps: fc.array(step, { maxLength: 3 }),
      deletedCount: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
      /** Of a deletion at fault, which its savepoint undoes. */
      restoredCount: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
      isUndone: fc.oneof(fc.constant(false), fc.boolean()),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'look' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), isDiskFull: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'settle' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'sweep' as const }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

type Identity = Pick<StepRow, 'tenant_id' | 'session_id' | 'trace_id' | 'body_hash'>;
const idOf = ({ tenant_id, trace_id, body_hash }: Identity) =>
  JSON.stringify([tenant_id, trace_id, body_hash]);

class Bench {
  readonly database = new SQLite(':memory:');
  /** What must be stored, oldest first. */
  readonly stored: (Identity & { seq: number })[] = [];
  readonly finder: StepFinder;
  table: StepTable;

  constructor() {
    this.database.pragma(`page_size = ${PAGE_BYTES}`);
    migrate(this.database);
    this.table = new StepTable(this.database, GENERATION_STEPS, SEGMENT_STEPS);
    this.finder = new StepFinder(this.database, undefined, SEGMENT_STEPS);
  }

  do(action: Action): void {
    if (action.kind === 'transact') this.transact(action);
    if (action.kind === 'look') this.compare();
    if (action.kind === 'crash') this.crash(action);
    if (action.kind === 'settle') this.table.settle();
    if (action.kind === 'sweep') while (this.table.sweepKeys());
  }

  transact({ steps, deletedCount, restoredCount, isUndone }: Action & { kind: 'transact' }): void {
    const { nextSeq } = this.table;
    const before = [...this.stored];
    this.table.begin();
    this.database.exec('BEGIN');
    this.append(steps);
    this.delete(this.stored.splice(0, deletedCount));
    const restore = this.table.mark();
    this.database.exec('SAVEPOINT apart');
    this.delete(this.stored.slice(0, restoredCount));
    this.database.exec('ROLLBACK TO apart; RELEASE apart');
    restore();
    this.table.keepSeqFloor();
    this.table.indexFor(this.table.nextSeq - nextSeq);
    this.database.exec(isUndone ? 'ROLLBACK' : 'COMMIT');
    if (isUndone) {
      this.table.nextSeq = nextSeq;
      this.stored.splice(0, this.stored.length, ...before);
    } else this.table.committed();
  }

  delete(steps: { seq: number }[]): void {
    const remove = this.database.prepare('DELETE FROM steps WHERE seq = ?');
    for (const { seq } of steps) expect(remove.run(seq).changes).toBe(1);
  }

  /** What is not merged yet is read from the table again, whether or not there is room to merge it. */
  crash({ isDiskFull }: Action & { kind: 'crash' }): void {
    if (isDiskFull) this.fillDisk();
    this.table = new StepTable(this.database, GENERATION_STEPS, SEGMENT_STEPS);
    this.database.pragma(`max_page_count = ${PAGES_MAX}`);
    this.database.exec('DROP TABLE IF EXISTS filler');
  }

  fillDisk(): void {
    this.database.exec('CREATE TABLE filler (block BLOB)');
    // The bound is never below what there is.
    this.database.pragma('max_page_count = 1');
    const fill = this.database.prepare(`INSERT INTO filler VALUES (zeroblob(${PAGE_BYTES}))`);
    expect(() => {
      for (;;) fill.run();
    }).toThrow('full');
  }

  append(steps: Identity[]): void {
    let seq = this.table.nextSeq;
    const expected = steps.flatMap((each, index) => {
      const first = this.stored.find((one) => idOf(one) === idOf(each));
      if (first !== undefined) return [index, first.seq];
      this.stored.push({ ...each, seq: seq++ });
      return [];
    });
    const rows = steps.map((each) => buildStepRow(each));
    const values = rows.flatMap((row) => STEP_COLUMNS.map((column) => row[column]));
    expect(this.table.append(values, 0, rows.length) ?? []).toEqual(expected);
    expect(this.table.nextSeq).toBe(seq);
  }

  /** Both ways to find steps, pages of two as well, and nothing in the index of what was swept. */
  compare(): void {
    for (const tenant of ['a', 'b', 'a\n', '1 a'])
      for (const other of ['a', 'b', 'a\n', '1 a']) {
        const ofSession = this.seqs((each) => each.tenant_id === tenant && each.session_id === other);
        for (const order of ['asc', 'desc'] as const) {
          const expected = order === 'asc' ? ofSession : [...ofSession].reverse();
          const whole = this.finder.ofSession(tenant, other, { limit: 999, afterSeq: null, order });
          expect(whole.map((each) => each.seq)).toEqual(expected);
          const page = this.finder.ofSession(tenant, other, { limit: 2, afterSeq: expected[0] ?? 1, order });
          expect(page.map((each) => each.seq)).toEqual(expected.slice(1, 3));
        }
        const isOfTrace = (each: Identity) => each.tenant_id === tenant && each.trace_id === other;
        expect(this.finder.ofTrace(tenant, other, null)?.seq).toBe(this.seqs(isOfTrace).at(-1));
        for (const body_hash of BODIES) {
          const [seq] = this.seqs((each) => isOfTrace(each) && each.body_hash === body_hash);
          expect(this.finder.ofTrace(tenant, other, body_hash)?.seq).toBe(seq);
        }
      }
    expect(this.sessionsKept()).toEqual([
      ...new Set(this.stored.map((each) => `${each.tenant_id}/${each.session_id}`).sort()),
    ]);
    const swept = this.database.prepare('SELECT value FROM counters WHERE name = ?').pluck().get(SWEPT_SEQ);
    const orphans = 'SELECT count(*) FROM step_keys WHERE seq NOT IN (SELECT seq FROM steps) AND seq <= ?';
    expect(
      this.database
        .prepare(orphans)
        .pluck()
        .get(swept ?? 0),
    ).toBe(0);
  }

  /** What retention leaves of a row for every session there could be. */
  sessionsKept(): string[] {
    const retention = new Retention(this.database, this.table, new CallTable(this.database));
    const names = ['a', 'b', 'a\n', '1 a'];
    const insert = this.database.prepare(
      "INSERT INTO sessions VALUES (?, ?, 'agent', 'normal', 0, 0, '', '{}')",
    );
    this.table.begin();
    this.database.exec('BEGIN');
    for (const tenant of names) for (const session of names) insert.run(tenant, session);
    retention.deleteEmptySessions(1, [0, 0]);
    const kept = this.database
      .prepare("SELECT tenant_id || '/' || session_id FROM sessions")
      .pluck()
      .all() as string[];
    this.database.exec('ROLLBACK');
    return kept.sort();
  }

  seqs(matches: (step: Identity) => boolean): number[] {
    return this.stored.filter(matches).map(({ seq }) => seq);
  }
}

describe('partOf', () => {
  it('keeps bodies apart, so that one trace id used for all is no slower than one for each', () => {
    const parts = new Set(Array.from({ length: 10_000 }, (_, body) => partOf(bodyHash(`${body}`))));
    expect(parts.size).toBe(10_000);
  });
});

describe('steps that a crash left on a full disk', () => {
  it('are held in memory up to a bound, beyond which the database is not opened', () => {
    const bench = new Bench();
    // Twenty generations of a process that never merged.
    const old = new StepTable(bench.database);
    const rows = Array.from({ length: GENERATION_STEPS * 20 }, (_, at) =>
      buildStepRow({ trace_id: `${at}` }),
    );
    const values = rows.flatMap((row) => STEP_COLUMNS.map((column) => row[column]));
    old.append(values, 0, rows.length);
    bench.fillDisk();
    expect(() => new StepTable(bench.database, GENERATION_STEPS)).toThrow('database or disk is full');
    expect(new StepTable(bench.database, GENERATION_STEPS + 2).append(values, 0, 1)).toEqual([0, 1]);
  });
});

describe('steps indexed in bulk', () => {
  it('are in the index by the time that as many more have come, one by one, so that memory holds two generations', () => {
    const bench = new Bench();
    // Of which a piece is due for several steps.
    const generationSteps = 160;
    bench.table = new StepTable(bench.database, generationSteps, SEGMENT_STEPS);
    const read = bench.database.prepare('SELECT value FROM counters WHERE name = ?').pluck();
    const behind: number[] = [];
    for (let count = 1; count <= 6 * generationSteps; count += 1) {
      const one = { tenant_id: 'a', session_id: 'b', trace_id: `${count}`, body_hash: bodyHash('one') };
      const asked = { deletedCount: 0, restoredCount: 0, isUndone: false };
      bench.transact({ kind: 'transact', steps: [one], ...asked });
      behind.push(count - ((read.get(INDEXED_SEQ) as number | undefined) ?? 0));
    }
    expect(Math.max(...behind)).toBeLessThanOrEqual(2 * generationSteps);
    expect(Math.min(...behind.slice(generationSteps))).toBeGreaterThan(0);
  });

  it('are found, told from duplicates and deleted as if every insert kept an index', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 80, size: 'max' }), (actions) => {
        const bench = new Bench();
        for (const each of actions) bench.do(each);
        bench.compare();
        bench.table.settle();
        bench.compare();
        const ofStored = 'SELECT count(*) FROM step_keys WHERE seq IN (SELECT seq FROM steps)';
        expect(bench.database.prepare(ofStored).pluck().get()).toBe(bench.stored.length * 2);
      }),
      { numRuns: 25 },
    );
  }, 30_000);
});
