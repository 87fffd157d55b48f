/**
 * Rules and channels of every tenant, in memory as they are in the store. A tenant that never changed a rule has the
 * default ones; its first change writes them down as well, and from then on they are rules like any other. A default rule
 * that came later joins them, where there is none of its type; like each of them it reaches nobody until it has a channel.
 *
 *     alert_rule / <rule_id>          settings          alert_rule / firing:<rule_id>   what fires, over a restart
 *                                                       of a rule that was removed with its settings, until that is closed
 *     alert_rule / seeded             of which types defaults are written down; they do not come back when they are deleted
 *     alert_channel / <channel_id>    record, sealed
 */
import { z } from 'zod';
import {
  type AuditDraft,
  acknowledgementSchema,
  alertRuleSchema,
  BUDGET_PERIODS,
  type ProxyStore,
  type StoredDocument,
  SYSTEM_OPERATOR,
} from '#contracts';
import { defaultRules, type KeptFiring, type RuleSettings } from '#domain/alerts';
import type { Clock } from '#kernel';
import { type ChannelRecord, channelRecordSchema } from './channel-record.js';

const { threshold_usd, period } = alertRuleSchema.shape;
const ruleSettingsSchema = alertRuleSchema
  .omit({ firing: true, firing_count: true, firing_since_ms: true })
  .extend({
    // Absent: written before there were rules about spending.
    threshold_usd: threshold_usd.default(null),
    period: period.default(null),
  });
const statesSchema = z.array(
  z.object({
    agent_id: z.string(),
    since_ms: z.number().nullable(),
    notice_count: z.number(),
    last_notice_ms: z.number().nullable(),
    // Absent: written before sessions were told apart.
    told_session_ids: z.array(z.string()).default([]),
    // Absent: written before anybody could.
    acknowledged: acknowledgementSchema.nullable().default(null),
    // Absent: written before refusals were kept.
    refusals: z
      .array(
        z.object({
          period: z.enum(BUDGET_PERIODS),
          spent_usd: z.number(),
          budget_usd: z.number(),
          at_ms: z.number(),
          refused_at_ms: z.number().nullable(),
        }),
      )
      .default([]),
  }),
);

const firingSchema = z.union([
  z.object({ as_of_seq: z.number(), states: statesSchema }),
  // As it was written before clocks that are set back were reckoned with.
  statesSchema.transform((states) => ({ as_of_seq: null, states })),
]);

/** Beside what fires; absent: the rule is there. */
const removedSchema = z.object({ removed: ruleSettingsSchema });

const SEEDED = 'seeded';
// Absent: written when there were no others.
const seededSchema = z.object({
  types: z.array(z.string()).default(['kill_switch', 'entropy_loop', 'semantic_loop']),
});
const FIRING_PREFIX = 'firing:';
const NOTHING_FIRES = { as_of_seq: null, states: [] };

export interface AlertDocumentsOptions {
  store: Pick<ProxyStore, 'documents' | 'commitDocuments'>;
  clock: Clock;
  onUnusable(kind: string, id: string): void;
}

const DEFAULT_RULES: readonly RuleSettings[] = defaultRules(SYSTEM_OPERATOR);

interface TenantDocuments {
  /** Types of which the default rule is written down, or was, or was not needed. */
  seededTypes: ReadonlySet<string>;
  rules: Map<string, RuleSettings>;
  /** Their removal is being written: what is kept of them after it is kept of a removed rule. */
  removing: Set<string>;
  channels: Map<string, ChannelRecord>;
}

export class AlertDocuments {
  readonly #options: AlertDocumentsOptions;
  readonly #tenants = new Map<string, TenantDocuments>();
  readonly #firing: KeptFiring[] = [];

  constructor(options: AlertDocumentsOptions) {
    this.#options = options;
  }

