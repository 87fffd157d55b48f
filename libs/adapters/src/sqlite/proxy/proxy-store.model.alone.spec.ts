/**
 * Whatever calls end, in whatever order and at whatever time, whatever they cost and however late that is known, and whenever rows grow
 * old, the disk fills, or the process ends or dies: the proxy's store answers as plain lists would, and what is shown as spent is, to the
 * nano-USD, what the calls cost. Bounds are small, so that their seams are crossed in every run.
 */
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import {
  CALL_DECISIONS,
  type CallFilter,
  type CallRow,
  DELIVERY_STATES,
  type DocumentChange,
  type DocumentKind,
  type Incident,
  type Page,
  type PageQuery,
  SPEND_GROUPS,
} from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';
import {
  buildAlertDelivery,
  buildAlertNotice,
  buildAuditDraft,
  buildIncident,
  buildLlmCall,
  buildSemanticLoop,
  buildUsage,
} from '#testing';
import {
  EVERYTHING,
  everyItem,
  expectPlainLists,
  optional,
  rarely,
  type StoreAct,
  StoreRun,
  type Walk,
  type Write,
} from '../store-run.fixture.js';
import { ProxyStoreReference } from './proxy-store-reference.fixture.js';
import { SqliteProxyStore } from './sqlite-proxy-store.js';

const SPEND_LINES_MAX = 5;
const INCIDENTS_READ_CHARS_MAX = 2_000;
vi.mock('../../../../contracts/src/limits.js', async (original) => {
  const { LIMITS, ...rest } = await original<typeof import('../../../../contracts/src/limits.js')>();
  return { ...rest, LIMITS: { ...LIMITS, spendLinesMax: 5 } };
});
vi.mock('../../../../contracts/src/ports/proxy-store.js', async (original) => ({
  ...(await original<object>()),
  INCIDENTS_READ_CHARS_MAX: 2_000,
}));
vi.mock('./call-blocks.js', async (original) => ({
  ...(await original<object>()),
  BLOCK_CALLS: 4,
  blockOf: (seq: number) => Math.floor(seq / 4),
}));
vi.mock('./call-reader.js', async (original) => {
  const { CallReader } = await original<typeof import('./call-reader.js')>();
  return {
    CallReader: class extends CallReader {
      constructor(database: ConstructorParameters<typeof CallReader>[0]) {
        super(database, 2);
      }
    },
  };
});

const TENANTS = ['default', 'a', 'a|b', 'a:b', '*', '%'];
const AGENTS = ['a', 'a1', ':ba', 'b:a', 'A', '_', '😀 ﬀ', 'Ä\u0000"'];
const SESSIONS = ['s', 's:t', '*', '😀', '\ufffd%_', 'Ä\u0000"', `long ${'x'.repeat(300)}`];
const MODELS = ['large', 'large-2', 'Large', '%'];
const KINDS: DocumentKind[] = ['agent_policy', 'prices', 'unsettled_answer'];
const CALLS_LOOKED_UP = 40;
const FILTERS_A_LOOK = 3;
const FILTERS: Omit<CallFilter, 'tenant_id' | 'limit'>[] = [
  ...AGENTS.map((agent_id) => ({ agent_id })),
  ...SESSIONS.map((session_id) => ({ session_id })),
  ...SESSIONS.map((session_id) => ({ session_ids: [session_id] })),
  ...MODELS.map((model) => ({ model })),
  ...CALL_DECISIONS.map((decision) => ({ decision })),
  { failed: true },
  { failed: false },
];
const IDS = ['one', 'two', '%', 'a:b', '😀', '\u0000'];

const CHARS: Record<string, readonly [number, (item: unknown) => number]> = {
  incidents: [
    INCIDENTS_READ_CHARS_MAX,
    (incident) =>
      JSON.stringify({ ...(incident as Incident), seq: 0, reactivated_by: null, reactivated_at_ms: null })
        .length,
  ],
};

class Run extends StoreRun<Draft> {
  protected readonly reference = new ProxyStoreReference(SPEND_LINES_MAX);
  #callSerial = 0;
  #filterSerial = 0;

  constructor(folder: string, pageCountMax: number | null) {
    super(folder, pageCountMax, Date.UTC(2026, 0, 31, 23, 59, 50));
  }

  protected get port(): SqliteProxyStore {
    return new SqliteProxyStore(this.store.database);
  }

