import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StepRow } from '#contracts';
import { buildAuditDraft, buildStepRow } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { StoreFullError } from './disk-full.js';
import { type OperationResult, STEP_COLUMNS, type ThreadSettings, type WriteOperation } from './protocol.js';
import { SQLite } from './sqlite-library.js';
import { SqliteReader } from './sqlite-reader.js';
import { SqliteWriter } from './sqlite-writer.js';
import type { StoreEvent } from './store-event.js';

let folder: string;
let writer: SqliteWriter;

const settings = (overrides: Partial<ThreadSettings> = {}): ThreadSettings => ({
  role: 'writer',
  path: join(folder, 'o.db'),
  durability: 'process',
  freeBytesMin: 0,
  pageCountMax: null,
  ...overrides,
});

const steps = (...calls: StepRow[][]): WriteOperation => ({
  kind: 'steps',
  values: calls.flat().flatMap((row) => STEP_COLUMNS.map((column) => row[column])),
  rowCounts: calls.map((call) => call.length),
});
const audit = (...args: object[]): WriteOperation => ({
  kind: 'call',
  name: 'commitControl',
  args: JSON.stringify(args),
});
const stepsOf = (result: OperationResult | undefined) => (result?.kind === 'steps' ? result.steps : null);

/** As retention does: piece after piece, until nothing older is left. */
function deleteOlderSteps(beforeMs: number): void {
  let fromSeq: number | null = 0;
  while (fromSeq !== null) {
    const args = JSON.stringify(['steps', beforeMs, fromSeq]);
    const [piece] = writer.write([{ kind: 'call', name: 'deleteOlder', args }]);
    if (piece?.kind !== 'done') throw new Error(`retention failed: ${JSON.stringify(piece)}`);
    fromSeq = (piece.value as { nextSeq: number | null }).nextSeq;
  }
}

function stored(): string[] {
  const reader = new SqliteReader(settings().path);
  try {
    return reader.stepsAfter(0, 10_000).map((step) => `${step.seq} ${step.trace_id}`);
  } finally {
    reader.close();
  }
}

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => writer.close());