  /** Rejects as the store does; what is unusable is left out and told. */
  async load(): Promise<void> {
    const { store, onUnusable } = this.#options;
    const channels = await store.documents('alert_channel');
    const channelIds = new Set(channels.map(({ id }) => id));
    for (const { tenant_id, id, body, updated_at_ms } of await store.documents('alert_rule')) {
      const tenant = this.#tenant(tenant_id);
      if (id === SEEDED) tenant.seededTypes = new Set(seededSchema.parse(body).types);
      else if (id.startsWith(FIRING_PREFIX)) {
        const { states, as_of_seq: asOfSeq } = firingSchema.safeParse(body).data ?? NOTHING_FIRES;
        const ruleId = id.slice(FIRING_PREFIX.length);
        const given = removedSchema.safeParse(body).data?.removed;
        const removed = given && withThese(given, channelIds);
        this.#firing.push({ tenantId: tenant_id, ruleId, states, asOfSeq, asOfMs: updated_at_ms, removed });
      } else {
        const rule = ruleSettingsSchema.safeParse(body).data;
        if (rule === undefined) onUnusable('alert_rule', id);
        else tenant.rules.set(id, withThese(rule, channelIds));
      }
    }
    for (const { tenant_id, id, body } of channels) {
      const channel = channelRecordSchema.safeParse(body).data;
      if (channel === undefined) onUnusable('alert_channel', id);
      else this.#tenant(tenant_id).channels.set(id, channel);
    }
  }

  /** Oldest first. */
  rules(tenantId: string): RuleSettings[] {
    const tenant = this.#tenants.get(tenantId);
    const rules = [...(tenant?.rules.values() ?? []), ...newDefaults(tenant)];
    return rules.sort((a, b) => a.created_at_ms - b.created_at_ms);
  }

  rule(tenantId: string, ruleId: string): RuleSettings | undefined {
    return this.rules(tenantId).find((rule) => rule.rule_id === ruleId);
  }

  /**
   * Rejects as the store does: then nothing has changed, as with all that follow.
   * @param firing where the change makes it another
   */
  async saveRule(
    tenantId: string,
    rule: RuleSettings,
    audit: AuditDraft,
    firing?: KeptFiring,
  ): Promise<void> {
    await this.#commitRules(tenantId, { saved: [rule], firing }, audit);
  }

  /**
   * @param removed what it fires: kept, with the rule, until `saveFiring` is told that it is closed; also where it is nothing, since
   * something may begin while this is written
   */
  async deleteRule(removed: KeptFiring, audit: AuditDraft): Promise<void> {
    const { removing } = this.#tenant(removed.tenantId);
    removing.add(removed.ruleId);
    try {
      await this.#commitRules(removed.tenantId, { saved: [], removed }, audit);
    } finally {
      removing.delete(removed.ruleId);
    }
  }

