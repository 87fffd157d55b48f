/** What gateways are told of agents, and in which order, while other changes of the same agent are under way. */
import { expect, test } from 'vitest';
import { type AgentAct, agentScope, type Incident, ObservatoryError } from '#contracts';
import { deferred } from '#kernel';
import { FakeClock, turn } from '#testing';
import { AgentCommands, type Commander } from './agent-commands.js';
import { AgentDirectory } from './agent-directory.js';
import { IncidentDesk } from './incident-desk.js';

const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as const;
const THERE = { ...ANN, gateway_id: 'there' };
const AGENT = agentScope('default', 'a');
const INCIDENT = {
  incident_id: 'i',
  agent_id: 'a',
  session_id: 's',
  at_ms: 5,
  threshold: 10,
  breakdown: { score: 13 },
} as Incident;

const { session_id, at_ms, threshold, breakdown } = INCIDENT;
const KILLED: AgentAct = {
  kind: 'killed',
  agent_id: 'a',
  incident: { incident_id: 'i', session_id, at_ms, threshold, breakdown },
};
const STOP_ACT: AgentAct = { kind: 'policy', agent_id: 'a', patch: { active: false, reason: 'stop' } };

function gateway() {
  const told: AgentAct[] = [];
  /** What the store does waits for it. */
  const slow = { writes: Promise.resolve(), incidents: Promise.resolve() };
  const agents = new AgentDirectory({
    store: { commitDocuments: async () => slow.writes },
    audit: { draft: () => ({}) },
    clock: new FakeClock(),
    timer: { after: () => () => {} },
    onPolicy: () => {},
    onUnsaved: () => {},
  } as unknown as ConstructorParameters<typeof AgentDirectory>[0]);
  const incidents = new IncidentDesk({
    agents,
    windows: { forgetWhere: () => 0 },
    store: { incidents: async () => slow.incidents.then(() => ({ items: [] })) },
    alerts: { note: () => {} },
    nowMs: () => 0,
  } as unknown as ConstructorParameters<typeof IncidentDesk>[0]);
  const views = { touch: () => {} };
  const commands = new AgentCommands({
    agents,
    incidents,
    views,
    budgets: { policyChanged: async () => {} },
  });
  commands.tell = ({ act }) => void told.push(act as AgentAct);
  return { agents, commands, told, slow };
}

test.each<AgentAct>([
  { kind: 'policy', agent_id: 'a', patch: { session_calls_max: 2 } },
  { kind: 'kill_switch', agent_id: 'a', patch: { threshold: 2 } },
])('what is commanded here while a word waits for its turn stands behind it: $kind', async (act) => {
  const { agents, commands, told, slow } = gateway();
  const { promise, resolve } = deferred();
  slow.writes = promise;
  const own = [
    commands.patchPolicy(ANN, 'a', { session_calls_max: 1 }),
    commands.patchKillSwitch(ANN, 'a', { threshold: 1 }),
  ];
  const heard = commands.hear(THERE, 'a', () => (told.length > 0 ? null : act));
  resolve();
  await Promise.all([...own, heard]);
  expect(agents.policy(AGENT)).toMatchObject({ session_calls_max: 1 });
  expect(agents.killSwitch(AGENT)).toMatchObject({ threshold: 1 });
});

test.each<[string, (commands: AgentCommands, by: Commander) => Promise<unknown>]>([
  ['a policy', (commands, by) => commands.patchPolicy(by, 'a', { session_calls_max: 1 })],
  ['a kill switch', (commands, by) => commands.patchKillSwitch(by, 'a', { threshold: 11 })],
  ['letting in', (commands, by) => commands.reactivate(by, 'a')],
])(
  '%s that would change nothing here is told nobody once whoever asked for it may no longer',
  async (_what, command) => {
    const { commands, told, slow } = gateway();
    const { promise, resolve } = deferred();
    slow.writes = promise;
    let isInForce = true;
    const first = command(commands, ANN);
    const second = command(commands, { ...ANN, isInForce: () => isInForce });
    isInForce = false;
    resolve();
    await first;
    await expect(second).rejects.toMatchObject({ code: 'unauthorized' });
    expect(told).toHaveLength(1);
  },
);

test.each<[string, (commands: AgentCommands) => Promise<unknown>]>([
  ['is commanded', (commands) => commands.deactivate(ANN, 'a', 'stop')],
  ['is set', (commands) => commands.patchPolicy(ANN, 'a', { active: false })],
  [
    'is set with other limits',
    (commands) => commands.patchPolicy(ANN, 'a', { active: false, requests_per_minute: 5 }),
  ],
  ['is heard', (commands) => commands.hear(THERE, 'a', () => STOP_ACT)],
  [
    'is heard with other limits',
    (commands) =>
      commands.hear(THERE, 'a', () => ({ ...STOP_ACT, patch: { active: false, requests_per_minute: 5 } })),
  ],
  ['by the kill switch is heard', (commands) => commands.hear(THERE, 'a', () => KILLED)],
])('a stop that %s waits for no other command of its agent', async (_, stop) => {
  const { agents, commands, slow } = gateway();
  const { promise, resolve } = deferred();
  slow.writes = promise;
  const limits = commands.patchPolicy(ANN, 'a', { session_calls_max: 1 });
  const stopped = stop(commands);
  expect(agents.policy(AGENT).active).toBe(false);
  resolve();
  await Promise.all([limits, stopped]);
  expect(agents.policy(AGENT)).toMatchObject({ active: false, session_calls_max: 1 });
});

