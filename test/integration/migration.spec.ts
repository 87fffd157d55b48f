/** A database of an older version, opened by this one: nothing of it is lost, though the process is killed on the way. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { SQLite, SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';
import { buildCallRow, buildDecisionLog, buildSessionView, buildStepRow, everyPage } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import {
  type Primitive,
  SESSION_COLUMNS,
  STEP_COLUMNS,
  sessionWidth,
} from '../../libs/adapters/src/sqlite/protocol.js';
import { SPEND_COLUMNS } from '../../libs/adapters/src/sqlite/proxy/proxy-protocol.js';
import { spendSums } from '../../libs/adapters/src/sqlite/proxy/spend-sums.js';
import { pushSession } from '../../libs/adapters/src/sqlite/rows.js';
import { MIGRATIONS, migrate } from '../../libs/adapters/src/sqlite/schema.js';
import { buildModule } from './build-module.js';
import { startGateway } from './start-gateway.js';

const WORKER_URL = new URL('../../dist/libs/adapters/src/sqlite/sqlite-worker.js', import.meta.url);
/** Before the order of sessions held what they are filtered by, and before spend was summed up by day. */
const OLD_VERSION = 4;
const SESSIONS = 3_000;
const DAY_MS = 86_400_000;

let folder: string;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'o.db');
});

const marks = (count: number) => `?${', ?'.repeat(count - 1)}`;
const spendRow = (day: number) =>
  buildCallRow({ agent_id: `agent-${day % 3}`, started_at_ms: day * DAY_MS, cost_usd: 1 });

/** As that version left it. */
function makeOldDatabase(): void {
  const database = new SQLite(path);
  database.pragma('journal_mode = WAL');
  migrate(database, MIGRATIONS.slice(0, OLD_VERSION));
  const insert = (table: string, columns: readonly string[]) =>
    database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks(columns.length)})`);
  const addSession = insert('sessions', SESSION_COLUMNS);
  const addStep = insert('steps', [...STEP_COLUMNS, 'seq']);
  const addSpend = insert('spend_hours', SPEND_COLUMNS);
  database.transaction(() => {
    for (let index = 0; index < SESSIONS; index += 1) {
      const view = buildSessionView({
        session_id: `s-${index}`,
        last_seen_ms: index >> 1,
        ended: index % 9 === 0,
      });
      const values: Primitive[] = [];
      pushSession(values, 'default', view);
      expect(values).toHaveLength(sessionWidth);
      addSession.run(values);
      const step = buildStepRow({ session_id: view.session_id });
      addStep.run(
        STEP_COLUMNS.map((column) => step[column]),
        index + 1,
      );
    }
    for (let day = 0; day < 30; day += 1) addSpend.run(spendSums([spendRow(day)]));
  })();
  database.close();
}

async function dieMigratingTo(version: number): Promise<void> {
  const program = await buildModule('test/integration/store/die-migrating.ts');
  const child = spawn(process.execPath, [program, path, `${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

function storedVersion(): unknown {
  const database = new SQLite(path);
  const version = database.pragma('user_version', { simple: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  database.close();
  return version;
}

async function everySession(store: SqliteStore, filter: object): Promise<string[]> {
  const views = await everyPage((query) =>
    store.sessions({ ...query, tenant_id: 'default', limit: 400, ...filter }),
  );
  return views.map((view) => view.session_id);
}

it('brings an older database up to date without losing a row, killed in each step on the way', async () => {
  makeOldDatabase();
  for (let version = OLD_VERSION + 1; version <= MIGRATIONS.length; version += 1) {
    await dieMigratingTo(version);
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
    expect(storedVersion()).toBe(version - 1);
  }

  const store = new SqliteStore({ path, clock: systemClock, workerUrl: WORKER_URL });
  await store.open();
  const proxyStore = new SqliteProxyStore(store.database);
  const ids = Array.from({ length: SESSIONS }, (_, index) => `s-${index}`);
  expect((await everySession(store, {})).sort()).toEqual([...ids].sort());
  expect((await everySession(store, { ended: true })).sort()).toEqual(
    ids.filter((_, index) => index % 9 === 0).sort(),
  );
  expect(await store.stepsAfter(0, SESSIONS + 1)).toHaveLength(SESSIONS);
  expect((await store.lastTuples('default', 's-77', 9, 'name'))?.tuples).toHaveLength(1);

  const spend = () =>
    proxyStore.spend({ tenant_id: 'default', group: 'agent', from_ms: 0, to_ms: 1_000 * DAY_MS });
  const callCounts = async () => (await spend()).map((line) => line.call_count);
  expect(await callCounts()).toEqual([10, 10, 10]);
  for (let call = 0; call < 30; call += 1) await proxyStore.appendCalls([spendRow(32)]);
  expect(await callCounts()).toEqual([40, 10, 10]);
  await store.close();
  expect(storedVersion()).toBe(MIGRATIONS.length);
});

/** The first version that was stored: what agents and operators had said, and nothing of the proxy. */
function makeFirstDatabase(): void {
  const database = new SQLite(join(folder, 'observatory.db'));
  migrate(database, MIGRATIONS.slice(0, 1));
  const addStep = database.prepare(
    `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, seq) VALUES (${marks(STEP_COLUMNS.length + 1)})`,
  );
  for (const [index, held] of ([0, 0, 1, 1] as const).entries()) {
    const step = buildStepRow({ session_id: 'paused', trace_id: `t-${index}`, held });
    addStep.run(
      STEP_COLUMNS.map((column) => step[column]),
      index + 1,
    );
  }
  const control = `INSERT INTO controls (tenant_id, session_id, state, operator_id, reason, since_ms, expires_at_ms, cooperative,
    directive_seq, directives) VALUES ('default', ?, ?, 'ada', 'look', 1, NULL, 0, 0, '[]')`;
  database.prepare(control).run('paused', 'paused');
  database.prepare(control).run('ended', 'terminated');
  database.close();
}

it('a gateway on the folder of the first version says that it brings it up to date, and who was paused or ended still is', async () => {
  makeFirstDatabase();
  const gateway = await startGateway({ dataDir: folder });
  const migrating = gateway.output().indexOf('"event":"store_migrating","from_version":1,');
  expect(migrating).toBeGreaterThanOrEqual(0);
  expect(migrating).toBeLessThan(gateway.output().indexOf('"event":"store_indexing"'));

  const stateOf = async (session_id: string) => {
    const answer = await gateway.ingest(buildDecisionLog({ meta: { session_id } }));
    return (await answer.json()).control.state;
  };
  expect(await stateOf('paused')).toBe('paused');
  expect(await stateOf('ended')).toBe('terminated');
  const stored = await gateway.operator('GET', '/v1/sessions/paused/decision-logs');
  expect(stored.body.items).toHaveLength(5);
  const resumed = await gateway.operator('POST', '/v1/sessions/paused/resume', {});
  expect(resumed.body).toMatchObject({ status: 'ok', flushed_count: 3 });
  expect((await gateway.operator('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true });
  expect(await gateway.stop()).toBe(0);
});