  /** Those with a channel: somebody may have been told something. */
  *tenantsWithChannels(): Generator<string> {
    for (const [tenantId, { channels }] of this.#tenants) if (channels.size > 0) yield tenantId;
  }

  /** Oldest first. */
  channels(tenantId: string): ChannelRecord[] {
    const channels = [...(this.#tenants.get(tenantId)?.channels.values() ?? [])];
    return channels.sort((a, b) => a.created_at_ms - b.created_at_ms);
  }

  channel(tenantId: string, channelId: string): ChannelRecord | undefined {
    return this.#tenants.get(tenantId)?.channels.get(channelId);
  }

  async saveChannel(tenantId: string, channel: ChannelRecord, audit: AuditDraft): Promise<void> {
    const saved = [this.#document(tenantId, 'alert_channel', channel.channel_id, channel)];
    await this.#options.store.commitDocuments({ saved, audit: [audit] });
    this.#tenant(tenantId).channels.set(channel.channel_id, channel);
  }

  /** Takes it out of every rule, too. */
  async deleteChannel(tenantId: string, channelId: string, audit: AuditDraft): Promise<void> {
    const { rules, channels } = this.#tenant(tenantId);
    const changed = [...rules.values()]
      .filter(({ channel_ids }) => channel_ids.includes(channelId))
      .map((rule) => ({ ...rule, channel_ids: rule.channel_ids.filter((id) => id !== channelId) }));
    await this.#options.store.commitDocuments({
      saved: changed.map((rule) => this.#document(tenantId, 'alert_rule', rule.rule_id, rule)),
      deleted: [{ tenant_id: tenantId, kind: 'alert_channel', id: channelId }],
      audit: [audit],
    });
    for (const rule of changed) rules.set(rule.rule_id, rule);
    channels.delete(channelId);
  }

  /** What was firing when the last process ended. */
  loadedFiring(): readonly KeptFiring[] {
    return this.#firing;
  }

  /** Of a rule that is gone meanwhile, nothing is kept once all that it fired is closed. @param audit of an operator who changed it */
  async saveFiring(firing: KeptFiring, ...audit: AuditDraft[]): Promise<void> {
    const { tenantId, ruleId, states } = firing;
    const { store } = this.#options;
    const rule = this.rule(tenantId, ruleId);
    const removed = this.#tenant(tenantId).removing.has(ruleId) ? rule : undefined;
    if (rule !== undefined)
      await store.commitDocuments({ saved: [this.#firingDocument(firing, removed)], audit });
    else if (states.length === 0)
      await store.commitDocuments({
        deleted: [{ tenant_id: tenantId, kind: 'alert_rule', id: FIRING_PREFIX + ruleId }],
      });
  }

  /** A tenant's first change writes its default rules down as well. */
  async #commitRules(
    tenantId: string,
    change: { saved: RuleSettings[]; firing?: KeptFiring | undefined; removed?: KeptFiring },
    audit: AuditDraft,
  ): Promise<void> {
    const tenant = this.#tenant(tenantId);
    const types = DEFAULT_RULES.map(({ type }) => type);
    const isSeeded = types.every((type) => tenant.seededTypes.has(type));
    const saved = [...newDefaults(tenant), ...change.saved];
    const documents = saved.map((rule) => this.#document(tenantId, 'alert_rule', rule.rule_id, rule));
    if (!isSeeded) documents.push(this.#document(tenantId, 'alert_rule', SEEDED, { types }));
    const { firing, removed } = change;
    if (firing !== undefined) documents.push(this.#firingDocument(firing));
    const gone = removed === undefined ? [] : [removed.ruleId];
    if (removed !== undefined)
      documents.push(this.#firingDocument(removed, this.rule(tenantId, removed.ruleId)));
    await this.#options.store.commitDocuments({
      saved: documents,
      deleted: gone.map((id) => ({ tenant_id: tenantId, kind: 'alert_rule', id })),
      audit: [audit],
    });
    tenant.seededTypes = new Set(types);
    for (const rule of saved) tenant.rules.set(rule.rule_id, rule);
    for (const ruleId of gone) tenant.rules.delete(ruleId);
  }

  #firingDocument(
    { tenantId, ruleId, states, asOfSeq, asOfMs }: KeptFiring,
    removed?: RuleSettings,
  ): StoredDocument {
    const body = { as_of_seq: asOfSeq, states, removed };
    return this.#document(tenantId, 'alert_rule', FIRING_PREFIX + ruleId, body, asOfMs);
  }

  #document(
    tenant_id: string,
    kind: 'alert_rule' | 'alert_channel',
    id: string,
    body: unknown,
    updated_at_ms = this.#options.clock.nowMs(),
  ): StoredDocument {
    return { tenant_id, kind, id, body, updated_at_ms };
  }

  #tenant(tenantId: string): TenantDocuments {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      tenant = { seededTypes: new Set(), rules: new Map(), removing: new Set(), channels: new Map() };
      this.#tenants.set(tenantId, tenant);
    }
    return tenant;
  }
}

/** An older build takes a channel that it deletes out of no rule of a type that it does not know. */
const withThese = (rule: RuleSettings, channelIds: ReadonlySet<string>): RuleSettings => ({
  ...rule,
  channel_ids: rule.channel_ids.filter((channelId) => channelIds.has(channelId)),
});

/** The default rules that a tenant has though they are not written down. */
function newDefaults(tenant: TenantDocuments | undefined): RuleSettings[] {
  if (tenant === undefined) return [...DEFAULT_RULES];
  const present = new Set<string>(tenant.seededTypes);
  for (const { type } of tenant.rules.values()) present.add(type);
  return DEFAULT_RULES.filter(({ type }) => !present.has(type));
}
