/**
 * What fires is kept a moment behind the notices that say so. A process that died in between left notices of which what it
 * kept knows nothing, and the next would tell the same again, under another id: they are told, so they count.
 */
import { ALL_AGENTS, type AlertDelivery, type AlertNotice, type BudgetPeriod } from '#contracts';
import { REFUSAL } from './budget-share.js';
import { agentIdOf, type RuleSettings } from './rule-defaults.js';
import type { FiringState } from './watched-rule.js';

/** What fires of one rule, as it was kept. */
export interface KeptFiring {
  tenantId: string;
  ruleId: string;
  states: readonly FiringState[];
  /** It knows of every notice stored up to this delivery: a clock may be set back. Null: kept before this was, see `asOfMs`. */
  asOfSeq: number | null;
  /** It knows of every notice before this moment; epoch ms. */
  asOfMs: number;
  /** The rule as it was removed: not everybody may have been told that it is over. Absent: it is there. */
  removed?: RuleSettings | undefined;
}

/** As it is on disk, once for each of its channels. */
export type StoredNotice = Pick<AlertDelivery, 'notice' | 'channel_id' | 'created_at_ms' | 'seq'>;

/**
 * @param stored of each tenant, newest first
 * @param channelsOf of a rule, now: a notice that is not on disk for each of them did not leave whole, and counts as untold
 * @returns what was kept; where a later notice counts, in its place what fires with it
 */
export function firingAfter(
  kept: readonly KeptFiring[],
  stored: readonly StoredNotice[],
  channelsOf: (tenantId: string, ruleId: string) => readonly string[],
): KeptFiring[] {
  const rules = new Map(kept.map((one) => [keyOf(one.tenantId, one.ruleId), one]));
  for (const { notice, seq, createdMs, channelIds } of noticesOf(stored)) {
    const { tenant_id: tenantId, rule_id: ruleId } = notice;
    if (ruleId === null || !channelsOf(tenantId, ruleId).every((id) => channelIds.has(id))) continue;
    const key = keyOf(tenantId, ruleId);
    const one = rules.get(key) ?? { tenantId, ruleId, states: [], ...KNOWS_OF_NONE };
    const { states, asOfSeq, asOfMs } = one;
    if (asOfSeq === null ? createdMs < asOfMs : seq <= asOfSeq) continue;
    const known = states.find(({ agent_id }) => agentIdOf(agent_id) === notice.agent_id);
    const others = states.filter((state) => state !== known);
    const now = statesAfter(known, notice);
    rules.set(key, { ...one, states: [...others, ...now] });
  }
  return [...rules.values()];
}

const KNOWS_OF_NONE = { asOfSeq: null, asOfMs: Number.NEGATIVE_INFINITY };

const keyOf = (tenantId: string, ruleId: string): string => `${tenantId}\0${ruleId}`;

/** Each once, in the order they were stored in. */
function noticesOf(stored: readonly StoredNotice[]) {
  type Stored = { notice: AlertNotice; seq: number; createdMs: number; channelIds: Set<string> };
  const notices = new Map<string, Stored>();
  for (const { notice, channel_id, seq, created_at_ms: createdMs } of stored.toReversed()) {
    const known = notices.get(notice.notice_id);
    if (known === undefined)
      notices.set(notice.notice_id, { notice, seq, createdMs, channelIds: new Set([channel_id]) });
    else known.channelIds.add(channel_id);
  }
  return [...notices.values()].sort((a, b) => a.seq - b.seq);
}

function statesAfter(known: FiringState | undefined, notice: AlertNotice): FiringState[] {
  switch (notice.phase) {
    case 'recovered':
      return overAfter(known, notice);
    case 'acknowledged':
      return takenAfter(known, notice);
    default:
      return [stateAfter(known, notice)];
  }
}

function takenAfter(known: FiringState | undefined, { at_ms, detail }: AlertNotice): FiringState[] {
  if (known === undefined || known.since_ms !== detail.since_ms) return known === undefined ? [] : [known];
  return [{ ...known, acknowledged: { by: String(detail.acknowledged_by), at_ms } }];
}

/** It goes on cooling, unless an operator has looked and reactivated the agent. */
const overAfter = (known: FiringState | undefined, { type }: AlertNotice): FiringState[] =>
  known === undefined || type === 'kill_switch'
    ? []
    : [{ ...known, since_ms: null, notice_count: 0, told_session_ids: [], acknowledged: null, refusals: [] }];

/** Of the sessions that a notice counts it names the newest: if there were more, the others are news once more. */
function stateAfter(kept: FiringState | undefined, { agent_id, at_ms, detail }: AlertNotice): FiringState {
  // Kept in the very millisecond of the notice, and after it.
  if (kept?.last_notice_ms === at_ms) return kept;
  const since_ms = typeof detail.since_ms === 'number' ? detail.since_ms : at_ms;
  // Since another moment: what was kept was over meanwhile, and no notice said so.
  const known = kept?.since_ms === since_ms ? kept : undefined;
  const named = Array.isArray(detail.newest_session_ids) ? detail.newest_session_ids : [];
  const isRefused = detail.refused === true;
  return {
    agent_id: agent_id ?? ALL_AGENTS,
    since_ms,
    notice_count: (known?.notice_count ?? 0) + 1,
    last_notice_ms: at_ms,
    told_session_ids: [
      ...new Set([...(known?.told_session_ids ?? []), ...named, ...(isRefused ? [REFUSAL] : [])]),
    ],
    acknowledged: known?.acknowledged ?? null,
    refusals: isRefused ? [refusalOf(detail, at_ms)] : (known?.refusals ?? []),
  };
}

const refusalOf = ({ period, spent_usd, budget_usd }: AlertNotice['detail'], atMs: number) => ({
  period: period as BudgetPeriod,
  spent_usd: Number(spent_usd),
  budget_usd: Number(budget_usd),
  at_ms: atMs,
  refused_at_ms: atMs,
});
