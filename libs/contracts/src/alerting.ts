/** Telling people: rules decide when, channels where, deliveries keep the promise. */
import { z } from 'zod';
import { displayNameSchema } from './auth.js';
import { LIMITS } from './limits.js';

export const ALERT_TYPES = [
  'kill_switch',
  'entropy_loop',
  'semantic_loop',
  'hitl_required',
  'budget',
  'spend',
  'total_spend',
  'error_rate',
  'agent_silent',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];
/** They speak from an amount, over a period. */
export const isSpendRule = (type: AlertType): type is 'spend' | 'total_spend' =>
  type === 'spend' || type === 'total_spend';

/** Of a rule's spans. */
export const RULE_SECONDS_MIN = { window_s: 10, cooldown_s: 0, repeat_s: 60 } as const;
export const RULE_SECONDS_MAX = 30 * 86_400;

export const RULE_USD_MAX = 1_000_000;

/** `threshold` of a rule that leaves it open. */
export const RULE_SHARE_DEFAULT = { budget: 0.8, error_rate: 0.5 } as const;
export const BUDGET_PERIODS = ['hour', 'day', 'month'] as const;
/** The last 60 minutes, or the calendar day or month in UTC. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];
/** `period` of a rule that leaves it open. */
export const RULE_PERIOD_DEFAULT: BudgetPeriod = 'hour';

/** `window_s` of a rule that leaves it open. */
export const RULE_WINDOW_S_DEFAULT = { error_rate: 300, agent_silent: 600, semantic_loop: 600 } as const;

const seconds = (name: keyof typeof RULE_SECONDS_MIN) =>
  z.number().int().min(RULE_SECONDS_MIN[name]).max(RULE_SECONDS_MAX);

export const RULE_CHANNELS_MAX = 20;
const channelIds = z.array(z.string().min(1).max(100)).max(RULE_CHANNELS_MAX);

const ruleFields = {
  name: displayNameSchema,
  type: z.enum(ALERT_TYPES),
  enabled: z.boolean(),
  /**
   * Null: every agent of the tenant, and with `budget` all of them together as well. `total_spend` is about all of them together, and
   * takes no other.
   */
  agent_id: z.string().min(1).max(LIMITS.idCharsMax).nullable(),
  /**
   * `budget`: share of a budget spent, 0..1 (0.8 = at 80 %); a call that a budget refuses counts as much. `error_rate`: share of failed calls, 0..1, over the last
   * `window_s`, of at least ten. `agent_silent`: unused, the agent is silent for `window_s`. `semantic_loop`: unused, it
   * is over when none was found for `window_s`. Else unused. Null: RULE_SHARE_DEFAULT and RULE_WINDOW_S_DEFAULT.
   */
  threshold: z.number().min(0).max(1).nullable(),
  /**
   * `spend` and `total_spend`, which ask for it: an agent, or all of them together, spent this much within `period`, as far as
   * prices are known. Else unused.
   */
  threshold_usd: z.number().positive().max(RULE_USD_MAX).nullable(),
  /** `spend`, `total_spend`: null is RULE_PERIOD_DEFAULT. Else unused. */
  period: z.enum(BUDGET_PERIODS).nullable(),
  window_s: seconds('window_s').nullable(),
  /**
   * After a notice, nothing more about the same agent for this long; sessions of it that go into a loop meanwhile are told
   * together afterwards.
   */
  cooldown_s: seconds('cooldown_s'),
  /** Says it again while it lasts; null = once. */
  repeat_s: seconds('repeat_s').nullable(),
  /** Also says when it is over. */
  notify_recovery: z.boolean(),
  /** Epoch ms; until then it fires silently. */
  muted_until_ms: z.number().int().nonnegative().nullable(),
  channel_ids: channelIds,
};

/** After this an alert that somebody acknowledged is repeated again: who forgot it would else keep it from all. */
export const ACKNOWLEDGED_MS_MAX = 8 * 3_600_000;

/** Somebody has an alert in hand. */
export const acknowledgementSchema = z.object({
  by: z.string(),
  at_ms: z.number(),
});
export type Acknowledgement = z.infer<typeof acknowledgementSchema>;

