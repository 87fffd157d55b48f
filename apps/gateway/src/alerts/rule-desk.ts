/** Rules as operators see and change them: of their tenant only, audited, in force when answered. */
import type { z } from 'zod';
import {
  type AcknowledgeBody,
  type AlertRule,
  type AlertRulePatch,
  type alertRuleBodySchema,
  isSpendRule,
  LIMITS,
  ObservatoryError,
  type OperatorPrincipal,
  RULE_CHANNELS_MAX,
  repeatedNames,
} from '#contracts';
import { isUnheard, type KeptFiring, type RuleSettings, untold } from '#domain/alerts';
import { type ChangeQueue, type Clock, canonicalJson, changesOf, type IdSource } from '#kernel';
import type { AuditLine, SettingsAudit } from '../auth/settings-audit.js';
import type { AlertDocuments } from './alert-documents.js';
import type { Acknowledging } from './alert-monitor.js';

const RULES_PER_TENANT_MAX = 100;

export interface RuleDeskParts {
  documents: AlertDocuments;
  audit: SettingsAudit;
  /** By tenant. */
  changes: ChangeQueue<string>;
  clock: Clock;
  ids: IdSource;
  /** What is firing, and to be told of changes. */
  watch: {
    firing(tenantId: string, ruleId: string): AlertRule['firing'];
    kept(tenantId: string, ruleId: string): KeptFiring;
    rulesChanged(tenantId: string): void;
    ruleRemoved(tenantId: string, ruleId: string): void;
    acknowledge(...change: Acknowledging): void;
    keptInHand(...change: Acknowledging): KeptFiring | null;
  };
}

/** Of a tenant: each looks at every call of all its agents, and keeps counts or reads sums of them. */
const CALL_COUNTING_RULES_MAX = 10;

const countsCallsOfAll = ({ type, agent_id, enabled }: RuleSettings): boolean =>
  (type === 'error_rate' || isSpendRule(type)) && agent_id === null && enabled;

/** @throws ObservatoryError invalid_fields for more channels than a rule can have */
function withChannels(
  { add_channel_ids: added, remove_channel_ids: removed, ...patch }: AlertRulePatch,
  before: RuleSettings,
): Partial<RuleSettings> {
  if (added === undefined && removed === undefined) return patch;
  const all = new Set([...(patch.channel_ids ?? before.channel_ids), ...(added ?? [])]);
  const channel_ids = [...all].filter((id) => !removed?.includes(id));
  if (channel_ids.length <= RULE_CHANNELS_MAX) return { ...patch, channel_ids };
  const detail = `channel_ids: a rule has at most ${RULE_CHANNELS_MAX} channels.`;
  throw new ObservatoryError('invalid_fields', detail, { fields: ['channel_ids'] });
}

/** There is no amount that is too much for everybody. */
function requireAmount({ type, threshold_usd }: RuleSettings): void {
  if (!isSpendRule(type) || threshold_usd !== null) return;
  const detail = `threshold_usd: a rule of the type ${type} asks for the amount from which it speaks, in USD.`;
  throw new ObservatoryError('invalid_fields', detail, { fields: ['threshold_usd'] });
}

function requireNoAgent({ type, agent_id }: RuleSettings): void {
  if (type !== 'total_spend' || agent_id === null) return;
  const detail =
    'agent_id: a rule of the type total_spend is about all agents together; leave it out, or take the type spend.';
  throw new ObservatoryError('invalid_fields', detail, { fields: ['agent_id'] });
}

export class RuleDesk {
  readonly #parts: RuleDeskParts;

  constructor(parts: RuleDeskParts) {
    this.#parts = parts;
  }

  /** Oldest first. */
  list(tenantId: string): AlertRule[] {
    return this.#parts.documents.rules(tenantId).map((rule) => this.#shown(tenantId, rule));
  }

