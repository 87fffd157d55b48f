import { expect, it } from 'vitest';
import { NODE_STATES } from '#contracts';
import { nodeColour, nodeLabel } from './state-dot';

it('[FR-9.4+] [FR-9.5+] shows each state of a node in its colour', () => {
  expect(Object.fromEntries(NODE_STATES.map((state) => [state, nodeColour(state)]))).toEqual({
    idle: '#6b7280',
    active: '#3b82f6',
    blocked: '#f59e0b',
    alert_entropy: '#ef4444',
    schema_violation: '#f97316',
    dead: '#374151',
  });
});

it.each(['', 'resting', 'constructor'])('shows the unknown state %j as idle', (state) => {
  expect([nodeColour(state), nodeLabel(state)]).toEqual(['#6b7280', 'Idle']);
});
