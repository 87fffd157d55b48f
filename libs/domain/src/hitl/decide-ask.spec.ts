import { expect, it } from 'vitest';
import { initialControl } from './control-state.js';
import { ASKERS_PER_SESSION_MAX, decideAsk } from './decide-ask.js';

it('adds an agent that asks behind those before it, once, and as many as there is room for', () => {
  let row = initialControl('default', 's-1');
  for (let n = 0; n < ASKERS_PER_SESSION_MAX; n += 1) {
    const decision = decideAsk(row, `agent-${n}`);
    if (decision.kind !== 'apply') throw new Error(decision.kind);
    expect(decideAsk(decision.next, `agent-${n}`)).toEqual({ kind: 'none' });
    row = decision.next;
  }
  expect(row.asked_by[0]).toBe('agent-0');
  expect(row.asked_by).toHaveLength(ASKERS_PER_SESSION_MAX);
  expect(decideAsk(row, 'one more')).toEqual({ kind: 'full' });
});
