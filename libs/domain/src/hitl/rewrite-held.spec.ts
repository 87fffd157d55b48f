import { expect, it } from 'vitest';
import type { DecisionLog } from '#contracts';
import { rewriteHeld } from './rewrite-held.js';

const LOG: DecisionLog = {
  meta: { trace_id: 't-1', timestamp: '2026-02-22T10:00:00Z' },
  identity: { agent_id: 'a-1', agent_type: 'coder', capability_version: '1.0.0' },
  cognition: { intent: 'clean up', entropy_score: 1 },
  action: { status: 'pending', tool_call: 'delete', tool_input: { path: '/' } },
  control: { hitl_required: true },
};

it('replaces the input of the tool, marks the step, and leaves the rest and the original alone', () => {
  const original = structuredClone(LOG);
  expect(rewriteHeld(LOG, { path: '/tmp/x' })).toEqual({
    ...LOG,
    action: { status: 'pending', tool_call: 'delete', tool_input: { path: '/tmp/x' } },
    control: { hitl_required: true, interrupt_signal: 'rewrite' },
  });
  expect(LOG).toEqual(original);
});

it('marks a step that carried no control section', () => {
  expect(rewriteHeld({ ...LOG, control: undefined }, 'text').control).toEqual({
    interrupt_signal: 'rewrite',
  });
});