export const alertRuleSchema = z.object({
  rule_id: z.string(),
  ...ruleFields,
  /** As it was given; rules are older than what is asked of a name today. */
  name: z.string(),
  created_at_ms: z.number(),
  updated_by: z.string(),
  /** Agents for which it is firing now: by id, the first 100. Of `total_spend`, and of a `budget` of all agents, one without an id. */
  firing: z.array(
    z.object({
      agent_id: z.string().nullable(),
      since_ms: z.number(),
      notice_count: z.number().int(),
      /** Null: nobody has it in hand, or no more after ACKNOWLEDGED_MS_MAX. */
      acknowledged: acknowledgementSchema.nullable(),
    }),
  ),
  /** How many there are in all. */
  firing_count: z.number().int(),
  /** Since when for the first of all; null: for none. */
  firing_since_ms: z.number().nullable(),
});
export type AlertRule = z.infer<typeof alertRuleSchema>;

/** `POST /v1/alert-rules`; all but name and type have defaults. */
export const alertRuleBodySchema = z.strictObject({
  ...ruleFields,
  enabled: ruleFields.enabled.default(true),
  agent_id: ruleFields.agent_id.default(null),
  threshold: ruleFields.threshold.default(null),
  threshold_usd: ruleFields.threshold_usd.default(null),
  period: ruleFields.period.default(null),
  window_s: ruleFields.window_s.default(null),
  cooldown_s: ruleFields.cooldown_s.default(300),
  repeat_s: ruleFields.repeat_s.default(null),
  notify_recovery: ruleFields.notify_recovery.default(true),
  muted_until_ms: ruleFields.muted_until_ms.default(null),
  channel_ids: ruleFields.channel_ids.default([]),
});
export const alertRulePatchSchema = z
  .strictObject({
    ...ruleFields,
    /** Of the list as it is by then, so that two who each add a channel both do; after `channel_ids`, where that is given too. */
    add_channel_ids: channelIds,
    remove_channel_ids: channelIds,
  })
  .omit({ type: true })
  .partial();
/** `POST /v1/alert-rules/{rule_id}/acknowledge`. */
export const acknowledgeBodySchema = z.strictObject({
  /** For whom the rule fires; null: all of them together. */
  agent_id: z.string().min(1).max(LIMITS.idCharsMax).nullable(),
  /** False hands it back. */
  acknowledged: z.boolean().default(true),
});
export type AcknowledgeBody = z.infer<typeof acknowledgeBodySchema>;

export type AlertRulePatch = z.infer<typeof alertRulePatchSchema>;

const httpUrl = z.url({ protocol: /^https?$/ }).max(2_000);

/** Secrets (`secret`, `smtp_password`, a Slack URL) go in and never come out: answers hold `has_secret` and a redacted target. */
export const alertChannelBodySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('webhook'),
    name: displayNameSchema,
    url: httpUrl,
    /** Signs each delivery; absent: one is made and given out once. */
    secret: z.string().min(16).max(200).optional(),
    /** Allows private and loopback addresses; link-local ones and metadata services never. */
    allow_private: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('slack'),
    name: displayNameSchema,
    url: httpUrl,
    allow_private: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('email'),
    name: displayNameSchema,
    to: z.array(z.email()).min(1).max(20),
    from: z.email(),
    smtp_host: z.string().min(1).max(255),
    smtp_port: z.number().int().min(1).max(65_535),
    /** True: TLS from the first byte (465). False: STARTTLS where offered. */
    smtp_tls: z.boolean().default(false),
    smtp_user: z.string().max(200).optional(),
    smtp_password: z.string().max(1_000).optional(),
    /** As for webhooks, for the mail server. */
    allow_private: z.boolean().default(false),
  }),
]);
export type AlertChannelBody = z.infer<typeof alertChannelBodySchema>;

