/** Rows for the store: valid, with whatever a test cares about on top. */
import type {
  AuditDraft,
  ControlRow,
  EntropyAlertEvent,
  SessionView,
  StepRow,
  ViolationEvent,
} from '#contracts';
import { buildDecisionLog } from './build-decision-log.js';

let serial = 0;

/** A new step on each call; `trace_id` and `body_hash` are its own unless given. */
export function buildStepRow(overrides: Partial<StepRow> = {}): StepRow {
  serial += 1;
  const traceId = overrides.trace_id ?? `step-${serial}`;
  const log = buildDecisionLog({
    meta: { trace_id: traceId, session_id: overrides.session_id ?? 'session-1' },
  });
  return {
    tenant_id: 'default',
    session_id: 'session-1',
    agent_id: 'agent-1',
    trace_id: traceId,
    body_hash: `hash-${serial}`,
    received_at_ms: 1_000 + serial,
    held: 0,
    entropy_score: 1,
    entropy_severity: 'normal',
    window_size: 1,
    body: JSON.stringify(log),
    ...overrides,
  };
}

/** Body of a step that takes about so much. */
export const longBody = (chars: number): string =>
  JSON.stringify(buildDecisionLog({ action: { tool_output_summary: 'x'.repeat(chars) } }));

export function buildSessionView(overrides: Partial<SessionView> = {}): SessionView {
  return {
    session_id: 'session-1',
    agent_id: 'agent-1',
    agent_type: 'researcher',
    model_name: '',
    cluster_id: '',
    source_app: '',
    state: 'active',
    severity: 'normal',
    entropy_score: 1,
    window: [],
    last_intent: 'search',
    last_tool: 'read_file',
    last_status: 'success',
    last_trace_id: 'trace-1',
    step_count: 1,
    failure_count: 0,
    steps_per_minute: 1,
    cost_usd: 0,
    cost_unknown: false,
    tokens: 0,
    started_ms: 1_000,
    last_seen_ms: 1_000,
    refused_call: null,
    ended: false,
    control: {
      state: 'active',
      mode: 'observe_only',
      operator_id: null,
      reason: null,
      asked_by: [],
      since_ms: null,
      expires_at_ms: null,
      held_count: 0,
      pending_directive_count: 0,
    },
    ...overrides,
  };
}

export function buildControlRow(overrides: Partial<ControlRow> = {}): ControlRow {
  return {
    tenant_id: 'default',
    session_id: 'session-1',
    state: 'paused',
    operator_id: 'ada',
    reason: 'looping',
    asked_by: [],
    since_ms: 1_000,
    expires_at_ms: null,
    cooperative: true,
    proxied: false,
    directive_seq: 0,
    directives: [],
    ...overrides,
  };
}

export function buildAuditDraft(overrides: Partial<AuditDraft> = {}): AuditDraft {
  return {
    tenant_id: 'default',
    at_ms: 1_000,
    operator_id: 'ada',
    role: 'operator',
    action: 'pause',
    session_id: 'session-1',
    before_state: 'active',
    after_state: 'pause_requested',
    outcome: 'ok',
    detail: { reason: 'looping' },
    ...overrides,
  };
}

export function buildAlertEvent(overrides: Partial<EntropyAlertEvent> = {}): EntropyAlertEvent {
  return {
    event_type: 'entropy_alert',
    session_id: 'session-1',
    agent_id: 'agent-1',
    entropy_score: 0.2,
    window_size: 5,
    repeated_pattern: { intent: 'search', tool_call: 'read_file', action_status: 'failure' },
    occurrence_count: 5,
    at_ms: 1_000,
    ...overrides,
  };
}

export function buildViolationEvent(overrides: Partial<ViolationEvent> = {}): ViolationEvent {
  return {
    event_type: 'schema_violation',
    timestamp: '1970-01-01T00:00:01.000Z',
    agent_id: 'agent-1',
    capability_version: '1.0.0',
    violation_reason: 'missing required field: meta.trace_id',
    raw_payload_hash: `sha256:${'0'.repeat(64)}`,
    ...overrides,
  };
}
