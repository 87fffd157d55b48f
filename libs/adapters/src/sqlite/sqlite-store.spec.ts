import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ObservatoryError, SEVERITIES } from '#contracts';
import { buildAuditDraft, buildSessionView, buildStepRow, FakeClock, longBody } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { STEP_COLUMNS } from './protocol.js';
import { MIGRATIONS, migrate } from './schema.js';
import type { SqliteDatabaseOptions } from './sqlite-database.js';
import { SQLite } from './sqlite-library.js';
import { SqliteStore } from './sqlite-store.js';
import type { StoreEvent } from './store-event.js';

const BUSY = { code: 'store_busy', status: 503, extra: { retryAfterSeconds: 1 } };
const FULL = { code: 'store_full', status: 503, extra: { retryAfterSeconds: 5 } };

let folder: string;
let clock: FakeClock;
let events: StoreEvent[];
let store: SqliteStore;

async function openStore(options: Partial<SqliteDatabaseOptions> = {}): Promise<void> {
  store = new SqliteStore({
    path: join(folder, 'o.db'),
    clock,
    onEvent: (event) => events.push(event),
    durability: 'process',
    freeBytesMin: 0,
    workerUrl: null,
    ...options,
  });
  await store.open();
}

beforeEach(() => {
  folder = temporaryFolder();
  clock = new FakeClock(1_000_000);
  events = [];
});
afterEach(() => store.close());

const eventsOf = <Kind extends StoreEvent['kind']>(kind: Kind) =>
  events.filter((event): event is Extract<StoreEvent, { kind: Kind }> => event.kind === kind);
const refused = (reason: 'store_busy' | 'store_full', rowCount: number) => ({
  kind: 'refused',
  reason,
  rowCount,
});
const steps = (count: number) => Array.from({ length: count }, () => buildStepRow());
const large = (count: number) => steps(count).map((row) => ({ ...row, body: longBody(600) }));

describe('the write-ahead log', () => {
  const sizeOf = async (name: string) => (await stat(join(folder, name))).size;
  const appendMegabytes = async (count: number) => {
    for (let at = 0; at < count; at += 1) await store.appendSteps(large(1_000));
  };

  it('is folded into the database long before the writer would do so', async () => {
    await openStore();
    const sizeBefore = await sizeOf('o.db');
    await appendMegabytes(6);
    await expect.poll(() => sizeOf('o.db')).toBeGreaterThan(sizeBefore + 3_000_000);
    // The writer folds the log where it has 8,000 pages of 4 KiB, and begins it anew.
    expect(await sizeOf('o.db-wal')).toBeLessThan(16_000_000);
  });

  it('is folded in whole when the store closes, also where somebody is at it', async () => {
    await openStore();
    await appendMegabytes(6);
    await store.close();
    await expect(sizeOf('o.db-wal')).rejects.toThrow('ENOENT');
    await openStore();
    expect(await store.stepsAfter(5_999, 9)).toHaveLength(1);
  });
});