  protected charsOf(listing: string) {
    return CHARS[listing] ?? ([EVERYTHING, () => 0] as const);
  }

  /** As far as it looked for calls that few of very many are. */
  protected override mayEndEarly(listing: string): boolean {
    return listing === 'calls';
  }

  protected writeOf({ name, draft, id, pick }: Draft): Write {
    const { tenant_id, agent_id, session_id } = draft;
    const nowMs = this.clock.nowMs();
    const faulty = draft.isFaulty ? 0.5 : 0;
    switch (name) {
      case 'appendCalls':
        return { name, args: [draft.calls.flatMap((call) => this.#rowsOf(call, nowMs))] };
      case 'appendIncident':
        return {
          name,
          args: [
            tenant_id,
            buildIncident({
              incident_id: `${id} ${pick}`,
              agent_id,
              session_id,
              upstream: 'x'.repeat(pick * 40),
            }),
          ],
        };
      case 'appendSemanticLoop':
        return {
          name,
          args: [
            tenant_id,
            buildSemanticLoop({ event_id: id, agent_id, session_id, at_ms: nowMs - draft.agoMs }),
          ],
        };
      case 'saveDelivery':
        return {
          name,
          args: [
            buildAlertDelivery({
              delivery_id: `${id} ${pick % 3}`,
              channel_id: agent_id,
              notice: buildAlertNotice({ tenant_id, notice_id: id }),
              state: draft.state,
              attempt_count: pick,
              created_at_ms: Math.floor(nowMs - draft.agoMs) + faulty,
            }),
          ],
        };
      case 'commitDocuments': {
        const reactivated = { tenant_id, agent_id, by: id, at_ms: Math.floor(nowMs) + faulty };
        return {
          name,
          args: [
            {
              ...changeOf(draft, nowMs),
              ...(draft.isReactivated && { reactivated }),
              ...(draft.isAudited && { audit: [buildAuditDraft({ tenant_id, session_id, action: id })] }),
            },
          ],
        };
      }
    }
  }

  /** So many that are alike but for their ids; the first may bear the one that was given last. */
  #rowsOf({ tenant_id, agoMs, spentAgoMs, isFaulty, count, isAgain, ...draft }: CallDraft, nowMs: number) {
    const { documents, hasDocuments, ...call } = draft;
    if (isAgain) this.#callSerial -= 1;
    return Array.from({ length: count }, (): CallRow => {
      this.#callSerial += 1;
      const started_at_ms = isFaulty ? Number.NaN : nowMs - agoMs;
      return {
        tenant_id,
        call: buildLlmCall({ ...call, call_id: `call ${this.#callSerial}`, started_at_ms }),
        ...(spentAgoMs !== null && { spent_at_ms: nowMs - spentAgoMs }),
        ...(hasDocuments && { documents: changeOf(documents, nowMs) }),
      };
    });
  }

  protected async content() {
    const { port, store } = this;
    const ofTenants = async <T>(read: (query: PageQuery & { tenant_id: string }) => Promise<Page<T>>) => {
      const all: T[][] = [];
      for (const tenant_id of TENANTS) all.push(await everyItem((query) => read({ ...query, tenant_id })));
      return all.flat();
    };
    return {
      calls: await ofTenants((query) => port.calls(query)),
      spent: sorted(await port.spendByAgent(0)),
      incidents: await ofTenants((query) => port.incidents(query)),
      openIncidents: await port.openIncidents(),
      loops: await ofTenants((query) => port.semanticLoops(query)),
      deliveries: await ofTenants((query) => port.deliveries(query)),
      pendingDeliveries: await port.pendingDeliveries(),
      documents: await Promise.all(KINDS.map((kind) => port.documents(kind))),
      audit: (await ofTenants((query) => store.audit(query))).map(
        ({ seq: _, prev_hash: __, hash: ___, ...draft }) => draft,
      ),
    };
  }

  protected referenceContent() {
    const { reference } = this;
    const ofTenants = <T>(read: (query: { tenant_id: string }) => T[]) =>
      TENANTS.flatMap((tenant_id) => read({ tenant_id }));
    return {
      calls: ofTenants((query) => reference.calls(query)),
      spent: sorted(reference.spendByAgent(0)),
      incidents: ofTenants((query) => reference.incidents(query)),
      openIncidents: reference.openIncidents(),
      loops: ofTenants((query) => reference.semanticLoops(query)),
      deliveries: ofTenants((query) => reference.deliveries(query)),
      pendingDeliveries: reference.pendingDeliveries(),
      documents: KINDS.map((kind) => reference.documents(kind)),
      audit: ofTenants((query) => reference.audit(query)),
    };
  }

  protected async lookAround(): Promise<void> {
    const nowMs = this.clock.nowMs();
    for (const tenant_id of TENANTS) {
      for (let n = 0; n < FILTERS_A_LOOK; n += 1)
        await this.readThrough({ name: 'calls', query: { tenant_id, ...this.#nextFilter() } });
      for (let n = 0; n < CALLS_LOOKED_UP; n += 1)
        await this.compare('call', tenant_id, `call ${this.#callSerial - n}`);
      for (const id of IDS) {
        await this.compare('incident', tenant_id, `${id} 1`);
        await this.compare('delivery', tenant_id, `${id} 1`);
      }
      for (const group of SPEND_GROUPS) {
        const of = { tenant_id, group };
        await this.compare('spend', { ...of, from_ms: 0, to_ms: EVERYTHING * EVERYTHING });
        for (const agent_id of AGENTS)
          await this.compare('spend', { ...of, agent_id, from_ms: nowMs - 2 * DAY_MS, to_ms: nowMs + 1 });
        for (const model of ['', ...MODELS])
          await this.compare('spend', { ...of, model, from_ms: nowMs - DAY_MS, to_ms: nowMs - 7 * HOUR_MS });
      }
    }
  }

  /** By turns. */
  #nextFilter(): (typeof FILTERS)[number] | undefined {
    this.#filterSerial += 1;
    return FILTERS[this.#filterSerial % FILTERS.length];
  }

  protected async retain({ agoMs, bytesMax }: StoreAct<Draft> & { do: 'retain' }): Promise<void> {
    const beforeMs = bytesMax === null ? this.clock.nowMs() - agoMs : null;
    const { reference } = this;
    const answer = await this.enforceRetention({ beforeMs, bytesMax });
    if (beforeMs !== null && answer !== null) {
      expect(answer).toEqual({ deleted_count: reference.deleteOlder(beforeMs), is_over_bytes: false });
      return;
    }
    // The oldest of each kind; how many of each, the size decides.
    const before = reference.counts();
    const { calls, loops, deliveries } = await this.content();
    const deletedCount = reference.deleteFirst(
      before.calls - calls.length,
      before.loops - loops.length,
      before.deliveries - deliveries.length,
    );
    if (answer !== null) expect(answer.deleted_count).toBe(deletedCount);
    if (answer === null || bytesMax !== 0) return;
    expect(answer.is_over_bytes).toBe(true);
    expect(reference.deleteFirst(EVERYTHING, EVERYTHING, EVERYTHING)).toBe(0);
  }
}

const sorted = <T>(rows: T[]) =>
  rows.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));

const changeOf = ({ saved, deleted }: ChangeDraft, nowMs: number): DocumentChange => ({
  saved: saved.map((document) => ({ ...document, updated_at_ms: Math.floor(nowMs) })),
  deleted,
});

const tenant_id = fc.constantFrom(...TENANTS);
const agent_id = fc.constantFrom(...AGENTS);
const session_id = fc.constantFrom(...SESSIONS);
const model = fc.constantFrom(...MODELS);
const decision = fc.constantFrom(...CALL_DECISIONS);
const agoMs = fc.constantFrom(0, 0, 0.25, 10_000, 40_000, HOUR_MS, DAY_MS, 3 * DAY_MS + 1, -DAY_MS);
const someIds = (ids: readonly string[]) => fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 });

const key = fc.record({
  tenant_id,
  kind: fc.constantFrom(...KINDS),
  id: fc.constantFrom(...IDS),
});
const change = fc.record({
  saved: fc.array(
    fc
      .tuple(key, fc.constantFrom(undefined, null, 1, 'text', { a: [0.5] }))
      .map(([of, body]) => ({ ...of, body })),
    { maxLength: 3 },
  ),
  deleted: fc.array(key, { maxLength: 2 }),
});
type ChangeDraft = typeof change extends fc.Arbitrary<infer One> ? One : never;

const tokens = fc.constantFrom(0, 1, 1_000, Number.MAX_SAFE_INTEGER);
const usage = fc
  .record({
    input_tokens: tokens,
    cached_input_tokens: tokens,
    output_tokens: tokens,
    reasoning_tokens: tokens,
    charged_usd: optional(fc.constantFrom(0, 0.0037756)),
    search_count: optional(fc.constant(2)),
  })
  .map(({ charged_usd, search_count, ...counts }) =>
    buildUsage({
      ...counts,
      ...(charged_usd !== undefined && { charged_usd }),
      ...(search_count !== undefined && { search_count }),
    }),
  );

const call = fc.record({
  tenant_id,
  agent_id,
  session_id,
  model: fc.option(model),
  decision: fc.oneof(fc.constant('forwarded' as const), decision),
  status: fc.constantFrom(200, 200, 0, 399, 400, 499),
  usage: fc.option(usage),
  cost_usd: fc.constantFrom(
    null,
    0,
    4e-10,
    5e-10,
    1e-9,
    0.1,
    0.2,
    1 / 3,
    1.005,
    123.456789,
    -0.05,
    -1e-9,
    1e300,
    -1e6,
  ),
  cache: fc.constantFrom(null, { match: 'exact' as const, age_s: 1.5, cosine: null, saved_usd: 0.1 }),
  agoMs,
  spentAgoMs: fc.option(agoMs, { freq: 2 }),
  documents: change,
  hasDocuments: fc.boolean(),
  isFaulty: rarely,
  isAgain: rarely,
  count: fc.constantFrom(1, 1, 1, 1, 1, 2, 2, 9),
});
type CallDraft = typeof call extends fc.Arbitrary<infer One> ? One : never;

const NAMES = [
  ...Array<'appendCalls'>(6).fill('appendCalls'),
  'appendIncident',
  'appendIncident',
  'appendSemanticLoop',
  'saveDelivery',
  'saveDelivery',
  'commitDocuments',
  'commitDocuments',
] as const;
const draft = fc.record({
  name: fc.constantFrom(...NAMES),
  id: fc.constantFrom(...IDS),
  pick: fc.nat(20),
  draft: fc
    .record({
      tenant_id,
      agent_id,
      session_id,
      agoMs,
      calls: fc.array(call, { maxLength: 4 }),
      state: fc.constantFrom(...DELIVERY_STATES),
      isFaulty: rarely,
      isReactivated: fc.boolean(),
      isAudited: fc.boolean(),
      change,
    })
    .map(({ change: { saved, deleted }, ...rest }) => ({ ...rest, saved, deleted })),
});
type Draft = typeof draft extends fc.Arbitrary<infer One> ? One : never;

const BEGIN_MS = Date.UTC(2026, 0, 31);
const atMs = optional(fc.integer({ min: -4 * 24, max: 4 * 24 }).map((hours) => BEGIN_MS + hours * HOUR_MS));
const walk: fc.Arbitrary<Walk> = fc.oneof(
  fc.record({
    name: fc.constant('calls'),
    query: fc.record({
      tenant_id,
      agent_id: optional(agent_id),
      session_id: optional(session_id),
      session_ids: optional(someIds(SESSIONS)),
      model: optional(model),
      decision: optional(decision),
      decisions: optional(fc.uniqueArray(decision, { maxLength: 3 })),
      failed: optional(fc.boolean()),
      from_ms: atMs,
      to_ms: atMs,
    }),
  }),
  fc.record({
    name: fc.constant('calls'),
    query: fc.record({ tenant_id, agent_id: optional(agent_id), model: optional(model) }),
  }),
  fc.record({
    name: fc.constant('incidents'),
    query: fc.record({ tenant_id, agent_id: optional(agent_id), open: optional(fc.boolean()) }),
  }),
  fc.record({
    name: fc.constant('semanticLoops'),
    query: fc.record({ tenant_id, session_id: optional(session_id) }),
  }),
  fc.record({
    name: fc.constant('deliveries'),
    query: fc.record({
      tenant_id,
      state: optional(fc.constantFrom(...DELIVERY_STATES)),
      channel_id: optional(agent_id),
      order: fc.constantFrom('asc' as const, 'desc' as const),
    }),
  }),
);

it('the proxy’s store answers as plain lists would, whatever calls cost, grows old, fills the disk, ends or dies', async () => {
  const clockSteps = [-DAY_MS, -20_000, -1, 1, 1_000, 10_000, HOUR_MS, DAY_MS, 40 * DAY_MS];
  await expectPlainLists(Run, draft, walk, clockSteps);
}, 3_600_000);