describe('SqliteWriter', () => {
  it('undoes only the call at fault, and keeps the numbering without a gap', () => {
    writer = new SqliteWriter(settings());
    const poison = buildStepRow({ trace_id: 'poison', held: 7 });
    const [result] = writer.write([
      steps(
        [buildStepRow({ trace_id: 'a' })],
        [buildStepRow({ trace_id: 'with poison' }), poison],
        [buildStepRow({ trace_id: 'b' }), buildStepRow({ trace_id: 'c' })],
      ),
    ]);
    expect(stepsOf(result)).toMatchObject({
      firstSeq: 1,
      duplicates: null,
      failures: [
        null,
        { reason: 'failed', detail: expect.stringContaining('CHECK constraint failed') },
        null,
      ],
    });
    expect(stored()).toEqual(['1 a', '2 b', '3 c']);
  });

  it('names duplicates by their row, in a batch with a call at fault too', () => {
    writer = new SqliteWriter(settings());
    const first = buildStepRow({ trace_id: 'a' });
    const [result] = writer.write([
      steps([first], [buildStepRow({ entropy_score: Number.NaN })], [buildStepRow({ trace_id: 'b' }), first]),
    ]);
    expect(stepsOf(result)).toMatchObject({ firstSeq: 1, duplicates: [3, 1] });
    expect(stored()).toEqual(['1 a', '2 b']);
  });

  it('still knows the steps that a deletion at fault was to take', () => {
    writer = new SqliteWriter(settings());
    const rows = ['a', 'b', 'c'].map((trace_id) => buildStepRow({ trace_id, received_at_ms: 1 }));
    writer.write([steps(rows)]);
    const database = new SQLite(settings().path);
    database.exec(
      "CREATE TRIGGER damage BEFORE DELETE ON steps WHEN OLD.seq = 3 BEGIN SELECT RAISE(ABORT, 'damaged'); END",
    );
    database.close();
    const args = JSON.stringify(['steps', 9, 0]);
    const results = writer.write([
      { kind: 'call', name: 'deleteOlder', args },
      audit({ audit: [buildAuditDraft()] }),
    ]);
    expect(results.map((result) => result.kind)).toEqual(['failed', 'done']);
    writer.close();
    writer = new SqliteWriter(settings());
    const [again] = writer.write([steps(rows)]);
    expect(stepsOf(again)?.duplicates).toEqual([0, 1, 1, 2, 2, 3]);
    expect(stored()).toEqual(['1 a', '2 b', '3 c']);
  });

  it('takes nothing while its file is away or another stands in its place, and goes on once it is back', () => {
    writer = new SqliteWriter(settings());
    const { path } = settings();
    const write = (trace_id: string) => writer.write([steps([buildStepRow({ trace_id })])]);
    write('a');
    renameSync(path, `${path}.away`);
    expect(() => write('lost')).toThrow(/o\.db was moved away, deleted or replaced/);
    copyFileSync(`${path}.away`, path);
    expect(() => write('lost')).toThrow('put it back');
    renameSync(`${path}.away`, path);
    write('b');
    expect(stored()).toEqual(['1 a', '2 b']);
  });

  it.each(['-wal', '.lock'])('takes nothing while the %s beside its file is away', (ending) => {
    writer = new SqliteWriter(settings());
    const beside = `${settings().path}${ending}`;
    const write = (trace_id: string) => writer.write([steps([buildStepRow({ trace_id })])]);
    write('a');
    renameSync(beside, `${beside}.away`);
    expect(() => write('lost')).toThrow(`o.db${ending} was moved away, deleted or replaced`);
    renameSync(`${beside}.away`, beside);
    write('b');
    expect(stored()).toEqual(['1 a', '2 b']);
  });

  it('keeps what it took though its log was deleted, when it is closed in order', () => {
    writer = new SqliteWriter(settings());
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    rmSync(`${settings().path}-wal`);
    writer.close();
    writer = new SqliteWriter(settings());
    expect(stored()).toEqual(['1 a']);
  });

  it('empties its log, but for what somebody still reads in it, and waits for nobody', () => {
    writer = new SqliteWriter(settings());
    const logBytes = () => statSync(`${settings().path}-wal`).size;
    const reader = new SQLite(settings().path);
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    reader.exec('BEGIN; SELECT count(*) FROM steps');
    writer.write([steps([buildStepRow({ trace_id: 'b' })])]);
    writer.beginLogAnew();
    expect(logBytes()).toBeGreaterThan(0);
    reader.exec('COMMIT');
    writer.beginLogAnew();
    expect(logBytes()).toBe(0);
    reader.close();
    expect(stored()).toEqual(['1 a', '2 b']);
  });

  it('keeps the other writes of a batch in which an operation fails', () => {
    writer = new SqliteWriter(settings());
    const results = writer.write([
      audit({ audit: [buildAuditDraft()] }),
      audit({ audit: [buildAuditDraft(), { ...buildAuditDraft(), at_ms: 'noon' }] }),
      steps([buildStepRow({ trace_id: 'a' })]),
      audit({ audit: [buildAuditDraft()] }),
    ]);
    expect(results.map((result) => result.kind)).toEqual(['done', 'failed', 'steps', 'done']);
    expect(results[3]).toMatchObject({ value: { audit: [{ seq: 2 }] } });
    expect(stored()).toEqual(['1 a']);
  });

  it('keeps nothing of a batch for which the database has no room, and takes the next one that fits', () => {
    writer = new SqliteWriter(settings({ pageCountMax: 60 }));
    const large = Array.from({ length: 400 }, () => buildStepRow({ body: `"${'x'.repeat(900)}"` }));
    expect(() => writer.write([steps(large)])).toThrow(StoreFullError);
    expect(stored()).toEqual([]);
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    expect(stored()).toEqual(['1 a']);
  });

  it('reports a full database even if an operation of the batch is at fault as well', () => {
    writer = new SqliteWriter(settings({ pageCountMax: 60 }));
    const large = Array.from({ length: 400 }, () => buildStepRow({ body: `"${'x'.repeat(900)}"` }));
    expect(() => writer.write([steps([buildStepRow({ held: 7 })], large)])).toThrow(StoreFullError);
    expect(stored()).toEqual([]);
  });

  it('refuses writes below the free space to be kept, but not those that make room', () => {
    let freeBytes = 1_000_000;
    writer = new SqliteWriter(settings({ freeBytesMin: 500_000 }), undefined, () => freeBytes);
    writer.write([steps([buildStepRow({ trace_id: 'a', received_at_ms: 1 })])]);
    freeBytes = 400_000;
    expect(() => writer.write([steps([buildStepRow()])])).toThrow(StoreFullError);
    const [piece] = writer.write([{ kind: 'call', name: 'deleteOlder', args: '["steps", 2, 0]' }]);
    expect(piece).toEqual({ kind: 'done', value: { deleted_count: 1, nextSeq: null } });
    freeBytes = 500_000;
    writer.write([steps([buildStepRow({ trace_id: 'b' })])]);
    expect(stored()).toEqual(['2 b']);
  });

  it('takes what an operator does while an eighth of that space is left, for there must be a way to stop what fills the disk', () => {
    let freeBytes = 62_500;
    writer = new SqliteWriter(settings({ freeBytesMin: 500_000 }), undefined, () => freeBytes);
    const setting = (text: string): WriteOperation => ({
      kind: 'call',
      name: 'saveSettings',
      args: JSON.stringify([[['kept', text]], null]),
    });
    expect(writer.write([setting('1')])).toEqual([{ kind: 'done', value: null }]);
    expect(() => writer.write([steps([buildStepRow()])])).toThrow(StoreFullError);
    freeBytes = 62_499;
    expect(() => writer.write([setting('2')])).toThrow('62499 bytes are free; 62500 are kept free');
  });

  describe('on a disk that other programs fill', () => {
    const KEPT_FREE = 4_000_000;
    const RESERVE = KEPT_FREE / 4;
    /** Without what the reserve takes. */
    let othersLeave = 0;
    let events: StoreEvent[];
    const reserve = () => `${settings().path}.reserve`;
    const reserveBytes = () => statSync(reserve(), { throwIfNoEntry: false })?.size ?? 0;
    const open = (leave: number) => {
      othersLeave = leave;
      events = [];
      const onEvent = (event: StoreEvent) => events.push(event);
      const freeBytes = () => othersLeave - reserveBytes();
      writer = new SqliteWriter(settings({ freeBytesMin: KEPT_FREE }), onEvent, freeBytes);
    };
    const command = (): WriteOperation => ({
      kind: 'call',
      name: 'saveSettings',
      args: '[[["kept","1"]],null]',
    });

    it('keeps room from them, private to its owner, which a command gets where there is none, and nothing else', () => {
      open(10_000_000);
      expect(reserveBytes()).toBe(RESERVE);
      expect(statSync(reserve()).mode & 0o777).toBe(0o600);
      othersLeave = RESERVE;
      expect(() => writer.write([steps([buildStepRow()])])).toThrow(StoreFullError);
      expect(() => writer.write([steps([buildStepRow()]), command()])).toThrow(StoreFullError);
      expect(reserveBytes()).toBe(RESERVE);
      expect(writer.write([command()])).toEqual([{ kind: 'done', value: null }]);
      expect(reserveBytes()).toBe(0);
      expect(events).toEqual([{ kind: 'reserve_released', bytes: RESERVE }]);
      othersLeave = KEPT_FREE / 8 - 1;
      expect(() => writer.write([command()])).toThrow(StoreFullError);
    });

    it('does not give it up while there is room for commands without it', () => {
      open(10_000_000);
      othersLeave = RESERVE + KEPT_FREE / 8;
      writer.write([command()]);
      expect(reserveBytes()).toBe(RESERVE);
      expect(events).toEqual([]);
    });

    it('keeps it anew once nothing is refused for it', () => {
      open(10_000_000);
      othersLeave = RESERVE;
      writer.write([command()]);
      othersLeave = KEPT_FREE + RESERVE - 1;
      writer.write([steps([buildStepRow()])]);
      expect(reserveBytes()).toBe(0);
      othersLeave = KEPT_FREE + RESERVE;
      writer.write([steps([buildStepRow()])]);
      expect(reserveBytes()).toBe(RESERVE);
    });

    it('has it still after a start, and makes one anew that was cut short', () => {
      open(10_000_000);
      writer.close();
      open(RESERVE);
      writer.write([command()]);
      expect(events).toHaveLength(1);
      writer.close();
      writeFileSync(reserve(), 'cut short');
      open(10_000_000);
      expect(reserveBytes()).toBe(RESERVE);
    });

    it.each([
      ['a link', (elsewhere: string) => symlinkSync(elsewhere, reserve())],
      ['a link to nothing', (elsewhere: string) => symlinkSync(`${elsewhere}-missing`, reserve())],
      ['a pipe', () => execFileSync('mkfifo', [reserve()])],
    ])('puts it in the place of %s, and writes nowhere else', (_, put) => {
      const elsewhere = join(folder, 'elsewhere');
      writeFileSync(elsewhere, 'x'.repeat(RESERVE));
      put(elsewhere);
      open(10_000_000);
      expect(lstatSync(reserve())).toMatchObject({ size: RESERVE });
      expect(lstatSync(reserve()).isFile()).toBe(true);
      expect(readFileSync(elsewhere, 'utf8')).toBe('x'.repeat(RESERVE));
      expect(existsSync(`${elsewhere}-missing`)).toBe(false);
    });

    it('tries again to keep it after another shortage, where it could not be made though there was room', () => {
      mkdirSync(reserve());
      open(10_000_000);
      rmdirSync(reserve());
      const write = () => writer.write([steps([buildStepRow()])]);
      write();
      expect(reserveBytes()).toBe(0);
      othersLeave = KEPT_FREE + RESERVE - 1;
      write();
      othersLeave = 10_000_000;
      write();
      expect(reserveBytes()).toBe(RESERVE);
    });

    it('goes on without one where it cannot be made', () => {
      mkdirSync(reserve());
      open(10_000_000);
      writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
      expect(stored()).toEqual(['1 a']);
      othersLeave = 0;
      expect(() => writer.write([command()])).toThrow(StoreFullError);
      expect(events).toEqual([]);
    });
  });

  it('counts the free pages within the file as free space', () => {
    let freeBytes = 1_000_000;
    writer = new SqliteWriter(settings({ freeBytesMin: 500_000 }), undefined, () => freeBytes);
    const large = Array.from({ length: 400 }, () => buildStepRow({ body: `"${'x'.repeat(900)}"` }));
    writer.write([steps(large)]);
    freeBytes = 200_000;
    expect(() => writer.write([steps([buildStepRow()])])).toThrow(
      '200000 bytes are free; 500000 are kept free',
    );
    deleteOlderSteps(9_000_000);
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    expect(stored()).toEqual(['401 a']);
  });

  it('gives back what its log takes before it refuses for want of space', () => {
    const bytesOf = (ending: string) => statSync(settings().path + ending).size;
    let diskBytes = Number.POSITIVE_INFINITY;
    const freeBytes = () => diskBytes - bytesOf('') - bytesOf('-wal');
    writer = new SqliteWriter(settings({ freeBytesMin: 500_000 }), undefined, freeBytes);
    for (let serial = 0; serial < 100; serial += 1) writer.write([steps([buildStepRow()])]);
    expect(bytesOf('-wal')).toBeGreaterThan(500_000);
    diskBytes = bytesOf('') + bytesOf('-wal') + 400_000;
    writer.write([steps([buildStepRow()])]);
    expect(bytesOf('-wal')).toBeLessThan(100_000);
    diskBytes = bytesOf('') + 499_000;
    expect(() => writer.write([steps([buildStepRow()])])).toThrow(StoreFullError);
  });

  it('never gives a sequence number again, though all steps were deleted and the store was opened anew', () => {
    writer = new SqliteWriter(settings());
    writer.write([steps([buildStepRow({ received_at_ms: 1 }), buildStepRow({ received_at_ms: 1 })])]);
    deleteOlderSteps(2);
    expect(stored()).toEqual([]);
    writer.close();
    writer = new SqliteWriter(settings());
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    expect(stored()).toEqual(['3 a']);
  });
});