describe('group commit', () => {
  it('shares one commit among the writes of one tick, and commits what operators do apart: a full disk may refuse the others', async () => {
    await openStore();
    await Promise.all([
      ...steps(14).map((row) => store.appendSteps([row])),
      store.commitControl({ audit: [buildAuditDraft()] }),
      store.commitControl({ audit: [buildAuditDraft()] }),
    ]);
    expect(eventsOf('committed')).toMatchObject([{ rowCount: 14 }, { rowCount: 2 }]);
  });

  const committedRows = () => eventsOf('committed').map((event) => event.rowCount);
  const appendEach = (count: number) => Promise.all(steps(count).map((row) => store.appendSteps([row])));

  it('lets the thread begin while a tick with many writes goes on', async () => {
    await openStore();
    await appendEach(129);
    expect(committedRows()).toEqual([32, 32, 65]);
  });

  it('sends a second batch ahead once it is as large as the first', async () => {
    await openStore();
    await Promise.all([store.appendSteps(steps(40)), appendEach(45)]);
    expect(committedRows()).toEqual([40, 40, 5]);
  });

  it('lets 250 rows go ahead of any batch', async () => {
    await openStore();
    await Promise.all([store.appendSteps(steps(600)), appendEach(255)]);
    expect(committedRows()).toEqual([600, 250, 5]);
  });

  it('shares the next commit among what arrives while one is under way', async () => {
    await openStore();
    const first = store.appendSteps(steps(1));
    // setImmediate runs after the first batch has left: these find the thread busy.
    const later = new Promise((resolve) => setImmediate(resolve)).then(() => appendEach(15));
    await Promise.all([first, later]);
    expect(committedRows()).toEqual([1, 15]);
  });

  it('has what it acknowledged on disk: another connection sees it', async () => {
    await openStore();
    for (let round = 0; round < 20; round += 1) {
      const [commit] = await store.appendSteps(steps(1));
      expect((await store.stepsAfter((commit?.seq ?? 0) - 1, 1))[0]?.seq).toBe(commit?.seq);
    }
  });

  it('refuses one faulty call and keeps the others of its commit', async () => {
    await openStore();
    const untold = { ...buildAuditDraft(), detail: { count: 1n } as never };
    const settled = await Promise.allSettled([
      store.appendSteps(steps(2)),
      store.appendSteps([{ ...buildStepRow(), held: 7 }]),
      store.appendSteps([{ ...buildStepRow(), body: undefined as unknown as string }]),
      store.saveSettings(new Map([['a', 1]])),
      store.commitControl({ audit: [untold] }),
      store.saveSettings(new Map([['a', 2]]), untold),
      store.appendSteps(steps(1)),
    ]);
    expect(settled.map((each) => each.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await store.settings()).toEqual(new Map([['a', 1]]));
    expect(await store.stepsAfter(0, 9)).toHaveLength(3);
    expect(store.queuedCount).toBe(0);
  });
});

describe('a full queue', () => {
  it('refuses steps with store_busy and takes them again once it has drained', async () => {
    await openStore({ queueCountMax: 10 });
    const accepted = store.appendSteps(steps(9));
    expect(store.refusal('default')).toBeNull();
    await expect(store.appendSteps(steps(2))).rejects.toMatchObject(BUSY);
    const last = store.appendSteps(steps(1));
    expect(store.refusal('default')).toBe('store_busy');
    expect(store.queuedCount).toBe(10);
    expect(eventsOf('refused')).toEqual([refused('store_busy', 2), refused('store_busy', 1)]);
    await Promise.all([accepted, last]);
    expect(store.refusal('default')).toBeNull();
    await store.appendSteps(steps(10));
    expect(await store.stepsAfter(0, 99)).toHaveLength(20);
  });

  it('is bounded by bytes as well as by rows', async () => {
    await openStore({ queueBytesMax: 5_000 });
    const accepted = store.appendSteps(large(5));
    expect(store.refusal('default')).toBe('store_busy');
    await expect(store.appendSteps(steps(1))).rejects.toMatchObject(BUSY);
    await accepted;
    expect(store.refusal('default')).toBeNull();
  });

  it('of one tenant leaves room for what another sends, be it many rows or long ones', async () => {
    const quiet = () => store.appendSteps([buildStepRow({ tenant_id: 'quiet' })]);
    for (const [options, waiting] of [
      [{ queueCountMax: 10 }, steps(10)],
      [{ queueBytesMax: 5_000 }, large(5)],
    ] as const) {
      await openStore(options);
      const loud = store.appendSteps([...waiting]);
      expect(store.refusal('default')).toBe('store_busy');
      expect(store.refusal('quiet')).toBeNull();
      const violation = store.appendViolation('default', { timestamp: '' } as never);
      await expect(Promise.all([violation])).rejects.toMatchObject(BUSY);
      expect(await quiet()).toHaveLength(1);
      await loud;
      expect(store.refusal('default')).toBeNull();
      await store.close();
    }
  });

  it('still takes commands of operators, as many as have room beyond it', async () => {
    await openStore({ queueCountMax: 1 });
    const ofTenant = (tenant_id: string) => store.appendSteps([buildStepRow({ tenant_id })]);
    const accepted = [ofTenant('one'), ofTenant('two')];
    await expect(ofTenant('three')).rejects.toMatchObject(BUSY);
    const command = () => store.commitControl({ audit: [buildAuditDraft()] });
    const commands = Array.from({ length: 1_000 }, command);
    await expect(command()).rejects.toMatchObject(BUSY);
    await Promise.all(accepted);
    for (const { audit } of await Promise.all(commands)) expect(audit).toHaveLength(1);
  });

  it('takes a single call larger than the bound when nothing else waits', async () => {
    await openStore({ queueCountMax: 10 });
    expect(await store.appendSteps(steps(11))).toHaveLength(11);
  });
});

describe('a full disk', () => {
  const fillUp = async () => {
    for (let round = 0; ; round += 1) {
      try {
        await store.appendSteps(large(20));
      } catch (error) {
        return { rounds: round, error: error as ObservatoryError };
      }
    }
  };

  it('refuses with store_full while its file is away, tells so once, and goes on when it is back', async () => {
    await openStore();
    const path = join(folder, 'o.db');
    await rename(path, `${path}.away`);
    await expect(store.appendSteps(steps(1))).rejects.toMatchObject(FULL);
    await expect(store.appendSteps(steps(1))).rejects.toMatchObject(FULL);
    expect(eventsOf('disk_full')).toMatchObject([{ detail: expect.stringContaining('o.db was moved away') }]);
    await rename(`${path}.away`, path);
    clock.advance(1_000);
    expect(await store.appendSteps(steps(1))).toMatchObject([{ seq: 1 }]);
  });

  it('is tried again by whoever asks whether it refuses, a second later: refused beforehand, nobody writes', async () => {
    await openStore();
    const path = join(folder, 'o.db');
    await rename(path, `${path}.away`);
    await expect(store.appendSteps(steps(1))).rejects.toMatchObject(FULL);
    await rename(`${path}.away`, path);
    clock.advance(1_000);
    expect(store.refusal('default')).toBe('store_full');
    await expect.poll(() => store.refusal('default')).toBeNull();
  });

  it('refuses with store_full, keeps nothing of what it refused, and still reads', async () => {
    await openStore({ pageCountMax: 150 });
    const { rounds, error } = await fillUp();
    expect(rounds).toBeGreaterThan(0);
    expect(error).toMatchObject(FULL);
    expect(await store.stepsAfter(0, 9_999)).toHaveLength(rounds * 20);
    expect(store.refusal('default')).toBe('store_full');
    expect(eventsOf('disk_full')).toHaveLength(1);
  });

  it('refuses at once what comes within a second, without touching the disk', async () => {
    await openStore({ pageCountMax: 150 });
    await fillUp();
    events.length = 0;
    await expect(store.appendSteps(steps(1))).rejects.toMatchObject(FULL);
    await expect(store.probe()).rejects.toMatchObject(FULL);
    expect(events).toEqual([refused('store_full', 1), refused('store_full', 1)]);
  });

  it('tells of all that it turns away: what it was given, and what nobody gives it since it refuses', async () => {
    await openStore({ pageCountMax: 150 });
    await fillUp();
    expect(eventsOf('refused')).toEqual([refused('store_full', 20)]);
    expect(store.refusal('default')).toBe('store_full');
    expect(eventsOf('refused').slice(1)).toEqual([refused('store_full', 1)]);
  });

  it('takes writes again by itself once there is room, which retention makes', async () => {
    await openStore({ pageCountMax: 300 });
    await fillUp();
    clock.advance(1_000);
    expect(store.refusal('default')).toBe('store_full');
    await expect(store.probe()).rejects.toMatchObject(FULL);
    await store.enforceRetention({ beforeMs: Number.MAX_SAFE_INTEGER, bytesMax: null });
    clock.advance(1_000);
    await store.probe();
    expect(store.refusal('default')).toBeNull();
    expect(eventsOf('disk_recovered')).not.toHaveLength(0);
    await store.appendSteps(large(20));
  });

  it('is tried again by the next write when a second has passed', async () => {
    await openStore({ pageCountMax: 300 });
    await fillUp();
    clock.advance(1_000);
    await expect(store.appendSteps(large(20))).rejects.toMatchObject(FULL);
    clock.advance(1_000);
    // Small enough to fit into a page that is begun already.
    const view = buildSessionView();
    await store.saveSessions([{ tenant_id: 'default', view }], 1);
    expect(store.refusal('default')).toBeNull();
  });
});

describe('a database of version 3', () => {
  function make(seqs: number[]): void {
    const database = new SQLite(join(folder, 'o.db'));
    migrate(database, MIGRATIONS.slice(0, 3));
    const insert = database.prepare(
      `INSERT INTO steps (seq, ${STEP_COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(STEP_COLUMNS.length)})`,
    );
    for (const seq of seqs) {
      const row = buildStepRow();
      insert.run(
        seq,
        STEP_COLUMNS.map((column) => row[column]),
      );
    }
    database.close();
  }

  it('tells how many steps are indexed before it is open, and the next time that there are none', async () => {
    make([3, 4, 9]);
    await openStore();
    expect(eventsOf('indexing')).toEqual([{ kind: 'indexing', stepCountMax: 7 }]);
    await store.close();
    await openStore();
    expect(eventsOf('indexing')).toHaveLength(1);
  });

  it('without steps has none to index', async () => {
    make([]);
    await openStore();
    expect(eventsOf('indexing')).toEqual([]);
  });

  it('tells that it is brought up to date, ahead of all else and once', async () => {
    make([3]);
    await openStore();
    expect(events[0]).toEqual({ kind: 'migrating', fromVersion: 3, toVersion: MIGRATIONS.length });
    await store.close();
    await openStore();
    expect(eventsOf('migrating')).toHaveLength(1);
  });
});

describe('the threads', () => {
  it('fail to open with the reason, and can be opened once that is gone', async () => {
    await openStore();
    const second = new SqliteStore({
      path: join(folder, 'o.db'),
      clock,
      workerUrl: null,
    });
    await expect(second.open()).rejects.toThrow('another Observatory process is using it');
    await store.close();
    await second.open();
    await second.close();
  });

  it('are asked for nothing before open and after close', async () => {
    await openStore();
    await store.close();
    expect(store.refusal('default')).toBe('store_busy');
    await expect(
      store.sessions({ tenant_id: 'default', limit: 1, severity: SEVERITIES[0] }),
    ).rejects.toMatchObject({
      code: 'draining',
    });
    await store.close();
  });
});
