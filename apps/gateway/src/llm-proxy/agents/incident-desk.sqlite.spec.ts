/** What becomes of the evidence for the kill switch's stops on a disk that is full. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { type Incident, ObservatoryError } from '#contracts';
import { buildIncident, FakeTime } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { ADMIN } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { AgentDirectory } from './agent-directory.js';
import { fillDisk } from './full-disk.fixture.js';
import { IncidentDesk, UNSAVED_INCIDENTS_MAX } from './incident-desk.js';

const PAGES = 400;

let folder: string;
let time: FakeTime;
let store: SqliteStore;
let proxyStore: SqliteProxyStore;
let desk: IncidentDesk;
let unsaved: string[];
let shown: Incident[];
let lostCount: number;
let told: unknown[];

beforeEach(async () => {
  folder = temporaryFolder();
  time = new FakeTime();
  unsaved = [];
  shown = [];
  lostCount = 0;
  told = [];
  const path = join(folder, 'o.db');
  store = new SqliteStore({ path, clock: time, workerUrl: null, pageCountMax: PAGES, durability: 'process' });
  await store.open();
  proxyStore = new SqliteProxyStore(store.database);
  const agents = new AgentDirectory({
    store: proxyStore,
    audit: new SettingsAudit(store, time),
    clock: time,
    timer: time,
    onPolicy: () => {},
    onClosed: () => {},
    onUnsaved: () => {},
  });
  await agents.load();
  desk = new IncidentDesk({
    agents,
    windows: { forgetWhere: () => 0 },
    store: proxyStore,
    live: {
      publish: (_tenantId: string, _topic: string, incident: Incident) => void shown.push(incident),
    } as never,
    alerts: { note: (event) => void told.push(event) },
    events: {
      killed: (tenantId, { incident_id }) => void told.push(`${incident_id} of ${tenantId}`),
      incidentUnsaved: (incidentId) => void unsaved.push(incidentId),
      incidentLost: () => void lostCount++,
    },
    timer: time,
    nowMs: () => time.nowMs(),
  });
});
afterEach(() => store.close());

const makeRoom = () => store.enforceRetention({ beforeMs: Number.MAX_SAFE_INTEGER, bytesMax: null });
const open = (incident_id: string, agent_id = 'crawler', tenantId = 'default') =>
  desk.open(tenantId, buildIncident({ incident_id, agent_id }));
const kept = async () => (await proxyStore.incidents({ tenant_id: 'default', limit: 500 })).items;

test('a stop is counted and alerted with what it was measured by', () => {
  const incident = buildIncident({ incident_id: 'inc-1', agent_id: 'crawler' });
  desk.open('red', { ...incident, breakdown: { ...incident.breakdown, score: 13 }, threshold: 10 });
  expect(told).toEqual([
    'inc-1 of red',
    {
      kind: 'incident',
      tenant_id: 'red',
      agent_id: 'crawler',
      session_id: incident.session_id,
      at_ms: incident.at_ms,
      score: 13,
      threshold: 10,
      incident_id: 'inc-1',
    },
  ]);
});

test('evidence that a full disk refuses is shown at once, and written once there is room', async () => {
  await fillDisk(store);
  open('inc-1');
  open('inc-2', 'other');
  await desk.settled();
  expect(unsaved).toEqual(['inc-1', 'inc-2']);
  expect(shown.map(({ incident_id }) => incident_id)).toEqual(['inc-1', 'inc-2']);
  expect(await kept()).toEqual([]);
  await makeRoom();
  await time.pass(60_000);
  await expect.poll(async () => (await kept()).length).toBe(2);
  expect((await kept()).map(({ evidence }) => evidence)).toEqual([
    buildIncident().evidence,
    buildIncident().evidence,
  ]);
  expect(shown.at(-1)?.seq).toBeGreaterThan(0);
});

test('at the end, what a store refuses that is busy for a moment is tried until it is kept', async () => {
  const { appendIncident } = proxyStore;
  Object.assign(proxyStore, { appendIncident: () => Promise.reject(new ObservatoryError('store_busy')) });
  open('inc-1');
  open('inc-2', 'other');
  const stopped = desk.stop();
  await time.pass(300);
  Object.assign(proxyStore, { appendIncident });
  await time.pass(1_000);
  await stopped;
  expect((await kept()).map(({ incident_id }) => incident_id).sort()).toEqual(['inc-1', 'inc-2']);
});

test('what an operator closes before it is written stays closed', async () => {
  await fillDisk(store);
  open('inc-1');
  await desk.settled();
  expect(unsaved).toEqual(['inc-1']);
  await expect(desk.reactivate(ADMIN, 'crawler')).rejects.toThrow();
  await makeRoom();
  await time.pass(1_000);
  expect(await desk.reactivate(ADMIN, 'crawler')).toBe('reactivated');
  await time.pass(60_000);
  expect(await kept()).toMatchObject([{ incident_id: 'inc-1', reactivated_by: ADMIN.operator_id }]);
  expect(await proxyStore.openIncidents()).toEqual([]);
});

test('no more wait than have places, and one tenant takes no more than half of them', async () => {
  // What was written at once had no place to give back.
  open('kept', 'kept', 'third');
  await desk.settled();
  await fillDisk(store);
  const half = UNSAVED_INCIDENTS_MAX / 2;
  for (let count = 0; count <= half; count += 1) open(`inc-${count}`);
  for (let count = 0; count <= half; count += 1) open(`theirs-${count}`, 'crawler', 'other');
  open('third-0', 'crawler', 'third');
  await desk.settled();
  expect(unsaved).toHaveLength(UNSAVED_INCIDENTS_MAX + 3);
  expect(lostCount).toBe(3);
  await makeRoom();
  await time.pass(60_000);
  await expect.poll(async () => (await proxyStore.openIncidents()).length).toBe(UNSAVED_INCIDENTS_MAX + 1);
  const ids = (await proxyStore.openIncidents()).map(({ incident }) => incident.incident_id);
  expect(ids.filter((id) => id.startsWith('theirs-'))).toHaveLength(half);

  // Each place was given back.
  await fillDisk(store);
  for (let count = 0; count < half; count += 1) open(`again-${count}`);
  await desk.settled();
  expect(lostCount).toBe(3);
});
