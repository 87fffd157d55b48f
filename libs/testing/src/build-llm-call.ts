/** What the proxy keeps: valid, with whatever a test cares about on top. */
import type {
  AlertDelivery,
  AlertNotice,
  CallRow,
  Incident,
  LlmCall,
  SemanticLoopEvent,
  Usage,
} from '#contracts';

let serial = 0;

/** A new call on each call; `call_id` is its own unless given. */
export function buildLlmCall(overrides: Partial<LlmCall> = {}): LlmCall {
  serial += 1;
  return {
    call_id: `call-${serial}`,
    seq: 0,
    agent_id: 'agent-1',
    session_id: 'session-1',
    upstream: 'openai',
    dialect: 'openai-chat',
    method: 'POST',
    path: '/chat/completions',
    model: 'gpt-5-mini',
    stream: false,
    started_at_ms: 1_000 + serial,
    duration_ms: 12.5,
    first_byte_ms: 10.25,
    held_ms: 0,
    status: 200,
    decision: 'forwarded',
    detail: null,
    usage: buildUsage(),
    cost_usd: 0.001,
    tool_calls: [],
    kill_score: 0,
    cache: null,
    is_retry: false,
    trace_parent: null,
    steps: [{ name: 'forward', start_ms: 0.1, duration_ms: 12, outcome: 'passed' }],
    ...overrides,
  };
}

/** The same as a row of the tenant `default`, or of `tenantId`. */
export const buildCallRow = (overrides: Partial<LlmCall> = {}, tenantId = 'default'): CallRow => ({
  tenant_id: tenantId,
  call: buildLlmCall(overrides),
});

export const buildUsage = (overrides: Partial<Usage> = {}): Usage => ({
  input_tokens: 100,
  cached_input_tokens: 40,
  cache_write_tokens: 0,
  output_tokens: 20,
  reasoning_tokens: 5,
  ...overrides,
});

export function buildIncident(overrides: Partial<Incident> = {}): Incident {
  serial += 1;
  return {
    incident_id: `incident-${serial}`,
    seq: 0,
    agent_id: 'agent-1',
    session_id: 'session-1',
    upstream: 'openai',
    model: 'gpt-5-mini',
    at_ms: 1_000,
    breakdown: { similar_prompts: 5, similar_responses: 3, repeated_tool_calls: 0, score: 11 },
    threshold: 10,
    window_size: 20,
    evidence: [],
    reactivated_by: null,
    reactivated_at_ms: null,
    ...overrides,
  };
}

export function buildSemanticLoop(overrides: Partial<SemanticLoopEvent> = {}): SemanticLoopEvent {
  serial += 1;
  return {
    event_type: 'semantic_loop',
    event_id: `loop-${serial}`,
    seq: 0,
    agent_id: 'agent-1',
    session_id: 'session-1',
    call_id: `call-${serial}`,
    at_ms: 1_000,
    similarity: 0.97,
    threshold: 0.95,
    model_id: 'observatory-static-384',
    prompt: 'Where is my parcel now?',
    similar_prompt: 'Where has my parcel got to?',
    similar_call_id: 'call-0',
    occurrence: 1,
    action: 'hinted',
    is_hinted: true,
    ...overrides,
  };
}

export function buildAlertNotice(overrides: Partial<AlertNotice> = {}): AlertNotice {
  serial += 1;
  return {
    notice_id: `notice-${serial}`,
    type: 'kill_switch',
    phase: 'firing',
    rule_id: 'rule-1',
    rule_name: 'Kill switch',
    tenant_id: 'default',
    agent_id: 'agent-1',
    session_id: 'session-1',
    at_ms: 1_000,
    title: 'agent-1 was stopped',
    text: 'It was repeating itself.',
    url: null,
    detail: { score: 11 },
    ...overrides,
  };
}

export function buildAlertDelivery(overrides: Partial<AlertDelivery> = {}): AlertDelivery {
  serial += 1;
  return {
    delivery_id: `delivery-${serial}`,
    seq: 0,
    channel_id: 'channel-1',
    notice: buildAlertNotice(),
    state: 'pending',
    attempt_count: 0,
    next_attempt_at_ms: 1_000,
    last_error: null,
    created_at_ms: 1_000,
    finished_at_ms: null,
    ...overrides,
  };
}
