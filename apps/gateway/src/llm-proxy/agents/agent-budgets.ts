/**
 * Where the budgets of agents, and of all of a tenant together, stand, for those who must know it: the limiter, which refuses, and
 * the alerts. What was spent while nobody counted, before a start, before a budget was set or while the limiter's store was away, is
 * read from the store.
 */
import {
  type AgentScope,
  type AgentSpend,
  agentScope,
  type BucketChange,
  type BudgetPeriod,
  isAllAgents,
  NO_LIMITS,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import { BUDGETS, budgetSeeds, type SpentHour, toMicroUsd, UNKNOWN_COST_MICRO_USD } from '#domain/policy';
import { type Clock, HOUR_MS } from '#kernel';
import type { AlertMonitor } from '../../alerts/alert-monitor.js';
import type { CallLog } from '../calls/call-log.js';
import type { LimiterLink } from '../limits/limiter.js';
import { allTaken, limitedScope, type TakenLimits } from '../limits/taken-limits.js';
import type { ProxyCall } from '../proxy-call.js';
import { type AgentActivity, hasBudget } from './agent-activity.js';
import type { AgentDirectory } from './agent-directory.js';
import { type AlertSubject, agentAlone } from './alert-subject.js';
import { monthStartMs } from './spent-lately.js';

/** Agents whose budgets the limiter's store is told at once, or calls. */
const TOLD_AT_ONCE = 100;
/** Calls of which the limiter's store is to be given something back; of more the oldest's stays taken until its budget begins anew. */
const OWED_COUNT_MAX = 10_000;

interface AgentBudgetsParts {
  store: Pick<ProxyStore, 'spend' | 'spendByAgent'>;
  /** Calls that have ended and are not stored yet. */
  log: Pick<CallLog, 'flush'>;
  agents: Pick<AgentDirectory, 'policy' | 'restriction' | 'withBudgets'>;
  activity: AgentActivity;
  limits: Pick<LimiterLink, 'limiter' | 'isShared' | 'isConnected'>;
  alerts: Pick<AlertMonitor, 'note' | 'overBudget'>;
  clock: Clock;
  /** Calls under way. */
  running: () => Iterable<Pick<ProxyCall, 'scope' | 'tenantId' | 'taken' | 'takenTogether'>>;
  onLimiterFailed: (error: unknown) => void;
}

export class AgentBudgets {
  readonly #parts: AgentBudgetsParts;
  /** From when on it is known what was spent. A start on a clock that was ahead has read too little. */
  #knownFromMs = Number.POSITIVE_INFINITY;
  readonly #owed: (readonly BucketChange[])[] = [];
  #forgottenRefundCount = 0;

  constructor(parts: AgentBudgetsParts) {
    this.#parts = parts;
  }

  /** Brings back what was spent. Before the first call; rejects as the store does. */
  async recover(): Promise<void> {
    const { agents, activity, store, limits } = this.#parts;
    const limited = new Map<AgentScope, AgentSpend[]>();
    this.#knownFromMs = this.#budgetsFromMs();
    for (const spend of await store.spendByAgent(this.#knownFromMs)) {
      const { tenant_id, hour_ms, cost_usd, unpriced_call_count } = spend;
      activity.bringBackTogether(tenant_id, hour_ms, toMicroUsd(cost_usd), unpriced_call_count);
      const scope = agentScope(spend.tenant_id, spend.agent_id);
      const known = limited.get(scope);
      if (known !== undefined) known.push(spend);
      else if (agents.restriction(scope) !== null) limited.set(scope, [spend]);
      else this.#restore(scope, spend);
    }
    // A store that is not there yet is told all when it is.
    const isThere = !limits.isShared || (await limits.isConnected());
    // Last, and seeded at once: of more agents than are remembered these would be forgotten, and their budgets begin anew.
    for (const [scope, spends] of limited) {
      for (const spend of spends) this.#restore(scope, spend);
      if (isThere) await this.#seedLimits(scope);
    }
    if (isThere)
      for (const scope of agents.withBudgets()) if (isAllAgents(scope)) await this.#seedLimits(scope);
  }

  /** Where the longest budget begins. */
  #budgetsFromMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    return Math.min(monthStartMs(nowMs), nowMs - HOUR_MS);
  }

  #restore(
    scope: AgentScope,
    { hour_ms, cost_usd, unpriced_call_count }: Omit<AgentSpend, 'tenant_id' | 'agent_id'>,
  ): void {
    this.#parts.activity.restore(scope, hour_ms, toMicroUsd(cost_usd), unpriced_call_count);
  }

  /**
   * After a change of policy: a budget set in the middle of its period counts what was spent before, and the alerts hear
   * which budgets there are now. Never rejects.
   */
  async policyChanged(scope: AgentScope): Promise<void> {
    const { agents } = this.#parts;
    if (hasBudget(agents.policy(scope))) await this.#recallForgotten(scope);
    this.note(scope, agentAlone(scope));
    await this.#seedLimits(scope, this.#takenFromBudgets().get(scope));
  }

  /** Never rejects. */
  async #recallForgotten(scope: AgentScope): Promise<void> {
    // A start is about to read all of it, and adds up what all have spent together.
    if (this.#knownFromMs === Number.POSITIVE_INFINITY) return;
    // What all have spent together is never forgotten.
    const mayBeForgotten = this.#parts.activity.hasForgotten && !isAllAgents(scope);
    if (!mayBeForgotten && this.#budgetsFromMs() >= this.#knownFromMs) return;
    await this.#recall(scope).catch(this.#parts.onLimiterFailed);
  }

  /** What the store knows of an agent, or of all together, and this gateway may not. Rejects as the store does. */
  async #recall(scope: AgentScope): Promise<void> {
    const { tenantId, agentId } = splitAgentScope(scope);
    const { store, log, clock } = this.#parts;
    await log.flush();
    const lines = await store.spend({
      tenant_id: tenantId,
      agent_id: isAllAgents(scope) ? undefined : agentId,
      group: 'hour',
      from_ms: this.#budgetsFromMs(),
      to_ms: clock.nowMs() + 1,
    });
    for (const { key, ...line } of lines) this.#restore(scope, { hour_ms: Date.parse(key), ...line });
  }

  /** What a call has not used of what it took, where the limiter's store could not be told. */
  owe(changes: readonly BucketChange[]): void {
    if (changes.length === 0) return;
    this.#owed.push(changes);
    if (this.#owed.length <= OWED_COUNT_MAX) return;
    this.#owed.shift();
    this.#forgottenRefundCount += 1;
  }

  /** Calls whose unused part stays taken, for want of room. */
  get forgottenRefundCount(): number {
    return this.#forgottenRefundCount;
  }

  /**
   * The limiter's store is there again. What it is owed comes first: it may have heard of that and not said so in time, and then has too
   * little of a budget until it is told of all of it. Never rejects.
   */
  async tellAll(): Promise<void> {
    const { limiter } = this.#parts.limits;
    const owed = this.#owed.splice(0);
    for (let at = 0; at < owed.length; at += TOLD_AT_ONCE) {
      const some = owed.slice(at, at + TOLD_AT_ONCE);
      await Promise.all(some.map((changes) => limiter.correct(changes).catch(() => this.owe(changes))));
    }
    await this.seedAll();
  }

  /** Tells the limiter of all budgets, as this gateway knows them. Never rejects. */
  async seedAll(): Promise<void> {
    const scopes = [...this.#parts.agents.withBudgets()];
    for (let at = 0; at < scopes.length; at += TOLD_AT_ONCE) {
      const some = scopes.slice(at, at + TOLD_AT_ONCE);
      await Promise.all(some.map((scope) => this.#recallForgotten(scope)));
      // In the turn in which the rest is summed up: a call that ends in between would be missed, or count twice.
      const taken = this.#takenFromBudgets();
      await Promise.all(some.map((scope) => this.#seedLimits(scope, taken.get(scope))));
    }
  }

  /** A Redis may have been emptied, or have evicted it, and never have been away; a clock may have been ahead. Never rejects. */
  async seedIfLost(scope: AgentScope, period: BudgetPeriod): Promise<void> {
    await this.#recallForgotten(scope);
    if (this.#parts.activity.spent(scope)[period] > 0)
      await this.#seedLimits(scope, this.#takenFromBudgets().get(scope));
  }

  /**
   * By calls under way, which will give back what they do not use. A take that is on its way arrives before what is told now, and
   * gives that back if it is refused.
   */
  #takenFromBudgets(): Map<AgentScope, TakenLimits[]> {
    const byAgent = new Map<AgentScope, TakenLimits[]>();
    for (const call of this.#parts.running())
      for (const taken of allTaken(call)) {
        const { policy, takenAtMs, isAsked } = taken;
        if ((takenAtMs === null && !isAsked) || !hasBudget(policy)) continue;
        const scope = limitedScope(call, policy);
        const ofScope = byAgent.get(scope) ?? [];
        ofScope.push(taken);
        byAgent.set(scope, ofScope);
      }
    return byAgent;
  }

  /** What was spent before anybody counted. Never rejects. @param taken of budgets, and not spent yet */
  async #seedLimits(scope: AgentScope, taken: readonly TakenLimits[] = []): Promise<void> {
    const { agents, activity, limits, clock } = this.#parts;
    const policy = agents.policy(scope);
    const spent = [...activity.hours(scope)];
    const nowMs = clock.nowMs();
    const seeds = BUDGETS.flatMap((name) => {
      // A call that began before the budget was set has taken nothing of it, and would give nothing back: it adds its cost at its end.
      const ofIt = taken.filter((one) => one.policy[name] !== null).map(takenHour);
      return budgetSeeds(scope, { ...NO_LIMITS, [name]: policy[name] }, [...spent, ...ofIt], nowMs);
    });
    if (seeds.length === 0) return;
    for (const one of taken) if (one.isAsked) one.isTold = true;
    await limits.limiter.seed(seeds, nowMs).catch(this.#parts.onLimiterFailed);
  }

  /** What an alert of budgets knew ended with the last process: one of an agent that calls no more would never be over. */
  noteAll(): void {
    const { agents, alerts } = this.#parts;
    // One whose last budget was taken away in the last moment of that process still counts as over it.
    const scopes = new Set([...agents.withBudgets(), ...alerts.overBudget()]);
    for (const scope of scopes) this.note(scope, agentAlone(scope));
  }

  /** Tells the alerts what was spent of each budget. @param refused a call was, by this one */
  note(scope: AgentScope, subject: AlertSubject, refused: BudgetPeriod | null = null): void {
    const { agents, activity, alerts, clock } = this.#parts;
    const budgets = activity.budgets(scope, agents.policy(scope));
    alerts.note({ kind: 'spend', ...subject, at_ms: clock.nowMs(), budgets, refused });
  }
}

const takenHour = ({ nowMs, costMicroUsd }: TakenLimits): SpentHour => ({
  hourMs: nowMs - (nowMs % HOUR_MS),
  costMicroUsd: costMicroUsd ?? UNKNOWN_COST_MICRO_USD,
});