test('a stop that comes with limits is told apart from them, and they are in force once it is stored', async () => {
  const { agents, commands, told } = gateway();
  const patch = { active: false, reason: 'stop', session_calls_max: 1 };
  expect(await commands.patchPolicy(ANN, 'a', patch)).toMatchObject({ active: false, session_calls_max: 1 });
  expect(told.map((act) => 'patch' in act && act.patch)).toEqual([
    { active: false, reason: 'stop' },
    { reason: 'stop', session_calls_max: 1 },
  ]);
  await commands.hear(THERE, 'a', () => ({ ...STOP_ACT, patch: { active: false, session_calls_max: 2 } }));
  expect(agents.policy(AGENT)).toMatchObject({ active: false, session_calls_max: 2 });
});

test('who stops an agent with limits on a disk that refuses hears that the limits are as they were', async () => {
  const { agents, commands, slow } = gateway();
  slow.writes = Promise.reject(new ObservatoryError('store_full', 'No room.'));
  const stopped = commands.patchPolicy(ANN, 'a', { active: false, session_calls_max: 1 });
  const detail = expect.stringMatching(/The stop is in force.* Its limits are as they were\./);
  await expect(stopped).rejects.toMatchObject({ code: 'store_full', detail });
  expect(agents.policy(AGENT)).toMatchObject({ active: false, session_calls_max: null });
});

test.each(['stop', undefined])(
  'an agent that is stopped once more while its letting in waits is not let in, though that stop says nothing new: %s',
  async (reason) => {
    const { agents, commands, slow } = gateway();
    await commands.deactivate(ANN, 'a', 'stop');
    const { promise, resolve } = deferred();
    slow.writes = promise;
    const limits = commands.patchPolicy(ANN, 'a', { session_calls_max: 1 });
    const letIn = commands.reactivate({ ...ANN, operator_id: 'ben' }, 'a');
    const again = commands.deactivate(ANN, 'a', reason);
    resolve();
    await Promise.all([limits, again]);
    expect(await letIn).toBe('stopped_again');
    expect(agents.policy(AGENT).active).toBe(false);
  },
);

test.each([STOP_ACT, KILLED])(
  'a stop is heard once it is in force, whatever the disk does: $kind',
  async (act) => {
    const { agents, commands, slow } = gateway();
    slow.writes = new Promise(() => {});
    await commands.hear(THERE, 'a', () => act);
    expect(agents.policy(AGENT).active).toBe(false);
  },
);

test.each<[string, (commands: AgentCommands) => Promise<unknown>]>([
  ['an operator lets it in', (commands) => commands.reactivate(ANN, 'a')],
  ['its limits are written', (commands) => commands.patchPolicy(ANN, 'a', { session_calls_max: 1 })],
])('a stop waits for nothing, is told at once, and is not undone while %s', async (_, other) => {
  const { agents, commands, told, slow } = gateway();
  await commands.deactivate(ANN, 'a', 'stop');
  const { promise, resolve } = deferred();
  Object.assign(slow, { incidents: promise, writes: promise });
  const done = other(commands);
  await turn();
  const stop = commands.deactivate(ANN, 'a', 'no');
  expect(agents.policy(AGENT)).toMatchObject({ active: false, deactivated_reason: 'no' });
  expect(told.at(-1)).toMatchObject({ patch: { active: false, reason: 'no' } });
  resolve();
  await Promise.all([done, stop]);
  expect(agents.policy(AGENT)).toMatchObject({ active: false, deactivated_reason: 'no' });
  expect(told.filter((act) => act.kind === 'policy' && act.patch.active === true)).toEqual([]);
});

test.each([
  ['reactivate', (commands: AgentCommands) => commands.reactivate(ANN, 'a')],
  ['patch', (commands: AgentCommands) => commands.patchPolicy(ANN, 'a', { active: true })],
] as const)('nobody is told to let in what the kill switch stopped since: %s', async (_, letIn) => {
  const { agents, commands, told, slow } = gateway();
  await commands.deactivate(ANN, 'a', 'stop');
  const { promise, resolve } = deferred();
  slow.incidents = promise;
  const done = letIn(commands);
  await turn();
  expect(agents.policy(AGENT).active).toBe(true);
  agents.deactivateByKillSwitch(AGENT, INCIDENT);
  commands.noteKilled('default', INCIDENT);
  resolve();
  await done;
  expect(told.filter((act) => act.kind === 'policy' && act.patch.active === true)).toEqual([]);
});

test('a preset is told as what it sets, which another gateway may set at the same time', async () => {
  const { commands, told } = gateway();
  await commands.patchKillSwitch(ANN, 'a', { preset: 'strict', threshold: 7 });
  expect(told).toMatchObject([{ patch: { window_size: 10, threshold: 7 } }]);
  expect(told[0]).not.toHaveProperty('patch.preset');
});
