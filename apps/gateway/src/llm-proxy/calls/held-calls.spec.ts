import { expect, it } from 'vitest';
import type { HeldCall } from '#contracts';
import { HeldCalls } from './held-calls.js';

const heldCall = (call_id: string, agent_id: string, session_id = 's'): HeldCall =>
  ({ call_id, agent_id, session_id, since_ms: 0 }) as HeldCall;

it('looks at none but its own where an agent is asked for: a listing asks for each of thousands', () => {
  const held = new HeldCalls();
  let looks = 0;
  const get = (): string => {
    looks += 1;
    return 'busy';
  };
  for (let at = 0; at < 100; at += 1)
    held.enter('default', Object.defineProperty(heldCall(`c-${at}`, 'busy'), 'agent_id', { get }));
  held.enter('default', heldCall('mine', 'quiet'));
  looks = 0;
  expect(held.of('default', { agentId: 'quiet' })).toMatchObject([{ call_id: 'mine' }]);
  expect(looks).toBe(0);
});

it('lists the longest held first, of a tenant, an agent or a session, until they end', () => {
  const held = new HeldCalls();
  const leave = [
    held.enter('default', heldCall('1', 'a', 's-1')),
    held.enter('default', heldCall('2', 'b', 's-1')),
    held.enter('default', heldCall('3', 'a', 's-2')),
    held.enter('acme', heldCall('4', 'a', 's-1')),
  ];
  const ids = (...of: Parameters<HeldCalls['of']>) => held.of(...of).map(({ call_id }) => call_id);
  expect([ids('default'), ids('acme')]).toEqual([['1', '2', '3'], ['4']]);
  expect(ids('default', { agentId: 'a' })).toEqual(['1', '3']);
  expect(ids('default', { sessionId: 's-1' })).toEqual(['1', '2']);
  expect(ids('default', { agentId: 'a', sessionId: 's-2' })).toEqual(['3']);
  leave[0]?.();
  leave[0]?.();
  expect([held.count, ids('default', { agentId: 'a' })]).toEqual([3, ['3']]);
  for (const end of leave) end();
  expect([held.count, ids('default', { agentId: 'a' })]).toEqual([0, []]);
});
