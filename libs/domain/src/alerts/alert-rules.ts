/**
 * The rules of every tenant, and what of them is firing. Events and the tick go in, notices that are due come out; it
 * sends nothing, stores nothing and reads no clock of its own but for silence and for forgetting agents.
 *
 *     observe(event)  what happened to one agent: O(rules of its tenant), and nothing where no rule is about it
 *     tick(now)       what time alone changes: repeats, silence, windows that empty. Once a second, for `TICK_WORK_MS_MAX`
 */
import { type Acknowledgement, ALL_AGENTS, type AlertRule, type AlertType, type PolicyBar } from '#contracts';
import type { AlertEvent } from './alert-event.js';
import { inHand } from './notice-plan.js';
import type { SpentUsd } from './rule-condition.js';
import { agentIdOf, type RuleSettings } from './rule-defaults.js';
import { type DueNotice, TenantRules, type TenantRulesParts } from './tenant-rules.js';
import type { FiringState } from './watched-rule.js';

/** A tick looks at agents for so long, each tenant having an equal part of it, and the next one goes on where it stopped. */
export const TICK_WORK_MS_MAX = 100;

export interface AlertRulesOptions extends Pick<TenantRulesParts, 'clock' | 'onBound'> {
  /** Every rule of a tenant. Asked when the tenant is first heard of, and at `refresh`. */
  rulesOf(tenantId: string): readonly RuleSettings[];
  /** Why its policy does not let it call now; null: it does. Asked for each agent, once a second. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null;
  /** What it has spent, in USD; asked with each call of an agent that a rule about spending watches. @param agentId null: all together */
  spentUsd(tenantId: string, agentId: string | null): SpentUsd;
}

export class AlertRules {
  readonly #options: AlertRulesOptions;
  readonly #tenants = new Map<string, TenantRules>();
  /** Rules whose firing changed since it was last taken: tenant -> rule ids. */
  #changed = new Map<string, Set<string>>();

  constructor(options: AlertRulesOptions) {
    this.#options = options;
  }

  observe(event: AlertEvent): DueNotice[] {
    return this.#tenant(event.tenant_id).observe(event);
  }

  tick(nowMs: number): DueNotice[] {
    const shareMs = TICK_WORK_MS_MAX / this.#tenants.size;
    return [...this.#tenants.values()].flatMap((tenant) => tenant.tick(nowMs, shareMs));
  }

  /** Makes something known without asking whether it is worth a notice: what was so before a restart. */
  prime(event: AlertEvent): void {
    this.#tenant(event.tenant_id).prime(event);
  }

  /** A session is paused, or no more: meanwhile nobody misses an agent that was last seen in it. */
  notePause(tenantId: string, sessionId: string, isPaused: boolean): void {
    this.#tenant(tenantId).notePause(sessionId, isPaused);
  }

  /**
   * Sessions were terminated: nobody misses an agent that was last seen in one of them until it is seen again, and they are
   * in no loop any more, whoever else remembers them.
   */
  noteTerminated(tenantId: string, sessionIds: ReadonlySet<string>, atMs: number): DueNotice[] {
    return this.#tenant(tenantId).noteTerminated(sessionIds, atMs);
  }

  /**
   * After `prime` and `restore`: the loops and waits that go on, and the stops that are over, and that the last process ended before
   * it told anybody of.
   */
  untold(nowMs: number): DueNotice[] {
    return [...this.#tenants.values()].flatMap((tenant) => tenant.untold(nowMs));
  }

  /**
   * Rules were added, changed or removed. What goes on firing keeps its state; what people were told of agents that are
   * watched no more is closed; what holds already of the agents that a rule is about from now on is due.
   */
  refresh(tenantId: string, nowMs: number): DueNotice[] {
    return this.#tenants.get(tenantId)?.refresh(nowMs) ?? [];
  }

  /** After `restore`: closes what people were told of agents that the rule watches no more, and that the last process did not close. */
  unclosed(tenantId: string, rule: RuleSettings, states: readonly FiringState[], nowMs: number): DueNotice[] {
    return this.#tenant(tenantId).unclosed(rule, states, nowMs);
  }

  /** Of every tenant, and once for each rule of the type. */
  *firingAgents(type: AlertType): Generator<{ tenantId: string; agentId: string }> {
    for (const [tenantId, tenant] of this.#tenants)
      for (const agentId of tenant.firingAgents(type)) yield { tenantId, agentId };
  }

  firing(tenantId: string, ruleId: string): AlertRule['firing'] {
    const nowMs = this.#options.clock.nowMs();
    return this.states(tenantId, ruleId).flatMap(({ agent_id, since_ms, notice_count, acknowledged }) => {
      if (since_ms === null) return [];
      return {
        agent_id: agentIdOf(agent_id),
        since_ms,
        notice_count,
        acknowledged: inHand(acknowledged, nowMs),
      };
    });
  }

  /**
   * Somebody has it in hand, or no more (null).
   * @param agentId null: all together @param sinceMs of the firing that is meant: nothing changes where it is over by now
   */
  acknowledge(
    tenantId: string,
    ruleId: string,
    { agentId, sinceMs }: { agentId: string | null; sinceMs: number },
    acknowledged: Acknowledgement | null,
  ): DueNotice[] {
    const tenant = this.#tenants.get(tenantId);
    return tenant?.acknowledge(ruleId, agentId ?? ALL_AGENTS, sinceMs, acknowledged) ?? [];
  }

  /** To be kept, and given to `restore` after a restart. */
  states(tenantId: string, ruleId: string): FiringState[] {
    // None is kept for who looks: an operator of all tenants may name any.
    return this.#tenants.get(tenantId)?.states(ruleId) ?? [];
  }

  restore(tenantId: string, ruleId: string, states: readonly FiringState[]): void {
    this.#tenant(tenantId).restore(ruleId, states);
  }

  /** The rules whose firing changed since the last call, to be kept. */
  takeChanged(): { tenantId: string; ruleId: string }[] {
    const changed = [...this.#changed].flatMap(([tenantId, ruleIds]) =>
      [...ruleIds].map((ruleId) => ({ tenantId, ruleId })),
    );
    this.#changed = new Map();
    return changed;
  }

  /** It is among those that `takeChanged` gives next. */
  markChanged(tenantId: string, ruleId: string): void {
    const ruleIds = this.#changed.get(tenantId) ?? new Set();
    ruleIds.add(ruleId);
    this.#changed.set(tenantId, ruleIds);
  }

  #tenant(tenantId: string): TenantRules {
    const known = this.#tenants.get(tenantId);
    if (known !== undefined) return known;
    const { clock, rulesOf, policyBar, spentUsd, onBound } = this.#options;
    const tenant = new TenantRules({
      tenantId,
      clock,
      rules: () => rulesOf(tenantId),
      policyBar: (agentId) => policyBar(tenantId, agentId),
      spentUsd: (agentId) => spentUsd(tenantId, agentId),
      onChanged: (ruleId) => this.markChanged(tenantId, ruleId),
      onBound,
    });
    this.#tenants.set(tenantId, tenant);
    return tenant;
  }
}
