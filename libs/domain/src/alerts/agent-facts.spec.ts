import { expect, it } from 'vitest';
import { AgentFacts } from './agent-facts.js';

it('takes the later of two steps of one millisecond for the latest, whatever is left of it on the steady clock', () => {
  const facts = new AgentFacts();
  const seen = (session_id: string, steadyMs: number) =>
    facts.apply(
      {
        kind: 'step',
        tenant_id: 'default',
        agent_id: 'crawler',
        session_id,
        at_ms: 1_000,
        severity: 'normal',
        ended: false,
      },
      steadyMs,
    );
  seen('s1', 5.9);
  seen('s2', 5);
  expect(facts.seenInSessionId).toBe('s2');
  seen('of before', 4);
  expect(facts.seenInSessionId).toBe('s2');
});