/** `PATCH`: what is absent stays, null takes away. `kind` may only repeat what it is; fields of other kinds are refused. */
export const alertChannelPatchSchema = z.strictObject({
  kind: z.enum(['webhook', 'slack', 'email']).optional(),
  name: displayNameSchema.optional(),
  url: httpUrl.optional(),
  secret: z.string().min(16).max(200).nullable().optional(),
  allow_private: z.boolean().optional(),
  to: z.array(z.email()).min(1).max(20).optional(),
  from: z.email().optional(),
  smtp_host: z.string().min(1).max(255).optional(),
  smtp_port: z.number().int().min(1).max(65_535).optional(),
  smtp_tls: z.boolean().optional(),
  smtp_user: z.string().max(200).nullable().optional(),
  smtp_password: z.string().max(1_000).nullable().optional(),
});
export type AlertChannelPatch = z.infer<typeof alertChannelPatchSchema>;

export const alertChannelSchema = z.object({
  channel_id: z.string(),
  kind: z.enum(['webhook', 'slack', 'email']),
  name: z.string(),
  /** Where it goes, without what is secret: `https://hooks.example.org/...` or the recipients. */
  target: z.string(),
  has_secret: z.boolean(),
  allow_private: z.boolean(),
  circuit: z.object({
    /**
     * `refusing`: the latest notice was refused for good, the next is sent all the same. `open`: too many failures in a row.
     * `resting`: its receiver asked for it. The next try of these two is at `retry_at_ms`.
     */
    state: z.enum(['closed', 'refusing', 'open', 'resting']),
    retry_at_ms: z.number().nullable(),
    /** Why the latest notice did not arrive, without secrets; null where it is closed. */
    reason: z.string().nullable(),
  }),
  created_at_ms: z.number(),
  updated_by: z.string(),
});
export type AlertChannel = z.infer<typeof alertChannelSchema>;
/** The signing secret is in this answer and nowhere else; null when the caller brought its own, or for other kinds. */
export const createdAlertChannelSchema = z.object({
  channel: alertChannelSchema,
  secret: z.string().nullable(),
});

/** `firing` comes again where an agent has more looping sessions than were told; `recovered` comes once, after the last. `acknowledged`: somebody has it in hand. */
export const NOTICE_PHASES = ['firing', 'repeat', 'acknowledged', 'recovered', 'test'] as const;

/** What a channel delivers; the JSON body of a webhook. */
export const alertNoticeSchema = z.object({
  notice_id: z.string(),
  type: z.enum(ALERT_TYPES),
  phase: z.enum(NOTICE_PHASES),
  rule_id: z.string().nullable(),
  rule_name: z.string(),
  tenant_id: z.string(),
  /** Null: all of the tenant together (`total_spend`, or a `budget` of all agents). */
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  at_ms: z.number(),
  /** One line. */
  title: z.string(),
  /** A few sentences; never text of a prompt. */
  text: z.string(),
  /** Page of the dashboard; null when no public URL is known. */
  url: z.string().nullable(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])),
});
export type AlertNotice = z.infer<typeof alertNoticeSchema>;

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export const alertDeliverySchema = z.object({
  delivery_id: z.string(),
  seq: z.number().int(),
  channel_id: z.string(),
  notice: alertNoticeSchema,
  state: z.enum(DELIVERY_STATES),
  attempt_count: z.number().int(),
  next_attempt_at_ms: z.number().nullable(),
  /** Why the last attempt failed, or whom it did not reach, without secrets. */
  last_error: z.string().nullable(),
  created_at_ms: z.number(),
  finished_at_ms: z.number().nullable(),
});
export type AlertDelivery = z.infer<typeof alertDeliverySchema>;

/** `POST /v1/alert-deliveries/retry`. */
export const deadLettersRetrySchema = z.strictObject({
  /** Null: those of every channel. */
  channel_id: z.string().min(1).max(LIMITS.idCharsMax).nullable().default(null),
});
export const deadLettersRetriedSchema = z.object({
  retried_count: z.number().int(),
  has_more: z.boolean().describe('There was no room for some: ask again when those put back have gone.'),
});
export type DeadLettersRetried = z.infer<typeof deadLettersRetriedSchema>;

/** `POST /v1/alert-channels/{id}/test`. */
export const channelTestSchema = z.object({
  status: z.enum(['ok', 'failed']),
  detail: z.string().describe('For people: that it was taken, or why not.'),
  duration_ms: z.number(),
});
export type ChannelTest = z.infer<typeof channelTestSchema>;
