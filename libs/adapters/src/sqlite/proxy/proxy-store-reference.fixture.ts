/**
 * What a ProxyStore promises, kept in plain lists and looked through from end to end: no block, no hour that is added to its day. Writes
 * and reads bear the names they have in the port, and answer at once; of a listing all of it is given, in its order.
 */
import {
  type AgentSpend,
  type AlertDelivery,
  type AuditDraft,
  type CallFilter,
  type CallRow,
  type DeliveryFilter,
  type DocumentChange,
  type DocumentKey,
  type DocumentKind,
  type DocumentWrite,
  type Incident,
  type IncidentFilter,
  isCostUnknown,
  type LlmCall,
  type SemanticLoopEvent,
  type SpendLine,
  type SpendQuery,
  type StoredDocument,
} from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';
import {
  compareBytes,
  inOrder,
  keptFrom,
  nameOf,
  Refused,
  requireWhole,
} from '../store-reference.fixture.js';

type Filter<T> = Omit<T, 'limit'>;
type Sums = Omit<SpendLine, 'key' | 'cost_usd'>;
interface OfTenant<T> {
  tenant_id: string;
  item: T;
}

/** What one call adds to one hour; its cost exactly, in nano-USD. */
interface Spent extends Sums {
  tenant_id: string;
  hour_ms: number;
  agent_id: string;
  model: string;
  nanoUsd: bigint;
}

const NO_SUMS: Sums = {
  call_count: 0,
  unpriced_call_count: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};
const SUMS = Object.keys(NO_SUMS) as (keyof Sums)[];
/** What an upstream may claim of one call. */
const TOKENS_MAX = 1e9;
const COST_USD_MAX = 10_000;

const floorTo = (unitMs: number, atMs: number) => Math.floor(atMs / unitMs) * unitMs;
const nanoUsdOf = (usd: number) =>
  BigInt(Math.sign(usd) * Math.min(Math.round(Math.abs(usd) * 1e9), COST_USD_MAX * 1e9));
const toUsd = (nanoUsd: bigint) => Number(nanoUsd) / 1e9;
const isOneOf = <T>(values: readonly T[] | undefined, value: T) =>
  values === undefined || values.includes(value);
const isWanted = <T>(wanted: T | undefined, value: T) => wanted === undefined || wanted === value;
const isFailed = ({ status, decision }: LlmCall) =>
  status >= 400 || status === 0 || decision === 'upstream_failed' || decision === 'aborted';

export class ProxyStoreReference {
  readonly #spendLinesMax: number;
  #calls: OfTenant<LlmCall>[] = [];
  #callSeq = 0;
  /** Outlives the calls. */
  #spent: Spent[] = [];
  #incidents: OfTenant<Incident>[] = [];
  #incidentSeq = 0;
  #loops: OfTenant<SemanticLoopEvent>[] = [];
  #loopSeq = 0;
  #deliveries: AlertDelivery[] = [];
  #deliverySeq = 0;
  #documents = new Map<string, StoredDocument>();
  #audit: AuditDraft[] = [];

  constructor(spendLinesMax: number) {
    this.#spendLinesMax = spendLinesMax;
  }

  appendCalls(rows: readonly CallRow[]): number[] {
    for (const { call } of rows) if (Number.isNaN(call.started_at_ms)) throw new Refused('it never began');
    for (const { documents } of rows) requireWholeTimes(documents);
    return rows.map((row) => {
      this.#callSeq += 1;
      this.#calls.push({ tenant_id: row.tenant_id, item: { ...row.call, seq: this.#callSeq } });
      this.#spent.push(...spentBy(row));
      this.#change(row.documents ?? {});
      return this.#callSeq;
    });
  }

  /** One that is there already uses a number up all the same. */
  appendIncident(tenant_id: string, incident: Incident): number {
    this.#incidentSeq += 1;
    const found = this.incident(tenant_id, incident.incident_id);
    if (found !== null) return found.seq;
    this.#incidents.push({ tenant_id, item: { ...incident, seq: this.#incidentSeq } });
    return this.#incidentSeq;
  }

  appendSemanticLoop(tenant_id: string, event: SemanticLoopEvent): number {
    this.#loopSeq += 1;
    this.#loops.push({ tenant_id, item: { ...event, seq: this.#loopSeq } });
    return this.#loopSeq;
  }

  /** As of incidents. */
  saveDelivery(delivery: AlertDelivery): number {
    requireWhole(delivery.created_at_ms);
    this.#deliverySeq += 1;
    const found = this.delivery(delivery.notice.tenant_id, delivery.delivery_id);
    if (found !== null) {
      const { seq } = found;
      this.#deliveries = this.#deliveries.map((each) => (each.seq === seq ? { ...delivery, seq } : each));
      return seq;
    }
    this.#deliveries.push({ ...delivery, seq: this.#deliverySeq });
    return this.#deliverySeq;
  }

