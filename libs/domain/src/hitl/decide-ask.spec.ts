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
  const asked_by = Array.from({ length: ASKERS_PER_SESSION_MAX }, (_, n) => `agent-${n}`);
  expect(row).toEqual({ ...initialControl('default', 's-1'), asked_by });
  expect(decideAsk(row, 'one more')).toEqual({ kind: 'full' });
});
