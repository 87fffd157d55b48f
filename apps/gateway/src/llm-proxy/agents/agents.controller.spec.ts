import { describe, expect, test } from 'vitest';
import {
  type AgentPolicyPatch,
  agentScope,
  type DocumentWrite,
  type Incident,
  type OperatorPrincipal,
} from '#contracts';
import { FakeClock, turn } from '#testing';
import { AgentCommands } from './agent-commands.js';
import { AgentDirectory } from './agent-directory.js';
import { AgentsController } from './agents.controller.js';
import { IncidentDesk } from './incident-desk.js';

const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as OperatorPrincipal;
const AGENT = agentScope('default', 'a');
const INCIDENT = { incident_id: 'i', agent_id: 'a', breakdown: { score: 13 }, threshold: 10 } as Incident;

type Moment = 'as it is written' | 'as its budgets are read';

/** A stopped agent, whose kill switch fires again at that moment of its next change. */
const stoppedAgent = (moment: Moment) =>
  stopped((agents, now) => now === moment && agents.deactivateByKillSwitch(AGENT, INCIDENT));

/** @param then done at each moment of its changes after the stop */
async function stopped(then: (agents: AgentDirectory, moment: Moment) => void) {
  const written: DocumentWrite[] = [];
  const agents = new AgentDirectory({
    store: {
      commitDocuments: async (write: DocumentWrite) => {
        await turn();
        if (written.push(write) === 2) then(agents, 'as it is written');
      },
    },
    audit: { draft: (_by: unknown, _tenant: unknown, action: string) => ({ action }) },
    clock: new FakeClock(),
    timer: { after: () => () => {} },
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
  const budgets = { policyChanged: async () => then(agents, 'as its budgets are read') };
  const commands = new AgentCommands({ agents, incidents, views, budgets });
  const told: object[] = [];
  commands.tell = ({ act }) => {
    if (act.kind === 'policy') told.push(act.patch);
  };
  const controller = new AgentsController({ agents, commands, views } as never);
  await controller.deactivate(ANN, 'a', { reason: 'stop' });
  return { agents, commands, controller, written, told };
}

test('an agent that has control characters in its id from before they were refused can still be stopped', async () => {
  const ID = 'line\nbreak';
  const deactivate = (known: readonly string[]) => {
    const views = {
      isKnown: (tenantId: string, id: string) => tenantId === 'default' && known.includes(id),
      touch: () => {},
    };
    const commands = new AgentCommands({ agents: { deactivate: async () => false }, views } as never);
    const controller = new AgentsController({ commands, views } as never);
    return controller.deactivate(ANN, ID, { reason: 'stop' });
  };
  await expect(deactivate([ID])).resolves.toEqual({ status: 'ok', note: 'already_inactive' });
  await expect(deactivate([])).rejects.toMatchObject({ code: 'invalid_request' });
});

describe('an agent that is stopped already', () => {
  test('is stopped for another reason where one is given, in the audit and the answer too; else nothing is', async () => {
    const { agents, controller, written } = await stopped(() => {});
    const deactivate = (reason: string) => controller.deactivate(ANN, 'a', { reason });
    expect(await deactivate('stop')).toEqual({ status: 'ok', note: 'already_inactive' });
    expect(written).toHaveLength(1);
    expect(await deactivate('it spends too much')).toEqual({ status: 'ok' });
    expect(agents.policy(AGENT).deactivated_reason).toBe('it spends too much');
    expect(written.at(-1)?.audit).toMatchObject([{ action: 'agent.deactivate' }]);
  });

  test('by the kill switch is stopped by an operator in its other sessions as well, and once', async () => {
    const { agents, controller } = await stopped(() => {});
    await controller.reactivate(ANN, 'a');
    agents.deactivateByKillSwitch(AGENT, { ...INCIDENT, session_id: 's' });
    const deactivate = () => controller.deactivate(ANN, 'a', { reason: 'stop' });
    const both = await Promise.all([deactivate(), deactivate()]);
    expect(both).toEqual([{ status: 'ok' }, { status: 'ok', note: 'already_inactive' }]);
    expect(agents.wasKilledIn(AGENT, 'other')).toBe(true);
  });
});

const STOPPED_AGAIN = { code: 'agent_stopped_again' };

describe('an agent that the kill switch stops while it is reactivated', () => {
  test('is told so by the command', async () => {
    const { controller } = await stoppedAgent('as it is written');
    await expect(controller.reactivate(ANN, 'a')).rejects.toMatchObject(STOPPED_AGAIN);
  });

  test.each<Moment>(['as it is written', 'as its budgets are read'])(
    'is told so by a change of its policy, %s; the rest of it stands',
    async (moment) => {
      const { agents, controller, written } = await stoppedAgent(moment);
      const change = controller.changePolicy(ANN, 'a', { active: true, requests_per_minute: 5 });
      await expect(change).rejects.toMatchObject(STOPPED_AGAIN);
      expect(agents.policy(AGENT)).toMatchObject({ active: false, requests_per_minute: 5 });
      await turn();
      expect(written.at(-1)?.saved?.[0]?.body).toMatchObject({ active: false, requests_per_minute: 5 });
    },
  );

  test('is not spoken of in the answer to a change that does not ask for it', async () => {
    const { controller } = await stoppedAgent('as it is written');
    const { active, requests_per_minute } = await controller.changePolicy(ANN, 'a', {
      requests_per_minute: 5,
    });
    expect([active, requests_per_minute]).toEqual([false, 5]);
  });
});

test('an agent that is reactivated with other limits has both in one write, and may call under these alone', async () => {
  const seen: unknown[] = [];
  const { controller, written } = await stopped((agents, moment) =>
    seen.push([moment, agents.policy(AGENT).active, agents.policy(AGENT).requests_per_minute]),
  );
  const after = await controller.changePolicy(ANN, 'a', { active: true, requests_per_minute: 5 });
  expect(after).toMatchObject({ active: true, requests_per_minute: 5 });
  expect(seen).toEqual([
    ['as it is written', false, null],
    ['as its budgets are read', false, 5],
  ]);
  expect(written.slice(1)).toMatchObject([
    {
      saved: [{ body: { active: true, requests_per_minute: 5 } }],
      audit: [{ action: 'agent.policy' }, { action: 'agent.reactivate' }],
      reactivated: { agent_id: 'a' },
    },
  ]);
});

test('an agent that may call already is given the limits that a reactivation comes with', async () => {
  const { controller, written } = await stopped(() => {});
  await controller.reactivate(ANN, 'a');
  const after = await controller.changePolicy(ANN, 'a', { active: true, requests_per_minute: 5 });
  expect(after).toMatchObject({ active: true, requests_per_minute: 5 });
  expect(written.at(-1)?.audit).toMatchObject([{ action: 'agent.policy' }]);
  expect(written).toHaveLength(3);
});

describe('other gateways', () => {
  test('are told what is commanded here, and not what they told', async () => {
    const { commands, controller, told } = await stopped(() => {});
    await controller.changePolicy(ANN, 'a', { session_calls_max: 3, active: true, reason: 'go on' });
    await commands.hear({ ...ANN, gateway_id: 'there' }, 'a', () => policyAct({ session_calls_max: 4 }));
    expect(told).toEqual([
      { active: false, reason: 'stop' },
      { session_calls_max: 3, active: true, reason: 'go on' },
    ]);
  });

  test.each<Moment>(['as it is written', 'as its budgets are read'])(
    'are not told to let in an agent that the kill switch stops meanwhile, %s',
    async (moment) => {
      const { controller, told } = await stoppedAgent(moment);
      await controller.changePolicy(ANN, 'a', { session_calls_max: 3, active: true }).catch(() => {});
      expect(told.at(-1)).toEqual({ session_calls_max: 3 });
    },
  );

  test('stop an agent here as they did, and let it in', async () => {
    const { agents, commands } = await stopped(() => {});
    const by = { ...ANN, gateway_id: 'there' };
    await commands.hear(by, 'a', () => policyAct({ active: true }));
    expect(agents.policy(AGENT).active).toBe(true);
    await commands.hear(by, 'a', () => ({
      kind: 'killed',
      agent_id: 'a',
      incident: { ...INCIDENT, session_id: 's', at_ms: 5 },
    }));
    expect(agents.policy(AGENT)).toMatchObject({ active: false, deactivated_by: 'kill_switch' });
    expect(agents.wasKilledIn(AGENT, 's')).toBe(true);
    expect(agents.wasKilledIn(AGENT, 'other')).toBe(false);
  });
});

const policyAct = (patch: AgentPolicyPatch) => ({ kind: 'policy', agent_id: 'a', patch }) as const;
