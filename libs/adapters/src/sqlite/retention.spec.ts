import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#kernel';
import {
  buildAlertDelivery,
  buildAlertEvent,
  buildAuditDraft,
  buildCallRow,
  buildControlRow,
  buildIncident,
  buildSemanticLoop,
  buildSessionView,
  buildStepRow,
  buildViolationEvent,
  longBody,
} from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import type { SessionAge } from './protocol.js';
import { CallTable } from './proxy/call-table.js';
import { SqliteProxyStore } from './proxy/sqlite-proxy-store.js';
import { DELETE_EMPTY_SESSIONS, Retention } from './retention.js';
import { migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { SqliteStore } from './sqlite-store.js';
import { StepTable } from './step-table.js';

let folder: string;
let path: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, 'o.db');
  store = new SqliteStore({ path, clock: systemClock, workerUrl: null, durability: 'process' });
  await store.open();
});
afterEach(() => store.close());

const traces = async () => (await store.stepsAfter(0, 10_000)).map((step) => step.trace_id);
const stepAt = (received_at_ms: number, overrides: Parameters<typeof buildStepRow>[0] = {}) =>
  buildStepRow({ trace_id: `at-${received_at_ms}`, received_at_ms, ...overrides });
const violationAt = (atMs: number) => buildViolationEvent({ timestamp: new Date(atMs).toISOString() });

