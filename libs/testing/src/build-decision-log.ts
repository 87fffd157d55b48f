/** A valid DecisionLog with whatever a test cares about on top; sections merge, members win. */
import type { DecisionLog } from '#contracts';

export type DecisionLogOverrides = {
  [Section in keyof DecisionLog]?: Partial<NonNullable<DecisionLog[Section]>>;
};

let serial = 0;

export function buildDecisionLog(overrides: DecisionLogOverrides = {}): DecisionLog {
  serial += 1;
  const { state_delta, control } = overrides;
  return {
    meta: {
      trace_id: `trace-${serial}`,
      timestamp: '2026-01-31T12:00:00Z',
      session_id: 'session-1',
      ...overrides.meta,
    },
    identity: {
      agent_id: 'agent-1',
      agent_type: 'researcher',
      capability_version: '1.0.0',
      ...overrides.identity,
    },
    cognition: { intent: 'search', ...overrides.cognition },
    action: { status: 'success', tool_call: 'read_file', ...overrides.action },
    ...(state_delta ? { state_delta } : {}),
    ...(control ? { control } : {}),
  };
}