  /** @throws ObservatoryError invalid_fields for a channel that is not there, for a rule that is, or when there are too many */
  create(by: OperatorPrincipal, body: z.infer<typeof alertRuleBodySchema>): Promise<AlertRule> {
    const { documents, clock, ids, changes } = this.#parts;
    return changes.run(by.tenant_id, async () => {
      if (documents.rules(by.tenant_id).length >= RULES_PER_TENANT_MAX) {
        const detail = `There are ${RULES_PER_TENANT_MAX} rules already; remove some first.`;
        throw new ObservatoryError('invalid_fields', detail);
      }
      this.#requireChannels(by.tenant_id, body.channel_ids);
      this.#requireNew(by.tenant_id, body);
      const rule: RuleSettings = {
        ...body,
        rule_id: `rule_${ids.next()}`,
        created_at_ms: clock.nowMs(),
        updated_by: by.operator_id,
      };
      return this.#save(by, 'alert_rule.create', rule, { rule: body });
    });
  }

  /**
   * A change of nothing writes nothing.
   * @throws ObservatoryError alert_rule_not_found; invalid_fields for a channel that is not there, or without an amount that its type asks for
   */
  update(by: OperatorPrincipal, ruleId: string, patch: AlertRulePatch): Promise<AlertRule> {
    return this.#parts.changes.run(by.tenant_id, async () => {
      const before = this.#required(by.tenant_id, ruleId);
      const given = withChannels(patch, before);
      if (given.channel_ids !== undefined) this.#requireChannels(by.tenant_id, given.channel_ids);
      const after = changesOf(given, before);
      const names = Object.keys(after) as (keyof RuleSettings)[];
      if (names.length === 0) return this.#shown(by.tenant_id, before);
      const was = Object.fromEntries(names.map((name) => [name, before[name]]));
      const rule: RuleSettings = { ...before, ...after, updated_by: by.operator_id };
      return this.#save(by, 'alert_rule.update', rule, { before: was, after });
    });
  }

  /** @throws ObservatoryError alert_rule_not_found */
  remove(by: OperatorPrincipal, ruleId: string): Promise<void> {
    const { documents, audit, changes, watch } = this.#parts;
    return changes.run(by.tenant_id, async () => {
      const { name, type } = this.#required(by.tenant_id, ruleId);
      const detail = { rule_id: ruleId, name, type };
      const draft = audit.draft(by, by.tenant_id, 'alert_rule.delete', detail);
      await documents.deleteRule(watch.kept(by.tenant_id, ruleId), draft);
      watch.ruleRemoved(by.tenant_id, ruleId);
    });
  }

  /**
   * Takes an alert in hand, or hands it back, whoever has it: that one may have gone. In the audit before it is so, and kept with it.
   * @throws ObservatoryError alert_rule_not_found; alert_not_firing; alert_acknowledged where somebody else has it
   */
  acknowledge(by: OperatorPrincipal, ruleId: string, body: AcknowledgeBody): Promise<AlertRule> {
    const { audit, changes, clock, documents, watch } = this.#parts;
    const { tenant_id, operator_id } = by;
    return changes.run(tenant_id, async () => {
      const rule = this.#required(tenant_id, ruleId);
      const firing = watch.firing(tenant_id, ruleId).find(({ agent_id }) => agent_id === body.agent_id);
      if (firing === undefined) throw new ObservatoryError('alert_not_firing');
      const before = firing.acknowledged?.by ?? null;
      if (body.acknowledged && before !== null && before !== operator_id)
        throw new ObservatoryError('alert_acknowledged', `${before} has this alert in hand already.`);
      if (body.acknowledged === (before !== null)) return this.#shown(tenant_id, rule);
      const about = body.agent_id === null ? { all_agents: true } : { agent_id: body.agent_id };
      const { acknowledged } = body;
      const was = before === null ? {} : { was_with: before };
      const detail = { rule_id: ruleId, name: rule.name, ...about, acknowledged, ...was };
      const meant = { agentId: body.agent_id, sinceMs: firing.since_ms };
      const taken = acknowledged ? { by: operator_id, at_ms: clock.nowMs() } : null;
      const change: Acknowledging = [tenant_id, ruleId, meant, taken];
      const line: AuditLine = [by, tenant_id, 'alert_rule.acknowledge', detail];
      const kept = watch.keptInHand(...change);
      await (kept === null ? audit.record(...line) : documents.saveFiring(kept, audit.draft(...line)));
      watch.acknowledge(...change);
      return this.#shown(tenant_id, this.#required(tenant_id, ruleId));
    });
  }

  async #save(
    by: OperatorPrincipal,
    action: string,
    rule: RuleSettings,
    detail: Record<string, unknown>,
  ): Promise<AlertRule> {
    const { documents, audit, watch } = this.#parts;
    this.#requireRoom(by.tenant_id, rule);
    requireAmount(rule);
    requireNoAgent(rule);
    const { rule_id, name } = rule;
    const draft = audit.draft(by, by.tenant_id, action, { rule_id, name, ...detail });
    await documents.saveRule(by.tenant_id, rule, draft, this.#firingWith(by.tenant_id, rule));
    watch.rulesChanged(by.tenant_id);
    return this.#shown(by.tenant_id, rule);
  }

  /** With a rule whose channels have heard of nothing: a process that dies before it tells them leaves that to the next. */
  #firingWith(tenantId: string, rule: RuleSettings): KeptFiring | undefined {
    const { documents, watch } = this.#parts;
    const before = documents.rule(tenantId, rule.rule_id);
    if (before === undefined || !isUnheard(rule, before)) return undefined;
    const kept = watch.kept(tenantId, rule.rule_id);
    return { ...kept, states: untold(kept.states) };
  }

  /** A request that is sent twice would have the same people told twice. */
  #requireNew(tenantId: string, body: z.infer<typeof alertRuleBodySchema>): void {
    const isSame = ({ rule_id: _, created_at_ms: __, updated_by: ___, ...rule }: RuleSettings): boolean =>
      canonicalJson(rule) === canonicalJson(body);
    if (!this.#parts.documents.rules(tenantId).some(isSame)) return;
    const detail =
      'name: there is a rule of this name already that is the same in everything; change it, or name this one otherwise.';
    throw new ObservatoryError('invalid_fields', detail, { fields: ['name'] });
  }

  #required(tenantId: string, ruleId: string): RuleSettings {
    const rule = this.#parts.documents.rule(tenantId, ruleId);
    if (rule === undefined) throw new ObservatoryError('alert_rule_not_found');
    return rule;
  }

  #requireRoom(tenantId: string, rule: RuleSettings): void {
    const { documents } = this.#parts;
    const before = documents.rule(tenantId, rule.rule_id);
    if (!countsCallsOfAll(rule) || (before !== undefined && countsCallsOfAll(before))) return;
    if (documents.rules(tenantId).filter(countsCallsOfAll).length < CALL_COUNTING_RULES_MAX) return;
    const detail = `agent_id: there are ${CALL_COUNTING_RULES_MAX} rules of the types error_rate, spend and total_spend about every agent already; name an agent, or remove one of them.`;
    throw new ObservatoryError('invalid_fields', detail, { fields: ['agent_id'] });
  }

  #requireChannels(tenantId: string, channelIds: readonly string[]): void {
    const { documents } = this.#parts;
    const unknown = [...new Set(channelIds)].filter((id) => documents.channel(tenantId, id) === undefined);
    if (unknown.length === 0) return;
    const detail = `channel_ids: no such channel in this tenant: ${repeatedNames(unknown).join(', ')}.`;
    throw new ObservatoryError('invalid_fields', detail, { fields: ['channel_ids'] });
  }

  #shown(tenantId: string, rule: RuleSettings): AlertRule {
    const firing = this.#parts.watch.firing(tenantId, rule.rule_id);
    const byAgent = firing.sort((a, b) => ((a.agent_id ?? '') < (b.agent_id ?? '') ? -1 : 1));
    return {
      ...rule,
      firing: byAgent.slice(0, LIMITS.firingAgentsMax),
      firing_count: firing.length,
      firing_since_ms: firing.length === 0 ? null : Math.min(...firing.map(({ since_ms }) => since_ms)),
    };
  }
}