describe('a writer whose disk was full when it crashed', () => {
  /** What a killed process leaves: the database, of which no step is indexed, and its log. */
  function crash(): void {
    const [from, to] = [join(folder, 'before.db'), settings().path];
    const before = new SqliteWriter(settings({ path: from }));
    for (let call = 0; call < 40; call += 1) {
      const rows = Array.from({ length: 100 }, (_, at) => buildStepRow({ trace_id: `${call * 100 + at}` }));
      before.write([steps(rows.map((row) => ({ ...row, received_at_ms: call })))]);
    }
    for (const end of ['', '-wal', '-shm']) {
      if (existsSync(from + end)) copyFileSync(from + end, to + end);
    }
    before.close();
  }
  const look = (sql: string) => {
    const database = new SQLite(settings().path);
    const found = database.prepare(sql).pluck().get() as number;
    database.close();
    return found;
  };

  beforeEach(() => {
    crash();
    const pageCountMax = look('PRAGMA page_count') + 2;
    expect(look('SELECT count(*) FROM step_keys')).toBe(0);
    writer = new SqliteWriter(settings({ pageCountMax }));
  });

  it('starts, and knows every step that is stored', () => {
    const rows = new SQLite(settings().path, { readonly: true }).prepare('SELECT * FROM steps').all();
    const [result] = writer.write([steps(rows as StepRow[])]);
    expect(stepsOf(result)?.duplicates).toHaveLength(8_000);
    expect(stepsOf(result)).toMatchObject({ failures: null, firstSeq: 4_001 });
  });

  it('takes steps again once retention made room, and indexes what it could not', () => {
    expect(() => writer.write([steps(Array.from({ length: 400 }, () => buildStepRow()))])).toThrow(
      StoreFullError,
    );
    deleteOlderSteps(20);
    writer.write([steps(Array.from({ length: 100 }, () => buildStepRow()))]);
    writer.close();
    expect(look('SELECT count(*) FROM steps')).toBe(2_100);
    expect(look('SELECT count(DISTINCT seq) FROM step_keys')).toBe(2_100);
    writer = new SqliteWriter(settings());
  });
});

