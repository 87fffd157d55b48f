/**
 * What calls took that their session's row does not say: a step waits up to two minutes for what its tools come back with, and each
 * for a moment until it is stored, so a process that dies leaves calls that are recorded and told by no step; what calls without a step took
 * is in the row alone, which is saved once a second. Once at the start, the sessions that called last are compared with their calls: one that
 * has no row gets one, and one whose row may say less is told the sum, from which its next step goes on. The step itself is lost: what was
 * asked is in no record.
 */
import {
  isCostUnknown,
  type LlmCall,
  type ProxyStore,
  type SessionView,
  sessionKey,
  tenantIdOf,
  tokensOf,
  USED_DECISIONS,
} from '#contracts';
import { toMicroUsd } from '#domain/policy';
import { type Clock, DAY_MS, HOUR_MS } from '#kernel';
import type { SessionRegistry } from '../../decision-log/session-registry.js';
import { isReported } from './is-reported.js';

/** Before the end of a tenant's latest call: longer than a step waits for its tools, and then for its row. */
const UNTOLD_WITHIN_MS = 180_000;
/** The same: longer than it takes to save a row. */
const UNSAVED_WITHIN_MS = 10_000;
/** Looked at of a tenant; behind them the steps of a busy one are long stored. */
const LATEST_CALLS_MAX = 2_000;
/** Their calls are read together: busy sessions lie in the same blocks of calls, and each block would be read for each of them. */
const SESSIONS_AT_ONCE = 500;
/** For each of these sessions, the latest of all: one with older ones took that much at least. */
const SESSION_CALLS_MAX = 10_000;
const PAGE_CALLS = 500;
/** A tenant without a session in memory is known by what it spent. */
const SPENT_WITHIN_MS = DAY_MS;
/** Of a tenant that was silent for so long before the process died every step is stored; what was spent is known by the hour. */
const QUIET_MS = 2 * HOUR_MS;

export interface UntoldCallsParts {
  store: Pick<ProxyStore, 'calls' | 'spendByAgent'>;
  sessions: Pick<SessionRegistry, 'entries' | 'peek' | 'introduceCall' | 'noteRecorded'>;
  clock: Clock;
}

/** After the rows are read, before the first call. Rejects as the store does. */
export async function tellUntoldCalls(parts: UntoldCallsParts): Promise<void> {
  /** By tenant, when something of it was seen last, to the hour. */
  const seenMs = new Map<string, number>();
  const see = (tenantId: string, atMs: number) =>
    seenMs.set(tenantId, Math.max(seenMs.get(tenantId) ?? 0, atMs));
  const reporters = new Set<string>();
  for (const [key, view] of parts.sessions.entries()) {
    see(tenantIdOf(key), view.last_seen_ms);
    if (isReported(view)) reporters.add(reporterKey(tenantIdOf(key), view.agent_id));
  }
  for (const { tenant_id, hour_ms } of await parts.store.spendByAgent(parts.clock.nowMs() - SPENT_WITHIN_MS))
    see(tenant_id, hour_ms);
  let latestMs = 0;
  for (const atMs of seenMs.values()) latestMs = Math.max(latestMs, atMs);
  const tenantIds = [...seenMs.keys()].filter(
    (tenantId) => latestMs - (seenMs.get(tenantId) ?? 0) <= QUIET_MS,
  );
  for (const tenantId of tenantIds) {
    const latest = await latestOfSessions(parts, tenantId);
    const calls = latest.filter(({ call }) => !reporters.has(reporterKey(tenantId, call.agent_id)));
    for (let at = 0; at < calls.length; at += SESSIONS_AT_ONCE)
      await tell(parts, tenantId, calls.slice(at, at + SESSIONS_AT_ONCE));
  }
}

const reporterKey = (tenantId: string, agentId: string): string => JSON.stringify([tenantId, agentId]);

/** Of a session. */
interface Latest {
  call: LlmCall;
  /** It is not the only one whose use may not have been saved. */
  hasOthers: boolean;
}

/** The latest call of each session that took something, and may have died untold. */
async function latestOfSessions({ store }: UntoldCallsParts, tenantId: string): Promise<Latest[]> {
  const latest = new Map<string, Latest>();
  let endMs: number | undefined;
  for await (const call of callsOf(store, { tenant_id: tenantId }, LATEST_CALLS_MAX)) {
    endMs ??= endOf(call);
    if (endOf(call) < endMs - UNTOLD_WITHIN_MS) break;
    if (!tookFromSession(call)) continue;
    const known = latest.get(call.session_id);
    if (known === undefined) latest.set(call.session_id, { call, hasOthers: false });
    else known.hasOthers ||= endOf(call) >= endMs - UNSAVED_WITHIN_MS;
  }
  return [...latest.values()];
}

/** Embeddings, lists and what a vendor keeps belong to none, unless their caller names one. */
const tookFromSession = ({ session_id, cost_usd, usage }: LlmCall): boolean =>
  session_id !== '' && (cost_usd !== 0 || usage !== null);

const endOf = ({ started_at_ms, duration_ms }: LlmCall): number => started_at_ms + duration_ms;

/** @param latest of each session one */
async function tell(parts: UntoldCallsParts, tenantId: string, latest: readonly Latest[]): Promise<void> {
  const { store, sessions } = parts;
  const taken = new Map<string, { costMicroUsd: number; tokens: number; isUnknown: boolean }>();
  for (const one of latest)
    if (await isShort(parts, tenantId, one))
      taken.set(one.call.session_id, { costMicroUsd: 0, tokens: 0, isUnknown: false });
  if (taken.size === 0) return;
  const filter = { tenant_id: tenantId, session_ids: [...taken.keys()] };
  for await (const one of callsOf(store, filter, taken.size * SESSION_CALLS_MAX)) {
    const sum = taken.get(one.session_id);
    if (sum === undefined) continue;
    sum.costMicroUsd += toMicroUsd(one.cost_usd ?? 0);
    sum.tokens += one.usage ? tokensOf(one.usage) : 0;
    sum.isUnknown ||= isCostUnknown(one);
  }
  for (const [sessionId, { costMicroUsd, ...use }] of taken)
    sessions.noteRecorded(sessionKey(tenantId, sessionId), { costUsd: costMicroUsd / 1e6, ...use });
}

/** Whether its session's row, which is there afterwards, may say less than its calls took. */
async function isShort({ sessions }: UntoldCallsParts, tenantId: string, latest: Latest): Promise<boolean> {
  const key = sessionKey(tenantId, latest.call.session_id);
  if (isTold(sessions.peek(key), latest)) return false;
  await sessions.introduceCall(key, latest.call);
  const view = sessions.peek(key);
  if (view === undefined || isReported(view) || isTold(view, latest)) return false;
  // Its steps say it once they are released.
  return view.control.held_count === 0;
}

/** A step says what all calls up to its own cost, but no other's tokens, nor that a cost is unknown. */
const isTold = (view: SessionView | undefined, { call, hasOthers }: Latest): boolean =>
  !hasOthers && view !== undefined && view.step_count > 0 && view.last_trace_id === call.call_id;

/** Newest first; only those that may have taken something. */
async function* callsOf(
  store: UntoldCallsParts['store'],
  filter: { tenant_id: string; session_ids?: readonly string[] },
  countMax: number,
): AsyncGenerator<LlmCall> {
  let cursor: string | undefined;
  for (let count = 0; count < countMax; count += PAGE_CALLS) {
    const page = await store.calls({ ...filter, decisions: USED_DECISIONS, limit: PAGE_CALLS, cursor });
    yield* page.items;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}
