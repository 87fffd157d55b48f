/**
 * The schemas the documentation names: those of the contracts, and the few shapes that are only spoken of here.
 * Each becomes one entry of `components/schemas`; wherever it occurs inside another, a reference.
 */
import { z } from 'zod';
import * as contracts from '#contracts';
import { switchTenantBodySchema } from '../auth/auth.controller.js';
import { deactivateBodySchema } from '../llm-proxy/agents/agent-bodies.js';

const errorCodes = Object.keys(contracts.ERRORS) as [contracts.ErrorCode, ...contracts.ErrorCode[]];

const page = <Item extends z.ZodType>(items: Item) =>
  z.object({
    items: z.array(items),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        'Send back as cursor for the next page; null on the last. A page that is short, or empty, is not the last: a search for what is rare comes in pieces.',
      ),
  });

export const errorSchema = z.object({
  status: z.literal('error'),
  reason: z.enum(errorCodes),
  detail: z.string().describe('For people: what is wrong and what to do.'),
  fields: z.array(z.string()).optional().describe('The fields at fault, as paths such as meta.trace_id.'),
  correlation_id: z.string().optional().describe('Of an internal error: find it in the log by this.'),
});
export const okSchema = z.object({ status: z.literal('ok') });
export const notReadySchema = z.object({ status: z.literal('unavailable'), reasons: z.array(z.string()) });
/** Its own shape in turn is the specification's. */
export const openApiSchema = z.object({
  openapi: z.string(),
  info: z.record(z.string(), z.unknown()),
  servers: z.array(z.object({ url: z.string() })),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())).describe('By path, then by method.'),
  components: z.record(z.string(), z.record(z.string(), z.unknown())).describe('By kind, then by name.'),
});
export const onboardingSchema = z.object({ agent_key: z.string().nullable(), ingest_url: z.string() });
export const acknowledgeBodySchema = z.union([
  contracts.ackBodySchemas.seq,
  contracts.ackBodySchemas.directiveIds,
]);
export const storedAnswerSchema = z.union([contracts.acceptedAnswerSchema, contracts.batchAnswerSchema]);
export const refusedAnswerSchema = z.union([contracts.rejectedAnswerSchema, contracts.batchAnswerSchema]);
export const sampleLoopAnswerSchema = contracts.batchAnswerSchema.extend({ session_id: z.string() });
export const auditVerificationSchema = z.object({
  ok: z.boolean(),
  entry_count: z.number().int(),
  broken_at_seq: z.number().int().nullable().describe('First entry whose hash or link is wrong.'),
});
const storedAlertSchema = contracts.entropyAlertEventSchema.extend({ seq: z.number().int() });
const storedViolationSchema = contracts.violationEventSchema.extend({ seq: z.number().int() });
export const decisionLogBatchSchema = z
  .array(contracts.decisionLogSchema)
  .min(1)
  .max(contracts.LIMITS.batchCountMax);

export const pages = {
  sessions: page(contracts.sessionViewSchema),
  steps: page(contracts.stepViewSchema),
  alerts: page(storedAlertSchema),
  violations: page(storedViolationSchema),
  alertDeliveries: page(contracts.alertDeliverySchema),
  audit: page(contracts.auditEntrySchema),
  agentKeys: page(contracts.agentKeySchema),
  operators: page(contracts.operatorTokenSchema),
  tenants: page(z.string()),
  calls: page(contracts.llmCallSchema),
  incidents: page(contracts.incidentSchema),
  semanticLoops: page(contracts.semanticLoopEventSchema),
  cacheEntries: page(contracts.cacheEntryViewSchema),
  semanticMatches: page(contracts.semanticMatchSchema),
  alertRules: page(contracts.alertRuleSchema),
  alertChannels: page(contracts.alertChannelSchema),
};

const list = <Item extends z.ZodType>(items: Item) => z.object({ items: z.array(items) });

/** Listings that come whole. */
export const lists = {
  agents: list(contracts.agentViewSchema),
  heldCalls: list(contracts.heldCallSchema),
  spend: list(contracts.spendLineSchema),
  upstreams: list(contracts.upstreamSchema),
};
export const cacheInvalidatedSchema = z.object({
  status: z.literal('ok'),
  count: z.number().int().describe('Entries that match.'),
  preview: z.boolean(),
});
export const agentCommandAnswerSchema = z.object({
  status: z.literal('ok'),
  note: z.enum(['already_active', 'already_inactive']).optional(),
});