describe('a writer whose disk becomes full while it indexes', () => {
  it('has nothing indexed by the deletions that make room, whatever was tried before', () => {
    const generation = Array.from({ length: 17_000 }, (_, at) =>
      buildStepRow({ trace_id: `${at}`, received_at_ms: 1 }),
    );
    writer = new SqliteWriter(settings({ path: join(folder, 'other.db') }));
    writer.write([steps(generation)]);
    const database = new SQLite(join(folder, 'other.db'));
    const pageCountMax = (database.pragma('page_count', { simple: true }) as number) + 40;
    database.close();
    writer.close();

    writer = new SqliteWriter(settings({ pageCountMax }));
    writer.write([steps(generation)]);
    for (let call = 0; call < 20; call += 1) {
      const rows = Array.from({ length: 400 }, (_, at) => buildStepRow({ trace_id: `${call} ${at}` }));
      expect(() => writer.write([steps(rows)])).toThrow(StoreFullError);
    }
    deleteOlderSteps(2);
    expect(stored()).toEqual([]);
    writer.write([steps([buildStepRow({ trace_id: 'a' })])]);
    expect(stored()).toHaveLength(1);
  });
});

describe('a database that the writer cannot go on with', () => {
  const otherPath = () => join(folder, 'other.db');
  const alter = (sql: string) => new SQLite(otherPath()).exec(sql).close();
  const open = () => new SqliteWriter(settings({ path: otherPath() }));

  beforeEach(() => {
    writer = new SqliteWriter(settings());
  });

  it('is refused with a reason, and let go of', () => {
    open().close();
    alter('DROP TABLE step_keys');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(open).toThrow(`cannot open the store ${otherPath()}: no such table: step_keys`);
    }
  });

  it('is let go of when what is left cannot be indexed', () => {
    const other = open();
    other.write([steps([buildStepRow()])]);
    alter('ALTER TABLE step_keys RENAME TO elsewhere');
    expect(() => other.close()).toThrow('no such table');
    alter('ALTER TABLE elsewhere RENAME TO step_keys');
    open().close();
  });
});
