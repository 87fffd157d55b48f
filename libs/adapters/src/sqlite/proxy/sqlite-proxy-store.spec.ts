import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  buildAlertDelivery,
  buildAuditDraft,
  buildCallRow,
  buildIncident,
  buildStepRow,
  FakeClock,
} from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import type { SqliteDatabaseOptions } from '../sqlite-database.js';
import { SqliteStore } from '../sqlite-store.js';
import type { StoreEvent } from '../store-event.js';
import { SqliteProxyStore } from './sqlite-proxy-store.js';

let folder: string;
let events: StoreEvent[];
let steps: SqliteStore;
let store: SqliteProxyStore;

async function openStore(options: Partial<SqliteDatabaseOptions> = {}): Promise<void> {
  steps = new SqliteStore({
    path: join(folder, 'o.db'),
    clock: new FakeClock(),
    onEvent: (event) => events.push(event),
    durability: 'process',
    freeBytesMin: 0,
    workerUrl: null,
    ...options,
  });
  await steps.open();
  store = new SqliteProxyStore(steps.database);
}

beforeEach(() => {
  folder = temporaryFolder();
  events = [];
});
afterEach(() => steps.close());

const calls = (count: number) => Array.from({ length: count }, () => buildCallRow());
const commits = () => events.filter((event) => event.kind === 'committed');
const spend = () => store.spend({ tenant_id: 'default', group: 'agent', from_ms: 0, to_ms: 3_600_000 });

describe('SqliteProxyStore', () => {
  it('shares one commit with the steps of the same tick, and counts every call', async () => {
    await openStore();
    await Promise.all([
      store.appendCalls(calls(9)),
      steps.appendSteps([buildStepRow()]),
      store.appendCalls(calls(4)),
      store.commitDocuments({
        saved: [{ tenant_id: 'default', kind: 'continued_answer', id: 'a', body: 1, updated_at_ms: 1 }],
      }),
    ]);
    expect(commits()).toMatchObject([{ rowCount: 15 }]);
  });

  it('keeps documents and what the audit says of them, or neither', async () => {
    await openStore();
    const document = { tenant_id: 'default', kind: 'upstream', id: 'a', body: 1, updated_at_ms: 1 } as const;
    await store.commitDocuments({ saved: [document], audit: [buildAuditDraft({ action: 'one' })] });
    const unaudited = store.commitDocuments({
      saved: [
        { ...document, body: 2 },
        { ...document, id: 'b' },
      ],
      deleted: [{ ...document, id: 'a' }],
      audit: [buildAuditDraft(), buildAuditDraft({ action: 'two', at_ms: 'soon' as never })],
    });
    await expect(unaudited).rejects.toThrow();
    await store.commitDocuments({ saved: [{ ...document, id: 'c' }], deleted: [{ ...document, id: 'c' }] });
    expect(await store.documents('upstream')).toEqual([document]);
    const { items } = await steps.audit({ tenant_id: 'default', limit: 9 });
    expect(items.map(({ action }) => action)).toEqual(['one']);
  });

  it('keeps a batch whole or not at all, its sums included, and none beside it suffers', async () => {
    await openStore();
    const faulty = [buildCallRow(), buildCallRow({ started_at_ms: Number.NaN })];
    const settled = await Promise.allSettled([
      store.appendCalls(calls(2)),
      store.appendCalls(faulty),
      store.appendCalls(calls(3)),
    ]);
    expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { items } = await store.calls({ tenant_id: 'default', limit: 9 });
    expect(items.map((call) => call.seq)).toEqual([5, 4, 3, 2, 1]);
    expect(await spend()).toMatchObject([{ call_count: 5 }]);
  });

  it('refuses calls beyond the bounds of the queue, and takes an incident and a delivery all the same', async () => {
    await openStore({ queueCountMax: 10 });
    const first = store.appendCalls(calls(10));
    await expect(store.appendCalls(calls(1))).rejects.toMatchObject({
      code: 'store_busy',
      extra: { retryAfterSeconds: 1 },
    });
    expect(steps.refusal('default')).toBeNull();
    await store.appendIncident('default', buildIncident());
    await store.saveDelivery(buildAlertDelivery());
    expect(await first).toHaveLength(10);
    expect(events).toContainEqual({ kind: 'refused', reason: 'store_busy', rowCount: 1 });
  });

  it('bounds the bytes of the calls that wait, too', async () => {
    await openStore({ queueBytesMax: 3_000 });
    const first = store.appendCalls(calls(10));
    await expect(store.appendCalls(calls(1))).rejects.toMatchObject({ code: 'store_busy' });
    await first;
  });

  it('keeps nothing of a batch for which there is no room', async () => {
    await openStore({ pageCountMax: 100 });
    const large = Array.from({ length: 400 }, () => buildCallRow({ detail: 'x'.repeat(900) }));
    await expect(store.appendCalls(large)).rejects.toMatchObject({
      code: 'store_full',
      extra: { retryAfterSeconds: 5 },
    });
    expect((await store.calls({ tenant_id: 'default', limit: 1 })).items).toEqual([]);
    expect(await spend()).toEqual([]);
  });
});