/** Name in the documentation -> schema. */
export const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  DecisionLog: contracts.decisionLogSchema,
  DecisionLogBatch: decisionLogBatchSchema,
  AcceptedAnswer: contracts.acceptedAnswerSchema,
  RejectedAnswer: contracts.rejectedAnswerSchema,
  BatchAnswer: contracts.batchAnswerSchema,
  StoredAnswer: storedAnswerSchema,
  RefusedAnswer: refusedAnswerSchema,
  SampleLoopAnswer: sampleLoopAnswerSchema,
  Error: errorSchema,
  Ok: okSchema,
  StepEnvelope: contracts.stepEnvelopeSchema,
  StepView: contracts.stepViewSchema,
  StepPage: pages.steps,
  EntropyTuple: contracts.entropyTupleSchema,
  SessionView: contracts.sessionViewSchema,
  SessionAnswer: contracts.sessionAnswerSchema,
  SessionPage: pages.sessions,
  EntropyAlert: contracts.entropyAlertEventSchema,
  StoredAlert: storedAlertSchema,
  AlertGroup: contracts.alertGroupSchema,
  AlertPage: pages.alerts,
  StoredViolation: storedViolationSchema,
  ViolationPage: pages.violations,
  Directive: contracts.directiveSchema,
  AgentControl: contracts.agentControlSchema,
  ControlPollAnswer: contracts.controlPollAnswerSchema,
  ControlView: contracts.controlViewSchema,
  Acknowledgement: acknowledgeBodySchema,
  PauseBody: contracts.commandBodySchemas.pause,
  ResumeBody: contracts.commandBodySchemas.resume,
  InjectBody: contracts.commandBodySchemas.inject,
  RewriteBody: contracts.commandBodySchemas.rewrite,
  TerminateBody: contracts.commandBodySchemas.terminate,
  CommandAnswer: contracts.commandAnswerSchema,
  AckAnswer: contracts.ackAnswerSchema,
  AuditEntry: contracts.auditEntrySchema,
  AuditPage: pages.audit,
  AuditVerification: auditVerificationSchema,
  RuntimeConfig: contracts.runtimeConfigSchema,
  RuntimeConfigPatch: contracts.runtimeConfigPatchSchema,
  RuntimeConfigAnswer: contracts.runtimeConfigAnswerSchema,
  LoginBody: contracts.loginBodySchema,
  SwitchTenantBody: switchTenantBodySchema,
  Me: contracts.meSchema,
  AgentKey: contracts.agentKeySchema,
  AgentKeyPage: pages.agentKeys,
  CreateAgentKeyBody: contracts.createAgentKeyBodySchema,
  CreatedAgentKey: contracts.createdAgentKeySchema,
  OperatorToken: contracts.operatorTokenSchema,
  OperatorPage: pages.operators,
  CreateOperatorBody: contracts.createOperatorBodySchema,
  CreatedOperator: contracts.createdOperatorSchema,
  TenantPage: pages.tenants,
  Onboarding: onboardingSchema,
  NotReady: notReadySchema,
  OpenApi: openApiSchema,
  AgentView: contracts.agentViewSchema,
  AgentList: lists.agents,
  AgentPolicy: contracts.agentPolicySchema,
  AgentPolicyPatch: contracts.agentPolicyPatchSchema,
  AllAgentsPolicy: contracts.allAgentsPolicySchema,
  AllAgentsPolicyPatch: contracts.allAgentsPolicyPatchSchema,
  AllAgentsView: contracts.allAgentsViewSchema,
  AllowedHours: contracts.allowedHoursSchema,
  AgentCommandAnswer: agentCommandAnswerSchema,
  DeactivateBody: deactivateBodySchema,
  KillSwitch: contracts.killSwitchAnswerSchema,
  KillSwitchPatch: contracts.killSwitchPatchSchema,
  Incident: contracts.incidentSchema,
  IncidentEvidence: contracts.incidentEvidenceSchema,
  IncidentPage: pages.incidents,
  SemanticLoop: contracts.semanticLoopEventSchema,
  SemanticLoopPage: pages.semanticLoops,
  SystemView: contracts.systemViewSchema,
  CacheStats: contracts.cacheStatsSchema,
  CacheEntry: contracts.cacheEntryViewSchema,
  CacheEntryPage: pages.cacheEntries,
  SemanticMatch: contracts.semanticMatchSchema,
  SemanticMatchPage: pages.semanticMatches,
  CacheVerdict: contracts.cacheVerdictSchema,
  CacheInvalidate: contracts.cacheInvalidateSchema,
  CacheInvalidated: cacheInvalidatedSchema,
  CallCache: contracts.callCacheSchema,
  LlmCall: contracts.llmCallSchema,
  CallPage: pages.calls,
  HeldCall: contracts.heldCallSchema,
  HeldCallList: lists.heldCalls,
  Usage: contracts.usageSchema,
  SpendLine: contracts.spendLineSchema,
  SpendList: lists.spend,
  ModelPrice: contracts.modelPriceSchema,
  PriceTable: contracts.priceTableSchema,
  PriceTablePut: contracts.priceTablePutSchema,
  Upstream: contracts.upstreamSchema,
  UpstreamList: lists.upstreams,
  UpstreamPut: contracts.upstreamPutSchema,
  AlertRule: contracts.alertRuleSchema,
  AlertRuleList: pages.alertRules,
  AlertRuleBody: contracts.alertRuleBodySchema,
  AlertRulePatch: contracts.alertRulePatchSchema,
  AlertAcknowledge: contracts.acknowledgeBodySchema,
  AlertChannel: contracts.alertChannelSchema,
  AlertChannelList: pages.alertChannels,
  AlertChannelBody: contracts.alertChannelBodySchema,
  AlertChannelPatch: contracts.alertChannelPatchSchema,
  CreatedAlertChannel: contracts.createdAlertChannelSchema,
  ChannelTest: contracts.channelTestSchema,
  DeadLettersRetry: contracts.deadLettersRetrySchema,
  DeadLettersRetried: contracts.deadLettersRetriedSchema,
  AlertNotice: contracts.alertNoticeSchema,
  AlertDelivery: contracts.alertDeliverySchema,
  AlertDeliveryPage: pages.alertDeliveries,
};
