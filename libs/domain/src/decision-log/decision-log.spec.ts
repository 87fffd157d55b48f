import { describe, expect, it } from 'vitest';
import { type StoredStep, stepViewSchema, violationEventSchema } from '#contracts';
import { buildDecisionLog } from '#testing';
import { payloadHash, resolveSessionId, stepViewOf, timestampMsOf, violationOf } from './index.js';

describe('resolveSessionId', () => {
  const of = (meta: { session_id?: string | null; parent_step_id?: string | null }) =>
    resolveSessionId(
      buildDecisionLog({ meta: { trace_id: 'step-1', session_id: null, ...meta } }),
      (traceId) => (traceId === 'known' ? 'session-of-known' : undefined),
    );

  it('is the session the log names', () => {
    expect(of({ session_id: 's', parent_step_id: 'known' })).toBe('s');
  });

  it('is else the session of the parent step', () => {
    expect(of({ parent_step_id: 'known' })).toBe('session-of-known');
    expect(of({ session_id: '', parent_step_id: 'known' })).toBe('session-of-known');
  });

  it('is else the step itself: a root, or a child of a step never seen', () => {
    expect(of({})).toBe('step-1');
    expect(of({ parent_step_id: '' })).toBe('step-1');
    expect(of({ parent_step_id: 'unknown' })).toBe('step-1');
  });
});

describe('stepViewOf', () => {
  it('is the log with the envelope beside it', () => {
    const log = buildDecisionLog({ cognition: { entropy_score: 0.2, entropy_severity: 'loop' } });
    const step: StoredStep = {
      tenant_id: 'default',
      session_id: 's',
      agent_id: 'agent-1',
      trace_id: log.meta.trace_id,
      body_hash: 'h',
      received_at_ms: 5,
      held: true,
      entropy_score: 0.2,
      entropy_severity: 'loop',
      window_size: 5,
      seq: 9,
      rewritten_by: null,
      log,
      body_chars: 2,
    };
    const view = stepViewOf(step);
    expect(view).toEqual({
      ...log,
      gateway: { seq: 9, session_id: 's', received_at_ms: 5, window_size: 5, held: true, rewritten_by: null },
    });
    expect(stepViewSchema.parse(view)).toEqual(view);
  });
});

describe('violationOf', () => {
  it('has exactly the members of the contract', () => {
    const event = violationOf({
      nowMs: Date.UTC(2026, 0, 31),
      agentId: 'agent-1',
      capabilityVersion: '1.0.0',
      reason: 'missing required field: meta.trace_id',
      payloadHash: payloadHash('{}'),
    });
    expect(event).toEqual({
      event_type: 'schema_violation',
      timestamp: '2026-01-31T00:00:00.000Z',
      agent_id: 'agent-1',
      capability_version: '1.0.0',
      violation_reason: 'missing required field: meta.trace_id',
      raw_payload_hash: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    });
    expect(violationEventSchema.parse(event)).toEqual(event);
  });

  it('says unknown where the message names nobody', () => {
    const event = violationOf({
      nowMs: 0,
      agentId: null,
      capabilityVersion: null,
      reason: 'x',
      payloadHash: 'y',
    });
    expect(event).toMatchObject({ agent_id: 'unknown', capability_version: 'unknown' });
  });
});

describe('timestampMsOf', () => {
  it.each([
    ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
    ['2026-01-31T12:00:00+02:00', Date.UTC(2026, 0, 31, 10)],
    ['2026-01-31T12:00Z', Date.UTC(2026, 0, 31, 12)],
    ['2026-01-31T12:00:00+0230', Date.UTC(2026, 0, 31, 9, 30)],
    ['2026-01-31T12:00:00.5-09', Date.UTC(2026, 0, 31, 21, 0, 0, 500)],
    ['2026-01-31T12:00:00', Date.UTC(2026, 0, 31, 12)],
    ['2026-01-31T12:00', Date.UTC(2026, 0, 31, 12)],
    ['2026-01-31T12:00:00.123456', Date.UTC(2026, 0, 31, 12, 0, 0, 123)],
  ])('reads %s, as UTC where it names no zone', (timestamp, ms) => {
    expect(timestampMsOf(buildDecisionLog({ meta: { timestamp } }))).toBe(ms);
  });
});
