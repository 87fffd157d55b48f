import { describe, expect, test } from 'vitest';
import { agentScope, type Incident, type OperatorPrincipal } from '#contracts';
import { FakeClock } from '#testing';
import { AgentDirectory } from './agent-directory.js';
import { AgentsController } from './agents.controller.js';
import { IncidentDesk } from './incident-desk.js';

const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as OperatorPrincipal;
const AGENT = agentScope('default', 'a');
const INCIDENT = { incident_id: 'i', agent_id: 'a', breakdown: { score: 13 }, threshold: 10 } as Incident;

/** A stopped agent, whose kill switch fires again during the `nth` commit. */
const stoppedAgent = (nth: number) =>
  stopped(nth, (agents) => agents.deactivateByKillSwitch(AGENT, INCIDENT));

/** @param then done during the `nth` commit */
async function stopped(nth: number, then: (agents: AgentDirectory) => void) {
  let seen = 0;
  const agents = new AgentDirectory({
    store: {
      commitDocuments: async () => {
        if (++seen === nth) then(agents);
      },
    },
    audit: { draft: () => ({}) },
    clock: new FakeClock(),
    onPolicy: () => {},
    onUnsaved: () => expect.unreachable(),
  } as unknown as ConstructorParameters<typeof AgentDirectory>[0]);
  const incidents = new IncidentDesk({
    agents,
    windows: { forgetWhere: () => 0 },
    store: { incidents: async () => ({ items: [] }) },
    alerts: { note: () => {} },
    nowMs: () => 0,
  } as unknown as ConstructorParameters<typeof IncidentDesk>[0]);
  const views = { touch: () => {} };
  const controller = new AgentsController({
    agents,
    incidents,
    views,
    budgets: { policyChanged: async () => {} },
  } as never);
  await controller.deactivate(ANN, 'a', { reason: 'stop' });
  return { agents, controller };
}

test('an agent that has control characters in its id from before they were refused can still be stopped', async () => {
  const ID = 'line\nbreak';
  const deactivate = (known: readonly string[]) => {
    const controller = new AgentsController({
      agents: { policy: () => ({ active: false }) },
      views: { isKnown: (tenantId: string, id: string) => tenantId === 'default' && known.includes(id) },
    } as never);
    return controller.deactivate(ANN, ID, { reason: 'stop' });
  };
  await expect(deactivate([ID])).resolves.toEqual({ status: 'ok', note: 'already_inactive' });
  await expect(deactivate([])).rejects.toMatchObject({ code: 'invalid_request' });
});

const STOPPED_AGAIN = { code: 'agent_stopped_again' };

describe('an agent that the kill switch stops while it is reactivated', () => {
  test('is told so by the command', async () => {
    const { controller } = await stoppedAgent(2);
    await expect(controller.reactivate(ANN, 'a')).rejects.toMatchObject(STOPPED_AGAIN);
  });

  // The first commit is the stop, the second what else the change holds, the third the reactivation.
  test.each([
    ['while the rest is written', 2],
    ['as it may call', 3],
  ])('is told so by a change of its policy, %s; the rest of it stands', async (_, nth) => {
    const { agents, controller } = await stoppedAgent(nth);
    const change = controller.changePolicy(ANN, 'a', { active: true, requests_per_minute: 5 });
    await expect(change).rejects.toMatchObject(STOPPED_AGAIN);
    expect(agents.policy(AGENT)).toMatchObject({ active: false, requests_per_minute: 5 });
  });

  test('is not spoken of in the answer to a change that does not ask for it', async () => {
    const { controller } = await stoppedAgent(2);
    const { active, requests_per_minute } = await controller.changePolicy(ANN, 'a', {
      requests_per_minute: 5,
    });
    expect([active, requests_per_minute]).toEqual([false, 5]);
  });
});

test('an agent that is reactivated with other limits may call under these alone', async () => {
  const seen: unknown[] = [];
  const { agents, controller } = await stopped(3, () => seen.push(agents.policy(AGENT)));
  const after = await controller.changePolicy(ANN, 'a', { active: true, requests_per_minute: 5 });
  expect(seen).toMatchObject([{ active: false, requests_per_minute: 5 }]);
  expect(after).toMatchObject({ active: true, requests_per_minute: 5 });
});
