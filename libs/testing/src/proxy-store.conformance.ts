/**
 * What every ProxyStore must do, as one suite over any implementation. Imported by its own path and not from the
 * index, since it needs vitest.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CallFilter,
  type DocumentChange,
  INCIDENTS_READ_CHARS_MAX,
  type Incident,
  type IncidentFilter,
  type ProxyStore,
  type SpendQuery,
  type StoredDocument,
} from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';
import {
  buildAlertDelivery,
  buildAlertNotice,
  buildCallRow,
  buildIncident,
  buildSemanticLoop,
  buildUsage,
} from './build-llm-call.js';
import { everyPage } from './every-page.js';

/** A place for one store; `open` may be called again after `close`, and finds what was kept. */
export interface ProxyStorePlace {
  open(): Promise<ProxyStore>;
  close(): Promise<void>;
  /** Calls, semantic loops and finished deliveries go; sums, incidents and documents stay. */
  deleteOlder(beforeMs: number): Promise<{ deleted_count: number }>;
  remove(): Promise<void>;
}

const NOON_MS = Date.UTC(2026, 0, 31, 12);

export function describeProxyStore(name: string, makePlace: () => Promise<ProxyStorePlace>): void {
  describe(`ProxyStore: ${name}`, () => {
    let place: ProxyStorePlace;
    let store: ProxyStore;

    beforeEach(async () => {
      place = await makePlace();
      store = await place.open();
    });
    afterEach(async () => {
      await place.close();
      await place.remove();
    });

    const reopen = async () => {
      await place.close();
      store = await place.open();
    };
    const ids = (calls: { call_id: string }[]) => calls.map((call) => call.call_id);
    const found = async (filter: Partial<CallFilter>) =>
      ids((await store.calls({ tenant_id: 'default', limit: 100, ...filter })).items);

    describe('calls', () => {
      it('gives ascending numbers in the order of the rows and reads back what was written', async () => {
        const rows = [
          buildCallRow({
            usage: null,
            cache: { match: 'semantic', age_s: 12.5, cosine: 0.93, saved_usd: null },
            cost_usd: null,
            model: null,
            dialect: null,
            detail: 'träce-猫-\u0000"',
          }),
          buildCallRow({ tool_calls: [{ name: 'search', arguments_hash: 'x' }] }),
          buildCallRow({ usage: buildUsage({ search_count: 3 }) }),
          buildCallRow({ usage: buildUsage({ search_count: 3, search_preview_count: 2 }) }),
          buildCallRow({ usage: buildUsage({ file_search_count: 4 }) }),
          buildCallRow({ usage: buildUsage({ audio_input_tokens: 4, audio_output_tokens: 3 }) }),
          buildCallRow({ usage: buildUsage({ image_output_tokens: 2 }) }),
          buildCallRow({ usage: buildUsage({ charged_usd: 0.0037756 }) }),
          buildCallRow({ usage: buildUsage({ charged_usd: 0 }) }),
          buildCallRow({ usage: buildUsage({ cache_write_tokens: 9, cache_write_hour_tokens: 5 }) }),
        ];
        const seqs = await store.appendCalls(rows);
        const [later] = await store.appendCalls([buildCallRow()]);
        expect(seqs[1]).toBe((seqs[0] ?? 0) + 1);
        expect(later).toBeGreaterThan(seqs[2] ?? Number.POSITIVE_INFINITY);
        for (const [index, { call }] of rows.entries()) {
          expect(await store.call('default', call.call_id)).toEqual({ ...call, seq: seqs[index] });
        }
        expect(await store.call('default', 'unheard-of')).toBeNull();
      });

      it('takes a batch without calls as done', async () => {
        expect(await store.appendCalls([])).toEqual([]);
      });

      it('numbers batches that share a commit apart', async () => {
        const batches = Array.from({ length: 5 }, (_, index) =>
          Array.from({ length: index + 1 }, () => buildCallRow()),
        );
        const seqs = (await Promise.all(batches.map((rows) => store.appendCalls(rows)))).flat();
        expect(new Set(seqs).size).toBe(15);
        const listed = await store.calls({ tenant_id: 'default', limit: 100 });
        expect(listed.items.map((call) => [call.seq, call.call_id]).reverse()).toEqual(
          batches.flat().map(({ call }, index) => [seqs[index], call.call_id]),
        );
      });

      it('never gives a number twice, though all calls were deleted and the store was opened anew', async () => {
        const seqs = await store.appendCalls([buildCallRow(), buildCallRow()]);
        expect(await place.deleteOlder(Number.MAX_SAFE_INTEGER)).toMatchObject({ deleted_count: 2 });
        await reopen();
        const [after] = await store.appendCalls([buildCallRow()]);
        expect(after).toBeGreaterThan(seqs[1] ?? Number.POSITIVE_INFINITY);
      });

      it('pages newest first, each call once, and ends with a null cursor', async () => {
        const rows = Array.from({ length: 9 }, () => buildCallRow());
        await store.appendCalls(rows);
        const seen = await everyPage((query) => store.calls({ ...query, tenant_id: 'default' }));
        expect(ids(seen)).toEqual(ids(rows.map((row) => row.call)).reverse());
      });

      it('neither repeats nor skips a call while calls are written', async () => {
        const rows = Array.from({ length: 8 }, () => buildCallRow());
        await store.appendCalls(rows);
        const seen = await everyPage(
          (query) => store.calls({ ...query, tenant_id: 'default' }),
          () => store.appendCalls(Array.from({ length: 700 }, () => buildCallRow())),
        );
        expect(ids(seen)).toEqual(ids(rows.map((row) => row.call)).reverse());
      });

      it('filters by each column, and by all of them together', async () => {
        const rows = [
          buildCallRow({ call_id: 'plain', started_at_ms: 100 }),
          buildCallRow({ call_id: 'agent', agent_id: 'agent-2', started_at_ms: 200 }),
          buildCallRow({ call_id: 'session', session_id: 'session-2', started_at_ms: 300 }),
          buildCallRow({ call_id: 'model', model: 'claude', started_at_ms: 400 }),
          buildCallRow({ call_id: 'no-model', model: null, started_at_ms: 500 }),
          buildCallRow({ call_id: 'killed', decision: 'killed', started_at_ms: 600 }),
          buildCallRow({ call_id: 'error', status: 429, started_at_ms: 700 }),
          buildCallRow({ call_id: 'broken', decision: 'upstream_failed', started_at_ms: 800 }),
        ];
        await store.appendCalls(rows);
        expect(await found({ agent_id: 'agent-2' })).toEqual(['agent']);
        expect(await found({ session_id: 'session-2' })).toEqual(['session']);
        expect(await found({ session_ids: ['session-2', 'no-such'] })).toEqual(['session']);
        expect(await found({ model: 'claude' })).toEqual(['model']);
        expect(await found({ decision: 'killed' })).toEqual(['killed']);
        expect(await found({ failed: true })).toEqual(['broken', 'error']);
        expect(await found({ failed: false, from_ms: 500 })).toEqual(['killed', 'no-model']);
        expect(await found({ from_ms: 200, to_ms: 400 })).toEqual(['session', 'agent']);
        expect(await found({ from_ms: 801 })).toEqual([]);
        expect(
          await found({
            agent_id: 'agent-1',
            session_id: 'session-1',
            model: 'gpt-5-mini',
            decision: 'forwarded',
            failed: true,
            from_ms: 700,
            to_ms: 701,
          }),
        ).toEqual(['error']);
        expect(await found({ agent_id: '%' })).toEqual([]);
      });

      it('never shows a call of another tenant', async () => {
        await store.appendCalls([
          buildCallRow({ call_id: 'mine' }),
          buildCallRow({ call_id: 'theirs' }, 'other'),
        ]);
        expect(await found({})).toEqual(['mine']);
        expect(await found({ agent_id: 'agent-1', session_id: 'session-1' })).toEqual(['mine']);
        expect(await store.call('default', 'theirs')).toBeNull();
        expect((await store.calls({ tenant_id: 'other', limit: 9 })).items).toHaveLength(1);
      });

      it('finds a few calls among thousands, in whatever order they started', async () => {
        const rows = Array.from({ length: 5_000 }, (_, index) =>
          buildCallRow(
            {
              call_id: `call-of-${index}`,
              agent_id: `agent-${index % 10}`,
              session_id: index % 1_700 === 3 ? 'rare' : `session-${index % 90}`,
              started_at_ms: NOON_MS + ((index * 7) % 5_000),
              decision: index === 40 ? 'killed' : 'forwarded',
            },
            index % 2_000 === 1 ? 'other' : 'default',
          ),
        );
        for (let at = 0; at < rows.length; at += 777) await store.appendCalls(rows.slice(at, at + 777));
        const expected = (matches: (row: (typeof rows)[number]) => boolean) =>
          ids(
            rows.filter((row) => row.tenant_id === 'default' && matches(row)).map((row) => row.call),
          ).reverse();
        const all = async (filter: Partial<CallFilter>) =>
          ids(await everyPage((query) => store.calls({ ...query, tenant_id: 'default', ...filter })));

        expect(await all({ session_id: 'rare' })).toEqual(expected(({ call }) => call.session_id === 'rare'));
        expect(await all({ session_ids: ['rare', 'session-3'] })).toEqual(
          expected(({ call }) => ['rare', 'session-3'].includes(call.session_id)),
        );
        expect(await all({ decision: 'killed' })).toEqual(['call-of-40']);
        const window = { from_ms: NOON_MS + 100, to_ms: NOON_MS + 130 };
        expect(await all(window)).toEqual(
          expected(({ call }) => call.started_at_ms >= window.from_ms && call.started_at_ms < window.to_ms),
        );
        expect(await all({ agent_id: 'agent-3', session_id: 'session-3' })).toEqual(
          expected(({ call }) => call.agent_id === 'agent-3' && call.session_id === 'session-3'),
        );
        expect((await store.calls({ tenant_id: 'other', limit: 9 })).items).toHaveLength(3);
        expect(await store.call('default', 'call-of-40')).toMatchObject({ decision: 'killed' });
        expect(await store.call('other', 'call-of-40')).toBeNull();
      });

      it('refuses a cursor of another listing, and limits out of range', async () => {
        await store.appendCalls([buildCallRow(), buildCallRow()]);
        const { next_cursor } = await store.calls({ tenant_id: 'default', limit: 1 });
        const refused = { code: 'invalid_request', detail: expect.stringMatching(/^cursor: /) };
        const cursor = next_cursor ?? undefined;
        await expect(store.incidents({ tenant_id: 'default', limit: 1, cursor })).rejects.toMatchObject(
          refused,
        );
        await expect(store.deliveries({ tenant_id: 'default', limit: 1, cursor })).rejects.toMatchObject(
          refused,
        );
        for (const limit of [0, 501, 1.5, Number.NaN]) {
          await expect(store.calls({ tenant_id: 'default', limit })).rejects.toMatchObject({
            code: 'invalid_request',
          });
        }
      });

      it('deletes calls, semantic loops and finished deliveries that are older, and keeps sums and what is pending', async () => {
        await store.appendCalls([10, 20, 30].map((started_at_ms) => buildCallRow({ started_at_ms })));
        for (const state of ['pending', 'delivered', 'dead'] as const) {
          await store.saveDelivery(buildAlertDelivery({ delivery_id: state, state, created_at_ms: 10 }));
        }
        await store.saveDelivery(
          buildAlertDelivery({ delivery_id: 'young', state: 'delivered', created_at_ms: 20 }),
        );
        await store.appendIncident('default', buildIncident({ at_ms: 10 }));
        for (const at_ms of [10, 20]) await store.appendSemanticLoop('default', buildSemanticLoop({ at_ms }));
        expect(await place.deleteOlder(20)).toMatchObject({ deleted_count: 4 });
        const { items } = await store.calls({ tenant_id: 'default', limit: 9 });
        expect(items.map((call) => call.started_at_ms)).toEqual([30, 20]);
        const deliveries = await store.deliveries({ tenant_id: 'default', limit: 9 });
        expect(deliveries.items.map((delivery) => delivery.delivery_id)).toEqual(['young', 'pending']);
        expect((await store.incidents({ tenant_id: 'default', limit: 9 })).items).toHaveLength(1);
        const loops = await store.semanticLoops({ tenant_id: 'default', limit: 9 });
        expect(loops.items.map((loop) => loop.at_ms)).toEqual([20]);
        const spend = { tenant_id: 'default', group: 'agent', from_ms: 0, to_ms: HOUR_MS } as const;
        expect(await store.spend(spend)).toMatchObject([{ call_count: 3 }]);
        expect(await place.deleteOlder(20)).toMatchObject({ deleted_count: 0 });
      });

      it('goes on finding what is left after thousands were deleted', async () => {
        const rows = Array.from({ length: 4_000 }, (_, index) =>
          buildCallRow({ call_id: `call-of-${index}`, session_id: `s-${index % 100}`, started_at_ms: index }),
        );
        await store.appendCalls(rows);
        expect(await place.deleteOlder(2_345)).toMatchObject({ deleted_count: 2_345 });
        const left = await everyPage((query) =>
          store.calls({ ...query, tenant_id: 'default', session_id: 's-7' }),
        );
        expect(ids(left)).toEqual(
          ids(rows.slice(2_345).map((row) => row.call))
            .filter((id) => id.endsWith('07'))
            .reverse(),
        );
        expect(await store.call('default', 'call-of-2344')).toBeNull();
        expect(await store.call('default', 'call-of-2345')).not.toBeNull();
        await store.appendCalls(rows.slice(0, 1_500));
        expect(await store.call('default', 'call-of-2345')).not.toBeNull();
        expect(await found({ session_id: 's-7', limit: 1 })).toEqual(['call-of-1407']);
      });
    });

    describe('spend', () => {
      const sums = (query: Partial<SpendQuery>) =>
        store.spend({
          tenant_id: 'default',
          group: 'agent',
          from_ms: 0,
          to_ms: NOON_MS + 2 * DAY_MS,
          ...query,
        });

      it('sums by agent and by model, most expensive first, calls without a price apart', async () => {
        await store.appendCalls([
          buildCallRow({ agent_id: 'cheap', cost_usd: 0.25 }),
          buildCallRow({ agent_id: 'dear', cost_usd: 0.5, model: 'large' }),
          buildCallRow({ agent_id: 'dear', cost_usd: null, model: 'unknown' }),
          buildCallRow({ agent_id: 'dear', cost_usd: null, usage: null, model: 'unknown' }),
          buildCallRow({ agent_id: 'dear', cost_usd: null, usage: null, decision: 'killed', model: null }),
        ]);
        await store.appendCalls([
          buildCallRow({
            agent_id: 'dear',
            cost_usd: 0.125,
            model: 'large',
            usage: buildUsage({ input_tokens: 7 }),
          }),
        ]);
        expect(await sums({})).toEqual([
          {
            key: 'dear',
            call_count: 5,
            input_tokens: 207,
            cached_input_tokens: 120,
            output_tokens: 60,
            reasoning_tokens: 15,
            cost_usd: 0.625,
            unpriced_call_count: 2,
          },
          expect.objectContaining({ key: 'cheap', call_count: 1, cost_usd: 0.25, unpriced_call_count: 0 }),
        ]);
        const byModel = await sums({ group: 'model', agent_id: 'dear' });
        expect(byModel.map((line) => [line.key, line.cost_usd, line.unpriced_call_count])).toEqual([
          ['large', 0.625, 0],
          ['unknown', 0, 2],
          ['', 0, 0],
        ]);
        expect(await sums({ model: 'large' })).toMatchObject([{ key: 'dear', call_count: 2 }]);
      });

      it('adds up a very small cost ten thousand times without loss', async () => {
        await store.appendCalls(
          Array.from({ length: 10_000 }, () => buildCallRow({ cost_usd: 0.000_000_2 })),
        );
        expect((await sums({}))[0]?.cost_usd).toBe(0.002);
      });

      it('sums by hour and by day, oldest first, at their boundaries', async () => {
        const midnight = NOON_MS + 12 * HOUR_MS;
        await store.appendCalls(
          [midnight, midnight - 1, NOON_MS, NOON_MS + HOUR_MS - 1, NOON_MS + HOUR_MS].map((started_at_ms) =>
            buildCallRow({ started_at_ms, cost_usd: 1 }),
          ),
        );
        const hours = await sums({ group: 'hour' });
        expect(hours.map((line) => [line.key, line.call_count])).toEqual([
          ['2026-01-31T12:00:00.000Z', 2],
          ['2026-01-31T13:00:00.000Z', 1],
          ['2026-01-31T23:00:00.000Z', 1],
          ['2026-02-01T00:00:00.000Z', 1],
        ]);
        const days = await sums({ group: 'day' });
        expect(days.map((line) => [line.key, line.cost_usd])).toEqual([
          ['2026-01-31T00:00:00.000Z', 4],
          ['2026-02-01T00:00:00.000Z', 1],
        ]);
      });

      it('takes the hour that holds the beginning whole, and none that begins at the end', async () => {
        const at = [NOON_MS - 1, NOON_MS, NOON_MS + HOUR_MS];
        await store.appendCalls(at.map((started_at_ms) => buildCallRow({ started_at_ms })));
        const counted = await sums({
          group: 'hour',
          from_ms: NOON_MS + 59 * 60_000,
          to_ms: NOON_MS + HOUR_MS,
        });
        expect(counted.map((line) => line.key)).toEqual(['2026-01-31T12:00:00.000Z']);
      });

      it('answers with a thousand lines at most: the latest hours', async () => {
        await store.appendCalls(
          Array.from({ length: 1_010 }, (_, index) => buildCallRow({ started_at_ms: index * HOUR_MS })),
        );
        const lines = await sums({ group: 'hour' });
        expect(lines).toHaveLength(1_000);
        expect(lines.at(-1)?.key).toBe(new Date(1_009 * HOUR_MS).toISOString());
        expect(lines[0]?.key).toBe(new Date(10 * HOUR_MS).toISOString());
      });

      it('keeps tenants apart, ids that run into each other too', async () => {
        await store.appendCalls([
          buildCallRow({ agent_id: 'bc', cost_usd: 1 }, 'a'),
          buildCallRow({ agent_id: 'c', cost_usd: 2 }, 'ab'),
        ]);
        expect(await sums({ tenant_id: 'a' })).toMatchObject([{ key: 'bc', cost_usd: 1 }]);
        expect(await sums({ tenant_id: 'ab' })).toMatchObject([{ key: 'c', cost_usd: 2 }]);
        expect(await sums({})).toEqual([]);
      });

      it('lists what every agent spent per hour, over all tenants, from a whole hour on', async () => {
        await store.appendCalls([
          buildCallRow({ cost_usd: 8, started_at_ms: NOON_MS - 1 }),
          buildCallRow({ cost_usd: 0.5, started_at_ms: NOON_MS, model: 'large' }),
          buildCallRow({ cost_usd: 0.25, started_at_ms: NOON_MS + 1 }),
          buildCallRow({ cost_usd: null, started_at_ms: NOON_MS + 2 }),
          buildCallRow({ cost_usd: 2, started_at_ms: NOON_MS + HOUR_MS }),
          buildCallRow({ cost_usd: 4, started_at_ms: NOON_MS }, 'other'),
        ]);
        await reopen();
        const listed = await store.spendByAgent(NOON_MS + 60_000);
        const line = (tenant_id: string, hour_ms: number, cost_usd: number, unpriced_call_count = 0) => ({
          tenant_id,
          agent_id: 'agent-1',
          hour_ms,
          cost_usd,
          unpriced_call_count,
        });
        expect(listed).toHaveLength(3);
        expect(listed).toEqual(
          expect.arrayContaining([
            line('default', NOON_MS, 0.75, 1),
            line('default', NOON_MS + HOUR_MS, 2),
            line('other', NOON_MS, 4),
          ]),
        );
      });

      it('does not break on what an upstream claims beyond all reason', async () => {
        const usage = buildUsage({ input_tokens: Number.MAX_SAFE_INTEGER });
        const absurd = () => buildCallRow({ usage, cost_usd: 1e300 });
        for (let round = 0; round < 3; round += 1) {
          await store.appendCalls(Array.from({ length: 1_000 }, absurd));
        }
        expect(await sums({})).toMatchObject([{ call_count: 3_000 }]);
      });
    });

    describe('incidents', () => {
      const evidence = [
        {
          call_id: 'c',
          at_ms: 1,
          prompt: 'again "ü" \u0000',
          response: null,
          tool_calls: [],
          is_similar_prompt: true,
          is_similar_response: false,
          repeated_tool_call_count: 0,
          prompt_distance: 2,
        },
      ];

      it('reads back what was written, newest first, by tenant and agent', async () => {
        const first = buildIncident({ evidence });
        const second = buildIncident({ agent_id: 'agent-2' });
        const seq = await store.appendIncident('default', first);
        const secondSeq = await store.appendIncident('default', second);
        await store.appendIncident('other', buildIncident());
        expect(await store.incident('default', first.incident_id)).toEqual({ ...first, seq });
        expect(await store.incident('other', first.incident_id)).toBeNull();
        const listed = await store.incidents({ tenant_id: 'default', limit: 9 });
        expect(listed.items).toEqual([
          { ...second, seq: secondSeq },
          { ...first, seq },
        ]);
        const ofAgent = await store.incidents({ tenant_id: 'default', agent_id: 'agent-2', limit: 9 });
        expect(ofAgent.items).toEqual([{ ...second, seq: secondSeq }]);
      });

      it('ends a page of incidents with the one that fills it, and goes on behind that', async () => {
        const long = [
          { ...evidence[0], prompt: 'x'.repeat(INCIDENTS_READ_CHARS_MAX / 2) },
        ] as Incident['evidence'];
        const incidents = Array.from({ length: 5 }, () => buildIncident({ evidence: long }));
        for (const incident of incidents) await store.appendIncident('default', incident);
        const query = { tenant_id: 'default', limit: 5 };
        const first = await store.incidents(query);
        expect(first.items).toHaveLength(2);
        const all = await everyPage((page) => store.incidents({ ...query, cursor: page.cursor }));
        const ids = (some: Incident[]) => some.map(({ incident_id }) => incident_id);
        expect(ids(all)).toEqual(ids(incidents).reverse());
        const ofAgent = await store.incidents({ ...query, agent_id: 'agent-1' });
        expect(ids(ofAgent.items)).toEqual(ids(first.items));
      });

      it('tells open incidents from those whose agent was reactivated, page by page, by tenant and agent', async () => {
        const of = (agent_id: string, isOver: boolean) =>
          buildIncident({ agent_id, ...(isOver ? { reactivated_by: 'ada', reactivated_at_ms: 5 } : {}) });
        const open = ['a', 'b', 'a', 'c'].map((agentId) => of(agentId, false));
        const over = ['a', 'b', 'a', 'c', 'd'].map((agentId) => of(agentId, true));
        for (const incident of [...open, ...over]) await store.appendIncident('default', incident);
        await store.appendIncident('other', of('a', false));
        const read = async (filter: Omit<IncidentFilter, 'limit' | 'tenant_id'>) => {
          const query = { ...filter, tenant_id: 'default' };
          const found = await everyPage((page) => store.incidents({ ...page, ...query }));
          return found.map(({ incident_id }) => incident_id);
        };
        const ids = (some: Incident[]) => some.map(({ incident_id }) => incident_id).reverse();
        expect(await read({ open: true })).toEqual(ids(open));
        expect(await read({ open: false })).toEqual(ids(over));
        const ofA = ({ agent_id }: Incident) => agent_id === 'a';
        expect(await read({ open: true, agent_id: 'a' })).toEqual(ids(open.filter(ofA)));
        expect(await read({ open: false, agent_id: 'a' })).toEqual(ids(over.filter(ofA)));
      });

      it('keeps an incident that is written twice once', async () => {
        const incident = buildIncident();
        const seq = await store.appendIncident('default', incident);
        expect(await store.appendIncident('default', incident)).toBe(seq);
        expect(await store.openIncidents()).toHaveLength(1);
      });

      it('closes the open incidents of an agent that is reactivated, and those alone', async () => {
        for (const agent_id of ['agent-1', 'agent-1', 'agent-2'])
          await store.appendIncident('default', buildIncident({ agent_id }));
        await store.appendIncident('other', buildIncident());
        const reactivated = { tenant_id: 'default', agent_id: 'agent-1', by: 'ada', at_ms: 5_000 };
        await Promise.all([
          store.commitDocuments({ reactivated }),
          store.commitDocuments({ reactivated: { ...reactivated, by: 'bob', at_ms: 6_000 } }),
        ]);
        await reopen();
        const closed = await store.incidents({ tenant_id: 'default', agent_id: 'agent-1', limit: 9 });
        expect(closed.items.map((each) => [each.reactivated_by, each.reactivated_at_ms])).toEqual([
          ['ada', 5_000],
          ['ada', 5_000],
        ]);
        const open = await store.openIncidents();
        expect(open.map((each) => [each.tenant_id, each.incident.agent_id])).toEqual([
          ['default', 'agent-2'],
          ['other', 'agent-1'],
        ]);
      });

      it('pages through incidents', async () => {
        const incidents = Array.from({ length: 7 }, () => buildIncident());
        for (const incident of incidents) await store.appendIncident('default', incident);
        const seen = await everyPage((query) => store.incidents({ ...query, tenant_id: 'default' }));
        expect(seen.map((each) => each.incident_id)).toEqual(
          incidents.map((each) => each.incident_id).reverse(),
        );
      });
    });

    describe('semantic loops', () => {
      it('reads back what was written, newest first, by tenant and session', async () => {
        const first = buildSemanticLoop({ prompt: 'träce-猫-\u0000"', similarity: 0.951 });
        const second = buildSemanticLoop({ session_id: 'a|b:*' });
        const seq = await store.appendSemanticLoop('default', first);
        const secondSeq = await store.appendSemanticLoop('default', second);
        await store.appendSemanticLoop('other', buildSemanticLoop());
        expect(secondSeq).toBeGreaterThan(seq);
        await reopen();
        const listed = await store.semanticLoops({ tenant_id: 'default', limit: 9 });
        expect(listed).toEqual({
          items: [
            { ...second, seq: secondSeq },
            { ...first, seq },
          ],
          next_cursor: null,
        });
        const ofSession = await store.semanticLoops({
          tenant_id: 'default',
          session_id: 'a|b:*',
          limit: 9,
        });
        expect(ofSession.items).toEqual([{ ...second, seq: secondSeq }]);
        expect((await store.semanticLoops({ tenant_id: 'nobody', limit: 9 })).items).toEqual([]);
      });

      it('pages through the loops of a tenant, and of a session', async () => {
        const loops = Array.from({ length: 9 }, (_, index) =>
          buildSemanticLoop({ session_id: index % 2 === 0 ? 'even' : 'odd' }),
        );
        for (const loop of loops) await store.appendSemanticLoop('default', loop);
        const newestFirst = loops.map((loop) => loop.event_id).reverse();
        const seen = await everyPage((query) => store.semanticLoops({ ...query, tenant_id: 'default' }));
        expect(seen.map((loop) => loop.event_id)).toEqual(newestFirst);
        const odd = await everyPage((query) =>
          store.semanticLoops({ ...query, tenant_id: 'default', session_id: 'odd' }),
        );
        expect(odd.map((loop) => loop.event_id)).toEqual(newestFirst.filter((_, index) => index % 2 === 1));
      });

      it('never gives a number twice, though all loops were deleted and the store was opened anew', async () => {
        const seq = await store.appendSemanticLoop('default', buildSemanticLoop());
        await place.deleteOlder(Number.MAX_SAFE_INTEGER);
        await reopen();
        expect(await store.appendSemanticLoop('default', buildSemanticLoop())).toBeGreaterThan(seq);
      });
    });

    describe('alert deliveries', () => {
      it('replaces by id, in its old place', async () => {
        const delivery = buildAlertDelivery();
        const seq = await store.saveDelivery(delivery);
        await store.saveDelivery(buildAlertDelivery());
        const dead = { ...delivery, state: 'dead', attempt_count: 8, last_error: 'HTTP 500' } as const;
        expect(await store.saveDelivery(dead)).toBe(seq);
        expect(await store.delivery('default', delivery.delivery_id)).toEqual({ ...dead, seq });
        const { items } = await store.deliveries({ tenant_id: 'default', limit: 9 });
        expect(items.map((each) => each.state)).toEqual(['pending', 'dead']);
      });

      it('filters by state and channel, and never shows another tenant', async () => {
        const theirs = buildAlertDelivery({ notice: buildAlertNotice({ tenant_id: 'other' }) });
        await store.saveDelivery(theirs);
        await store.saveDelivery(buildAlertDelivery({ delivery_id: 'a', channel_id: 'mail' }));
        await store.saveDelivery(buildAlertDelivery({ delivery_id: 'b', state: 'delivered' }));
        await store.saveDelivery({ ...theirs, notice: buildAlertNotice(), state: 'dead' });
        const listed = async (filter: object) =>
          (await store.deliveries({ tenant_id: 'default', limit: 9, ...filter })).items.map(
            (each) => each.delivery_id,
          );
        expect(await listed({})).toEqual([theirs.delivery_id, 'b', 'a']);
        const oldest = await store.deliveries({ tenant_id: 'default', limit: 2, order: 'asc' });
        expect(oldest.items.map((each) => each.delivery_id)).toEqual(['a', 'b']);
        expect(await listed({ order: 'asc', cursor: oldest.next_cursor })).toEqual([theirs.delivery_id]);
        expect(await listed({ state: 'pending' })).toEqual(['a']);
        expect(await listed({ channel_id: 'channel-1', state: 'delivered' })).toEqual(['b']);
        expect(await store.delivery('other', 'a')).toBeNull();
        expect(await store.delivery('other', theirs.delivery_id)).toMatchObject({ state: 'pending' });
      });

      it('finds what is still pending after a restart, oldest first, of all tenants', async () => {
        const first = buildAlertDelivery();
        const done = buildAlertDelivery();
        const second = buildAlertDelivery({ notice: buildAlertNotice({ tenant_id: 'other' }) });
        for (const delivery of [first, done, second]) await store.saveDelivery(delivery);
        await store.saveDelivery({ ...done, state: 'delivered' });
        await store.saveDelivery({ ...first, attempt_count: 1 });
        await reopen();
        const pending = await store.pendingDeliveries();
        expect(pending.map((each) => [each.delivery_id, each.attempt_count])).toEqual([
          [first.delivery_id, 1],
          [second.delivery_id, 0],
        ]);
      });
    });

    describe('documents', () => {
      const document = (overrides: Partial<StoredDocument> = {}): StoredDocument => ({
        tenant_id: 'default',
        kind: 'agent_policy',
        id: 'agent-1',
        body: { budget: 1.5, hours: [null, 'ü'] },
        updated_at_ms: 1_000,
        ...overrides,
      });

      it('replaces, deletes and keeps documents of any JSON type', async () => {
        const other = document({ tenant_id: 'other', body: null });
        const prices = document({ kind: 'prices', body: 'text' });
        await store.commitDocuments({ saved: [document(), other, prices] });
        const replaced = document({ body: [1], updated_at_ms: 2_000 });
        await store.commitDocuments({ saved: [replaced] });
        await reopen();
        expect(await store.documents('agent_policy')).toEqual([replaced, other]);
        const gone = { tenant_id: 'default', kind: 'agent_policy', id: 'agent-1' } as const;
        await store.commitDocuments({ deleted: [gone, { ...gone, id: 'never-there' }] });
        expect(await store.documents('agent_policy')).toEqual([other]);
        expect(await store.documents('prices')).toEqual([prices]);
        expect(await store.documents('upstream')).toEqual([]);
      });
    });

    it('writes the documents of a call with it, or neither', async () => {
      const key = { tenant_id: 'default', kind: 'unsettled_answer', id: 'resp_1' } as const;
      const kept = { ...key, body: { cost: 4 }, updated_at_ms: 1_000 };
      const row = buildCallRow({});
      await store.appendCalls([{ ...row, documents: { saved: [kept] } }, buildCallRow({})]);
      expect(await store.documents('unsettled_answer')).toEqual([kept]);
      const fetch = { ...buildCallRow({}), documents: { deleted: [key] } };
      const broken = buildCallRow({ started_at_ms: {} as never });
      await expect(store.appendCalls([fetch, broken])).rejects.toThrow();
      expect(await store.call('default', fetch.call.call_id)).toBeNull();
      expect(await store.documents('unsettled_answer')).toEqual([kept]);
      await store.appendCalls([fetch]);
      await reopen();
      expect(await store.documents('unsettled_answer')).toEqual([]);
    });

    it('writes the documents of calls in their order: what one has deleted, a later one saves', async () => {
      const key = { tenant_id: 'default', kind: 'unsettled_answer', id: 'resp_1' } as const;
      const kept = { ...key, body: { cost: 4 }, updated_at_ms: 1_000 };
      const again = { ...kept, body: { cost: 5 } };
      const rowsWith = (...changes: DocumentChange[]) =>
        changes.map((documents) => ({ ...buildCallRow(), documents }));
      await store.appendCalls(rowsWith({ saved: [kept] }));
      await store.appendCalls(rowsWith({ deleted: [key] }, { saved: [again] }));
      expect(await store.documents('unsettled_answer')).toEqual([again]);
      await store.appendCalls(rowsWith({ saved: [kept] }, { deleted: [key] }));
      expect(await store.documents('unsettled_answer')).toEqual([]);
    });

    it('keeps everything when it is opened again', async () => {
      const row = buildCallRow({ cost_usd: 3 });
      const incident = buildIncident();
      const delivery = buildAlertDelivery();
      const [seq] = await store.appendCalls([row]);
      await store.appendIncident('default', incident);
      await store.saveDelivery(delivery);
      await reopen();
      expect(await store.call('default', row.call.call_id)).toEqual({ ...row.call, seq });
      expect(await store.incident('default', incident.incident_id)).toEqual({
        ...incident,
        seq: expect.any(Number),
      });
      expect(await store.delivery('default', delivery.delivery_id)).toMatchObject({ state: 'pending' });
      const spend = { tenant_id: 'default', group: 'model', from_ms: 0, to_ms: HOUR_MS } as const;
      expect(await store.spend(spend)).toMatchObject([{ key: 'gpt-5-mini', cost_usd: 3 }]);
    });

    it('commits what is queued before it closes, and refuses what comes later', async () => {
      const writes = Promise.all(Array.from({ length: 20 }, () => store.appendCalls([buildCallRow()])));
      await place.close();
      expect(new Set((await writes).flat()).size).toBe(20);
      await expect(store.appendCalls([buildCallRow()])).rejects.toMatchObject({ code: 'draining' });
      await expect(store.calls({ tenant_id: 'default', limit: 1 })).rejects.toMatchObject({
        code: 'draining',
      });
      store = await place.open();
      expect(await found({})).toHaveLength(20);
    });
  });
}