  commitDocuments({ reactivated, audit = [], ...change }: DocumentWrite): void {
    requireWholeTimes(change);
    if (reactivated !== undefined) {
      const { tenant_id, agent_id, by, at_ms } = reactivated;
      const isClosed = (row: OfTenant<Incident>) =>
        row.tenant_id === tenant_id && row.item.agent_id === agent_id && row.item.reactivated_at_ms === null;
      if (this.#incidents.some(isClosed)) requireWhole(at_ms);
      this.#incidents = this.#incidents.map((row) =>
        isClosed(row) ? { ...row, item: { ...row.item, reactivated_by: by, reactivated_at_ms: at_ms } } : row,
      );
    }
    this.#change(change);
    this.#audit.push(...audit);
  }

  /** What goes by age: of each kind the oldest rows, up to the first that is young. @returns how many */
  deleteOlder(beforeMs: number): number {
    return this.deleteFirst(
      keptFrom(this.#calls, beforeMs, ({ item }) => item.started_at_ms),
      keptFrom(this.#loops, beforeMs, ({ item }) => item.at_ms),
      keptFrom(this.#over(), beforeMs, ({ created_at_ms }) => created_at_ms),
    );
  }

  /** The oldest of each kind, as many as that. @returns how many */
  deleteFirst(calls: number, loops: number, deliveries: number): number {
    const gone = this.#over().slice(0, deliveries);
    this.#deliveries = this.#deliveries.filter((each) => !gone.includes(each));
    return this.#calls.splice(0, calls).length + this.#loops.splice(0, loops).length + gone.length;
  }

  counts(): { calls: number; loops: number; deliveries: number } {
    return {
      calls: this.#calls.length,
      loops: this.#loops.length,
      deliveries: this.#deliveries.length,
    };
  }

  calls(filter: Filter<CallFilter>): LlmCall[] {
    const { from_ms = Number.NEGATIVE_INFINITY, to_ms = Number.POSITIVE_INFINITY, failed } = filter;
    const calls = itemsOf(this.#calls, filter.tenant_id).filter(
      (call) =>
        isWanted(filter.agent_id, call.agent_id) &&
        isWanted(filter.session_id, call.session_id) &&
        isOneOf(filter.session_ids, call.session_id) &&
        isWanted<string | null>(filter.model, call.model) &&
        isWanted(filter.decision, call.decision) &&
        isOneOf(filter.decisions, call.decision) &&
        isWanted(failed, isFailed(call)) &&
        call.started_at_ms >= from_ms &&
        call.started_at_ms < to_ms,
    );
    return inOrder(calls);
  }

  /** The latest of those that bear the id. */
  call(tenantId: string, callId: string): LlmCall | null {
    return this.calls({ tenant_id: tenantId }).find(({ call_id }) => call_id === callId) ?? null;
  }

  spend({ tenant_id, group, from_ms, to_ms, agent_id, model }: SpendQuery): SpendLine[] {
    const spent = this.#spent.filter(
      (each) =>
        each.tenant_id === tenant_id &&
        each.hour_ms >= floorTo(HOUR_MS, from_ms) &&
        each.hour_ms < to_ms &&
        isWanted(agent_id, each.agent_id) &&
        isWanted(model, each.model),
    );
    const keyOf = (each: Spent) => {
      if (group === 'agent') return each.agent_id;
      if (group === 'model') return each.model;
      return new Date(floorTo(group === 'day' ? DAY_MS : HOUR_MS, each.hour_ms)).toISOString();
    };
    const lines = [...grouped(spent, keyOf)].map(([key, some]) => ({ key, ...sumOf(some) }));
    if (group === 'day' || group === 'hour')
      return lines.toSorted((left, right) => compareBytes(left.key, right.key)).slice(-this.#spendLinesMax);
    return lines
      .toSorted(
        (left, right) =>
          right.cost_usd - left.cost_usd ||
          right.call_count - left.call_count ||
          compareBytes(left.key, right.key),
      )
      .slice(0, this.#spendLinesMax);
  }

  spendByAgent(fromMs: number): AgentSpend[] {
    const spent = this.#spent.filter(({ hour_ms }) => hour_ms >= floorTo(HOUR_MS, fromMs));
    const lines = grouped(spent, (each) => nameOf(each.tenant_id, each.agent_id, each.hour_ms));
    return [...lines].map(([name, some]) => {
      const [tenant_id, agent_id, hour_ms] = JSON.parse(name);
      const { cost_usd, unpriced_call_count } = sumOf(some);
      return { tenant_id, agent_id, hour_ms, cost_usd, unpriced_call_count };
    });
  }

  incidents({ tenant_id, agent_id, open }: Filter<IncidentFilter>): Incident[] {
    const found = itemsOf(this.#incidents, tenant_id).filter(
      (incident) =>
        isWanted(agent_id, incident.agent_id) && isWanted(open, incident.reactivated_at_ms === null),
    );
    return inOrder(found);
  }

  incident(tenantId: string, incidentId: string): Incident | null {
    const ofTenant = itemsOf(this.#incidents, tenantId);
    return ofTenant.find(({ incident_id }) => incident_id === incidentId) ?? null;
  }

  openIncidents(): { tenant_id: string; incident: Incident }[] {
    return this.#incidents
      .filter(({ item }) => item.reactivated_at_ms === null)
      .map(({ tenant_id, item }) => ({ tenant_id, incident: item }));
  }

  semanticLoops(query: { tenant_id: string; session_id?: string | undefined }): SemanticLoopEvent[] {
    const ofTenant = itemsOf(this.#loops, query.tenant_id);
    return inOrder(ofTenant.filter(({ session_id }) => isWanted(query.session_id, session_id)));
  }

  deliveries({ tenant_id, state, channel_id, order }: Filter<DeliveryFilter>): AlertDelivery[] {
    const found = this.#deliveries.filter(
      (each) =>
        each.notice.tenant_id === tenant_id &&
        isWanted(state, each.state) &&
        isWanted(channel_id, each.channel_id),
    );
    return inOrder(found, order);
  }

  delivery(tenantId: string, deliveryId: string): AlertDelivery | null {
    const ofTenant = this.deliveries({ tenant_id: tenantId });
    return ofTenant.find(({ delivery_id }) => delivery_id === deliveryId) ?? null;
  }

  pendingDeliveries(): AlertDelivery[] {
    return this.#deliveries.filter(({ state }) => state === 'pending');
  }

  documents(kind: DocumentKind): StoredDocument[] {
    return [...this.#documents.values()]
      .filter((document) => document.kind === kind)
      .sort(
        (left, right) => compareBytes(left.tenant_id, right.tenant_id) || compareBytes(left.id, right.id),
      );
  }

  audit({ tenant_id }: { tenant_id: string }): AuditDraft[] {
    return inOrder(this.#audit.filter((draft) => draft.tenant_id === tenant_id));
  }

  /** Those that may go. */
  #over(): AlertDelivery[] {
    return this.#deliveries.filter(({ state }) => state !== 'pending');
  }

  #change({ saved = [], deleted = [] }: DocumentChange): void {
    for (const document of saved)
      this.#documents.set(keyOf(document), { ...document, body: document.body ?? null });
    for (const key of deleted) this.#documents.delete(keyOf(key));
  }
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const keyOf = ({ tenant_id, kind, id }: DocumentKey) => nameOf(tenant_id, kind, id);

const itemsOf = <T>(rows: OfTenant<T>[], tenantId: string): T[] =>
  rows.filter(({ tenant_id }) => tenant_id === tenantId).map(({ item }) => item);

function requireWholeTimes({ saved = [] }: DocumentChange = {}): void {
  requireWhole(...saved.map(({ updated_at_ms }) => updated_at_ms));
}

/** It counts where it began, and costs where it is to be paid. */
function spentBy({ tenant_id, call, spent_at_ms = call.started_at_ms }: CallRow): Spent[] {
  const { agent_id, model, usage, cost_usd } = call;
  const of = { tenant_id, agent_id, model: model ?? '' };
  const tokens = (count = 0) => Math.min(count, TOKENS_MAX);
  const counted: Spent = {
    ...of,
    hour_ms: floorTo(HOUR_MS, call.started_at_ms),
    call_count: 1,
    unpriced_call_count: isCostUnknown(call) ? 1 : 0,
    input_tokens: tokens(usage?.input_tokens),
    cached_input_tokens: tokens(usage?.cached_input_tokens),
    output_tokens: tokens(usage?.output_tokens),
    reasoning_tokens: tokens(usage?.reasoning_tokens),
    nanoUsd: 0n,
  };
  if (cost_usd === null) return [counted];
  const nanoUsd = nanoUsdOf(cost_usd);
  return [counted, { ...of, ...NO_SUMS, hour_ms: floorTo(HOUR_MS, spent_at_ms), nanoUsd }];
}

function sumOf(some: Spent[]): Omit<SpendLine, 'key'> {
  const sums = SUMS.map((sum) => [sum, some.reduce((total, each) => total + each[sum], 0)]);
  const nanoUsd = some.reduce((total, each) => total + each.nanoUsd, 0n);
  return { ...(Object.fromEntries(sums) as Sums), cost_usd: toUsd(nanoUsd) };
}
