import { expect, it } from 'vitest';
import { titleOf } from './title-of';

it('names the page, or the thing that it is about', () => {
  expect(titleOf('/', {})).toBe('Sessions · Observatory');
  expect(titleOf('/spend', {})).toBe('Spend · Observatory');
  expect(titleOf('/sessions/ticket%2F4711', { sessionId: 'ticket/4711' })).toBe('ticket/4711 · Observatory');
  expect(titleOf('/agents/planner', { agentId: 'planner' })).toBe('planner · Observatory');
  expect(titleOf('/calls/c1', { callId: 'c1' })).toBe('Call c1 · Observatory');
  expect(titleOf('/incidents/i1', { incidentId: 'i1' })).toBe('Incident i1 · Observatory');
  expect(titleOf('/all-agents', {})).toBe('All agents · Observatory');
  expect(titleOf('/nowhere', {})).toBe('Observatory');
});