describe('enforceRetention', () => {
  it('deletes what is strictly older than the bound, and counts it', async () => {
    await store.appendSteps([stepAt(10), stepAt(20), stepAt(30)]);
    await store.appendAlert('default', buildAlertEvent({ at_ms: 10 }));
    await store.appendAlert('default', buildAlertEvent({ at_ms: 20 }));
    await store.appendViolation('default', violationAt(10));
    expect(await store.enforceRetention({ beforeMs: 20, bytesMax: null })).toMatchObject({
      deleted_count: 3,
    });
    expect(await traces()).toEqual(['at-20', 'at-30']);
    expect(
      (await store.alerts({ tenant_id: 'default', limit: 9 })).items.map((alert) => alert.at_ms),
    ).toEqual([20]);
    expect((await store.violations({ tenant_id: 'default', limit: 9 })).items).toEqual([]);
    expect(await store.enforceRetention({ beforeMs: 20, bytesMax: null })).toMatchObject({
      deleted_count: 0,
    });
  });

  it('never deletes held steps, the audit or controls, however many stand in the way', async () => {
    const held = Array.from({ length: 1_200 }, (_, index) => stepAt(index, { held: 1 }));
    await store.appendSteps([...held, stepAt(5_000), stepAt(9_000)]);
    await store.commitControl({ control: buildControlRow(), audit: [buildAuditDraft({ at_ms: 1 })] });
    expect(await store.enforceRetention({ beforeMs: 9_000, bytesMax: 0 })).toMatchObject({
      deleted_count: 2,
    });
    expect(await store.heldCounts()).toMatchObject([{ session_id: 'session-1', held_count: 1_200 }]);
    expect(await store.controls(1)).toHaveLength(1);
    expect(await store.verifyAudit('default')).toMatchObject({ ok: true, entry_count: 1 });
  });

  it('lets session rows without steps go, unless an operator holds the session', async () => {
    const view = (session_id: string, last_seen_ms: number) => ({
      tenant_id: 'default',
      view: buildSessionView({ session_id, last_seen_ms }),
    });
    await store.appendSteps([
      stepAt(1, { session_id: 'gone' }),
      stepAt(2, { session_id: 'holding', held: 1 }),
      stepAt(90, { session_id: 'fresh' }),
    ]);
    const old = ['gone', 'ended'].map((name) => view(name, 1));
    await store.saveSessions([...old, view('holding', 2), view('paused', 3), view('fresh', 90)], 3);
    for (const [session_id, state] of [
      ['paused', 'paused'],
      ['ended', 'terminated'],
    ] as const)
      await store.commitControl({ control: buildControlRow({ session_id, state }) });
    for (const session_id of ['gone', 'ended', 'paused'])
      await store.appendAlert('default', buildAlertEvent({ session_id, at_ms: 1 }));
    await store.enforceRetention({ beforeMs: 50, bytesMax: null });
    const { items } = await store.sessions({ tenant_id: 'default', limit: 9 });
    expect(items.map((item) => item.session_id)).toEqual(['fresh', 'paused', 'holding']);
    for (const session_id of ['gone', 'ended'])
      expect(await store.alertGroup('default', session_id)).toBeNull();
    // Whoever decides on it is still told why it was paused, after a restart, too.
    expect(await store.alertGroup('default', 'paused')).toMatchObject({ alert_count: 1 });
  });

  it('lets old alert groups go among young ones, a bounded piece at a time', () => {
    const database = new SQLite(path);
    const insert = database.prepare("INSERT INTO alert_groups VALUES ('default', ?, 'a', 1, 0, ?, '{}')");
    database.transaction(() => {
      for (let n = 0; n < 9_000; n += 1) insert.run(`s${(n * 7_919) % 9_000}`, n % 3 === 0 ? 90 : 10);
    })();
    const retention = new Retention(database, new StepTable(database), new CallTable(database));
    const pieces: number[] = [];
    for (let afterSeq: number | null = 0; afterSeq !== null; ) {
      const piece = retention.deleteAlertGroups(50, afterSeq);
      pieces.push(piece.deleted_count);
      afterSeq = piece.nextSeq;
    }
    expect(Math.max(...pieces)).toBeLessThanOrEqual(500);
    expect(pieces.reduce((sum, count) => sum + count)).toBe(6_000);
    const left = database.prepare('SELECT count(*), min(last_at_ms) FROM alert_groups').raw().get();
    expect(left).toEqual([3_000, 90]);
    database.close();
  });

  it('looks at a bounded piece of the old sessions at a time, though none of them may go, and goes on behind them', () => {
    const database = new SQLite(path);
    const insert = database.prepare(
      "INSERT INTO sessions VALUES ('default', ?, 'a', 'normal', 0, ?, '', '{}')",
    );
    database.transaction(() => {
      for (let n = 0; n < 2_600; n += 1) insert.run(`s${n}`, n < 2_400 ? n >> 1 : n);
    })();
    const retention = new Retention(database, new StepTable(database), new CallTable(database));
    let looks = 0;
    database.function('has_young_step', (_key) => {
      looks += 1;
      return looks <= 2_400 ? 1 : 0;
    });
    const looksAfterPieces: number[] = [];
    for (let after: SessionAge | null = [0, 0]; after !== null; ) {
      after = retention.deleteEmptySessions(2_500, after).next;
      looksAfterPieces.push(looks);
    }
    expect(looksAfterPieces).toEqual([500, 1_000, 1_500, 2_000, 2_500, 2_500]);
    const left = database.prepare('SELECT count(*), max(last_seen_ms) FROM sessions').raw().get();
    expect(left).toEqual([2_500, 2_599]);
    database.close();
  });

  it('deletes the oldest of all kinds until the database fits, and gives the space back', async () => {
    const body = longBody(3_000);
    await store.appendSteps(Array.from({ length: 3_000 }, (_, index) => stepAt(index, { body })));
    await store.appendViolation('default', violationAt(5));
    await store.appendViolation('default', violationAt(2_999));
    const usedBytes = () => {
      const database = new SQLite(path, { readonly: true });
      const read = (name: string) => database.pragma(name, { simple: true }) as number;
      const sizes = {
        used: (read('page_count') - read('freelist_count')) * 4_096,
        file: read('page_count') * 4_096,
      };
      database.close();
      return sizes;
    };
    const bytesMax = usedBytes().used / 2;
    const { deleted_count } = await store.enforceRetention({ beforeMs: null, bytesMax });
    expect(usedBytes().used).toBeLessThanOrEqual(bytesMax);
    expect(usedBytes().file).toBeLessThan(bytesMax * 1.3);
    const left = await traces();
    expect(left.length).toBeGreaterThan(900);
    expect(left.length).toBe(3_000 + 1 - deleted_count);
    expect(left.at(-1)).toBe('at-2999');
    expect((await store.violations({ tenant_id: 'default', limit: 9 })).items).toHaveLength(1);
  });

  it('is not outrun by steps that come all the while, and comes to its end among them', async () => {
    let written = 0;
    const flood = () => {
      written += 1_000;
      return store.appendSteps(Array.from({ length: 1_000 }, (_, at) => stepAt(written + at)));
    };
    for (let count = 0; count < 10; count += 1) await flood();
    let isOver = false;
    const run = store.enforceRetention({ beforeMs: null, bytesMax: 2_000_000 }).finally(() => {
      isOver = true;
    });
    let floods = 0;
    for (; !isOver && floods < 60; floods += 1) await flood();
    expect(isOver).toBe(true);
    // More than there was at its beginning.
    expect((await run).deleted_count).toBeGreaterThan(10_000);
  });

  it('counts on the room of sessions that it leaves without steps: no more steps go than must', async () => {
    const count = 3_000;
    await store.appendSteps(
      Array.from({ length: count }, (_, at) => stepAt(at, { session_id: `session-of-${at}` })),
    );
    const view = { last_intent: 'x'.repeat(3_000) };
    const rows = Array.from({ length: count }, (_, at) => ({
      tenant_id: 'default',
      view: buildSessionView({ ...view, session_id: `session-of-${at}`, last_seen_ms: at }),
    }));
    await store.saveSessions(rows, count);
    await store.enforceRetention({ beforeMs: null, bytesMax: 15_000_000 });
    const left = await traces();
    expect(left.length).toBeGreaterThan(count / 4);
    expect(left.length).toBeLessThan(count);
    const database = new SQLite(path, { readonly: true });
    expect(database.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(left.length + 1);
    database.close();
  });

  it('takes along what its last steps leave behind, and counts on the room of that, too', async () => {
    const count = 900;
    const name = (at: number) => `session-of-${at}`;
    await store.appendSteps(Array.from({ length: count }, (_, at) => stepAt(at, { session_id: name(at) })));
    const rows = Array.from({ length: count }, (_, at) => ({
      tenant_id: 'default',
      view: buildSessionView({ session_id: name(at), last_seen_ms: at, last_intent: 'x'.repeat(3_000) }),
    }));
    await store.saveSessions(rows, count);
    for (const at_ms of [1, count]) {
      const alert = buildAlertEvent({ session_id: name(at_ms), at_ms });
      await store.appendAlert('default', alert);
    }
    // Less than the sessions alone, and more than what is left without them.
    expect(await store.enforceRetention({ beforeMs: null, bytesMax: 1_000_000 })).toEqual({
      deleted_count: count + 2,
      is_over_bytes: false,
    });
    expect((await store.sessions({ tenant_id: 'default', limit: 9 })).items).toEqual([]);
    expect(await store.alertGroup('default', name(1))).toBeNull();
  });

  it.each([40, 150])(
    'is not misled by %i steps that a wrong clock has stamped with a time to come',
    async (count) => {
      const body = longBody(3_000);
      const wrong = Array.from({ length: count }, (_, index) => stepAt(9_000_000 + index, { body }));
      const right = Array.from({ length: 1_500 }, (_, index) => stepAt(1_000 + index, { body }));
      await store.appendSteps([...wrong, ...right]);
      await store.appendViolation('default', violationAt(999));
      for (let at = 0; at < 50; at += 1) await store.appendViolation('default', violationAt(2_000 + at));
      const { deleted_count } = await store.enforceRetention({ beforeMs: null, bytesMax: 4_500_000 });
      expect(deleted_count).toBeGreaterThan(count);
      expect(deleted_count).toBeLessThan(1_000);
      expect((await store.violations({ tenant_id: 'default', limit: 99 })).items).toHaveLength(50);
      expect((await traces())[0]).not.toContain('at-900');
    },
  );

  it('bounds a database that grows by calls, by age and by size, and keeps incidents, sums and documents', async () => {
    const proxy = new SqliteProxyStore(store.database);
    const filler = 'x'.repeat(2_000);
    const calls = Array.from({ length: 4_000 }, (_, index) =>
      buildCallRow({ call_id: `call-of-${index}`, started_at_ms: index, detail: filler }),
    );
    await proxy.appendCalls(calls);
    await proxy.appendIncident('default', buildIncident());
    const prices = { tenant_id: 'default', kind: 'prices', id: 'p', body: 1, updated_at_ms: 1 } as const;
    await proxy.commitDocuments({ saved: [prices] });
    await proxy.saveDelivery(buildAlertDelivery({ delivery_id: 'pending', created_at_ms: 1 }));
    await proxy.saveDelivery(buildAlertDelivery({ state: 'delivered', created_at_ms: 1 }));
    for (const at_ms of [1, 4_500]) await proxy.appendSemanticLoop('default', buildSemanticLoop({ at_ms }));
    expect(await store.enforceRetention({ beforeMs: 1_000, bytesMax: null })).toMatchObject({
      deleted_count: 1_002,
    });
    expect(await proxy.call('default', 'call-of-999')).toBeNull();

    const bytesMax = 8_000_000;
    await store.enforceRetention({ beforeMs: null, bytesMax });
    const left = (await proxy.calls({ tenant_id: 'default', limit: 500 })).items;
    expect(left[0]?.call_id).toBe('call-of-3999');
    expect(await proxy.call('default', 'call-of-1000')).toBeNull();
    const database = new SQLite(path, { readonly: true });
    expect(database.pragma('page_count', { simple: true })).toBeLessThan((bytesMax * 1.3) / 4_096);
    const keptBlock = database.prepare('SELECT min(block) FROM call_blocks').pluck().get();
    database.close();
    expect(keptBlock).toBeGreaterThan(0);

    await store.enforceRetention({ beforeMs: 5_000, bytesMax: 0 });
    expect((await proxy.calls({ tenant_id: 'default', limit: 9 })).items).toEqual([]);
    expect((await proxy.semanticLoops({ tenant_id: 'default', limit: 9 })).items).toEqual([]);
    expect(await proxy.openIncidents()).toHaveLength(1);
    expect(await proxy.documents('prices')).toHaveLength(1);
    expect((await proxy.pendingDeliveries()).map((each) => each.delivery_id)).toEqual(['pending']);
    const spend = { tenant_id: 'default', group: 'agent', from_ms: 0, to_ms: 5_000 } as const;
    expect(await proxy.spend(spend)).toMatchObject([{ call_count: 4_000 }]);
  });

  it('says when all that may go is gone, and the database is larger than it may be still', async () => {
    const detail = { note: 'x'.repeat(10_000) };
    await store.commitControl({ audit: Array.from({ length: 200 }, () => buildAuditDraft({ detail })) });
    await store.appendSteps(Array.from({ length: 300 }, (_, index) => stepAt(index)));
    expect(await store.enforceRetention({ beforeMs: null, bytesMax: 1_000_000 })).toEqual({
      deleted_count: 300,
      is_over_bytes: true,
    });
    await store.appendSteps(Array.from({ length: 300 }, (_, index) => stepAt(index)));
    expect(await store.enforceRetention({ beforeMs: null, bytesMax: 5_000_000 })).toEqual({
      deleted_count: 0,
      is_over_bytes: false,
    });
  });

  it('leaves room for other writes between its pieces', async () => {
    await store.appendSteps(Array.from({ length: 3_000 }, (_, index) => stepAt(index)));
    const order: string[] = [];
    const retention = store
      .enforceRetention({ beforeMs: 10_000, bytesMax: null })
      .then(() => order.push('retention'));
    const write = store.appendSteps([stepAt(20_000)]).then(() => order.push('write'));
    await Promise.all([retention, write]);
    expect(order).toEqual(['write', 'retention']);
  });

  it('has the entries of deleted steps swept before it looks, by them, for sessions left without steps', async () => {
    await store.appendSteps(Array.from({ length: 500 }, (_, index) => stepAt(index)));
    await store.close();
    await store.open();
    await store.saveSessions([{ tenant_id: 'default', view: buildSessionView({ last_seen_ms: 1 }) }], 500);
    const database = new SQLite(path, { readonly: true });
    const entries: unknown[] = [];
    const { pump } = store.database;
    const call = pump.call.bind(pump);
    vi.spyOn(pump, 'call').mockImplementation((name, ...rest) => {
      if (name === 'deleteEmptySessions')
        entries.push(database.prepare('SELECT count(*) FROM step_keys').pluck().get());
      return call(name, ...rest);
    });
    await store.enforceRetention({ beforeMs: 1_000, bytesMax: null });
    database.close();
    expect(entries).toEqual([0]);
  });

  it('asks memory which sessions have steps not indexed yet: their rows are not read for each piece', () => {
    const database = new SQLite(':memory:');
    migrate(database);
    new Retention(database, new StepTable(database), new CallTable(database));
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${DELETE_EMPTY_SESSIONS}`).all(0, 0, 1, 1) as {
      detail: string;
    }[];
    const looks = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) /.test(detail));
    expect(looks).toEqual([
      'SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH s USING INDEX sessions_by_age (last_seen_ms>? AND last_seen_ms<?)',
      'SCAN g VIRTUAL TABLE INDEX 1:',
      'SEARCH k USING PRIMARY KEY (segment=? AND key=? AND part=?)',
      'SEARCH t USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH c USING INDEX sqlite_autoindex_controls_1 (tenant_id=? AND session_id=?)',
    ]);
  });
});
