import { describe, expect, test } from 'vitest';
import type { Incident, OperatorPrincipal } from '#contracts';
import { systemTimer } from '#kernel';
import { AgentCommands } from './agent-commands.js';
import type { Reactivation } from './agent-directory.js';
import { AgentsController } from './agents.controller.js';
import { IncidentDesk, type IncidentDeskParts } from './incident-desk.js';
import { windowPrefix } from './window-key.js';

const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as OperatorPrincipal;

/** A directory that answers as told, and comes to its moment first where there is one. */
function deskFor(answer: Reactivation, hasMoment: boolean) {
  const done: string[] = [];
  const agents = {
    seen: () => ({ incidentId: null }),
    policy: () => ({ active: answer !== 'stopped_again' }),
    reactivate: async (_scope: unknown, _by: unknown, onActive: () => void) => {
      if (hasMoment) onActive();
      done.push('written');
      return answer;
    },
  };
  const desk = new IncidentDesk({
    agents,
    windows: {
      forgetWhere: (isOne: (key: string) => boolean) => {
        const owners = [
          ['default', 'a'],
          ['default', 'ab'],
          ['other', 'a'],
        ] as const;
        expect(owners.filter(([tenant, agent]) => isOne(`${windowPrefix(tenant, agent)}s`))).toEqual([
          owners[0],
        ]);
        done.push('windows cleared');
      },
    },
    store: { incidents: async () => ({ items: [{ incident_id: 'inc-1' }] }) },
    live: {
      publish: (_tenant: string, _topic: string, { incident_id }: Incident) => void done.push(incident_id),
    },
    alerts: { note: ({ kind }: { kind: string }) => void done.push(kind) },
    timer: systemTimer,
    nowMs: () => 0,
  } as unknown as IncidentDeskParts);
  const commands = new AgentCommands({ agents, incidents: desk, views: { touch: () => undefined } } as never);
  const controller = new AgentsController({ commands } as never);
  return { done, reactivate: () => controller.reactivate(ANN, 'a') };
}

describe('reactivating an agent', () => {
  test('clears its windows and ends its alert the moment it may call, not once all is written', async () => {
    const { done, reactivate } = deskFor('reactivated', true);
    expect(await reactivate()).toEqual({ status: 'ok' });
    expect(done).toEqual(['windows cleared', 'reactivated', 'written', 'inc-1']);
  });

  test('answers that the kill switch was faster, and ends nothing that goes on', async () => {
    const { done, reactivate } = deskFor('stopped_again', false);
    await expect(reactivate()).rejects.toMatchObject({ code: 'agent_stopped_again' });
    expect(done).toEqual(['written', 'inc-1']);
  });

  test('answers that the kill switch has stopped it since', async () => {
    const { done, reactivate } = deskFor('stopped_again', true);
    await expect(reactivate()).rejects.toMatchObject({ code: 'agent_stopped_again' });
    expect(done).toEqual(['windows cleared', 'reactivated', 'written', 'inc-1']);
  });

  test('says so where there was nothing to do', async () => {
    const { done, reactivate } = deskFor('already_active', false);
    expect(await reactivate()).toEqual({ status: 'ok', note: 'already_active' });
    expect(done).toEqual(['written']);
  });
});
