import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AgentPolicy,
  type AgentScope,
  agentScope,
  allAgents,
  type DocumentWrite,
  type Incident,
  KILL_SWITCH_ACTOR,
  type OperatorPrincipal,
} from '#contracts';
import { type Deferred, deferred } from '#kernel';
import { FakeTime, turn } from '#testing';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { STORED_WITHIN_MS } from '../../stored-in-time.js';
import { WRITE_AGAIN_MS } from '../../unsaved-writes.js';
import { AgentDirectory, UNTOLD_STOPS_MAX } from './agent-directory.js';

const AGENT = agentScope('default', 'a');
const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as OperatorPrincipal;
const BEN = { ...ANN, operator_id: 'ben' };
const incident = (incident_id: string): Incident =>
  ({
    incident_id,
    agent_id: 'a',
    session_id: 's',
    at_ms: 9,
    breakdown: { score: 13 },
    threshold: 10,
  }) as Incident;

/** More than any test's changes need. */
const TURNS_MAX = 50;

/** Writes wait until the test lets them through. */
let writes: Deferred<void>[];
let onDisk: AgentPolicy | null;
let audited: string[];
/** Whether the agent was active at each change that was told. */
let toldActive: boolean[];
/** Sessions in which the kill switch had stopped it by then, of two. */
let toldKilledIn: string[][];
let agents: AgentDirectory;
let time: FakeTime;
let closed: string[];
let kept: { tenant_id: string; id: string; body: AgentPolicy }[];
let open: { tenant_id: string; incident: Incident }[];
beforeEach(() => {
  writes = [];
  onDisk = null;
  audited = [];
  toldActive = [];
  toldKilledIn = [];
  closed = [];
  kept = [];
  open = [];
  time = new FakeTime();
  const write = async (): Promise<void> => {
    const gate = deferred();
    writes.push(gate);
    await gate.promise;
  };
  agents = new AgentDirectory({
    store: {
      documents: async (kind: string) => (kind === 'agent_policy' ? kept : []),
      openIncidents: async () => open,
      commitDocuments: async ({ saved: [document] = [], audit = [] }: DocumentWrite) => {
        await write();
        if (document?.kind === 'agent_policy') onDisk = document.body as AgentPolicy;
        for (const { action, detail } of audit)
          audited.push([action, detail.incident_id ?? []].flat().join(' '));
      },
    },
    audit: new SettingsAudit({ commitControl: () => expect.unreachable() }, time),
    clock: time,
    timer: time,
    onPolicy: (scope: AgentScope) => {
      toldActive.push(agents.policy(scope).active);
      toldKilledIn.push(['s', 'other'].filter((session) => agents.wasKilledIn(scope, session)));
    },
    onClosed: (tenantId: string) => closed.push(tenantId),
    onUnsaved: () => expect.unreachable(),
    settingsCountMax: 4,
  } as unknown as ConstructorParameters<typeof AgentDirectory>[0]);
});

/** For a reactivation of whose moment a test says nothing. */
const nothing = (): void => undefined;
/** Lets the one write through that waits, and what follows go on. */
async function letWrite(): Promise<void> {
  await turn();
  expect(writes).toHaveLength(1);
  writes.shift()?.resolve();
  await turn();
}
/** Lets writes through until these changes are made. */
async function settle<T>(...changes: Promise<T>[]): Promise<T[]> {
  let isSettled = false;
  const settled = Promise.all(changes).finally(() => {
    isSettled = true;
  });
  for (let turns = 0; !isSettled && turns < TURNS_MAX; turns += 1) {
    writes.shift()?.resolve();
    await turn();
  }
  return settled;
}

describe('changes of one agent at once', () => {
  test('each see what the one before made: a stopped agent stays stopped, a limit stays set', async () => {
    await settle<unknown>(
      agents.deactivate(AGENT, 'stop', ANN),
      agents.patchPolicy(AGENT, { requests_per_minute: 5 }, BEN),
      agents.patchPolicy(AGENT, { budget_day_usd: 1 }, BEN),
    );
    const expected = { active: false, deactivated_by: 'ann', requests_per_minute: 5, budget_day_usd: 1 };
    expect(agents.policy(AGENT)).toMatchObject(expected);
    expect(onDisk).toMatchObject(expected);
  });

  test('of its kill switch each see what the one before made', async () => {
    await settle(
      agents.patchKillSwitch(AGENT, { threshold: 20 }, ANN),
      agents.patchKillSwitch(AGENT, { window_size: 30 }, BEN),
    );
    expect(agents.killSwitch(AGENT)).toMatchObject({ threshold: 20, window_size: 30 });
  });

  test('tell the second of two that reactivate', async () => {
    await settle(agents.deactivate(AGENT, undefined, ANN));
    const both = settle(agents.reactivate(AGENT, ANN, nothing), agents.reactivate(AGENT, BEN, nothing));
    expect(await both).toEqual(['reactivated', 'already_active']);
    expect(audited).toEqual(['agent.deactivate', 'agent.reactivate']);
  });
});

test('a change is told once it is in force, also one that is undone right behind', async () => {
  const stopped = agents.deactivate(AGENT, 'enough', ANN);
  expect(toldActive).toEqual([false]);
  await settle<unknown>(stopped, agents.reactivate(AGENT, BEN, nothing));
  expect(toldActive).toEqual([false, false, true]);
  agents.deactivateByKillSwitch(AGENT, incident('inc-1'));
  expect(toldActive).toEqual([false, false, true, false]);
  await letWrite();
});

test('a stop is not called stored before it is, and that it is is told', async () => {
  expect(agents.isStopStored(AGENT)).toBe(true);
  const stopped = agents.deactivate(AGENT, 'enough', ANN);
  expect(agents.isStopStored(AGENT)).toBe(false);
  const toldBefore = toldActive.length;
  await settle(stopped);
  expect(agents.isStopStored(AGENT)).toBe(true);
  expect(toldActive.length).toBeGreaterThan(toldBefore);
});

test('a stop that a start finds unwritten is not called stored until it is', async () => {
  open = [{ tenant_id: 'default', incident: incident('inc-1') }];
  await agents.load();
  expect(agents.isStopStored(AGENT)).toBe(false);
  await time.pass(WRITE_AGAIN_MS);
  await letWrite();
  expect(agents.isStopStored(AGENT)).toBe(true);
});

test.each([
  ['', 'enough'],
  [', and whoever asks for it again', 'still'],
])('who stops an agent is told that it is in force where the disk hangs%s', async (_, reason) => {
  const stops = ['enough', reason].map((why) => agents.deactivate(AGENT, why, ANN));
  const told = Promise.allSettled(stops);
  await time.pass(STORED_WITHIN_MS - 1);
  expect(await Promise.race([told, 'not yet'])).toBe('not yet');
  await time.pass(1);
  const inForce = { code: 'store_busy', detail: expect.stringContaining('The stop is in force') };
  expect(await told).toMatchObject([{ reason: inForce }, { reason: inForce }]);
  await settle(agents.patchPolicy(AGENT, { requests_per_minute: 5 }, ANN));
  expect(onDisk).toMatchObject({ active: false, requests_per_minute: 5 });
  expect(audited.filter((line) => line === 'agent.deactivate')).toHaveLength(
    new Set(['enough', reason]).size,
  );
});

test('stops that a disk takes its time for wait within bounds, however often they are given and for whatever reason', async () => {
  const stops = Array.from({ length: 3 * UNTOLD_STOPS_MAX }, (_, nth) =>
    agents.deactivate(AGENT, `because ${nth}`, ANN),
  );
  const told = Promise.allSettled(stops);
  await time.pass(STORED_WITHIN_MS);
  const detail = expect.stringContaining('The stop is in force');
  for (const answer of await told) expect(answer).toMatchObject({ reason: { code: 'store_busy', detail } });
  let writeCount = 0;
  for (; writes.length > 0; writeCount += 1) await letWrite();
  expect(audited).toHaveLength(UNTOLD_STOPS_MAX);
  expect(writeCount).toBe(UNTOLD_STOPS_MAX);
  expect(onDisk).toMatchObject({ active: false, deactivated_reason: `because ${UNTOLD_STOPS_MAX - 1}` });
  const letIn = agents.reactivate(AGENT, BEN, nothing);
  expect(await settle(letIn)).toEqual(['reactivated']);
});

test('an answer in time leaves no timer behind', async () => {
  await settle(agents.deactivate(AGENT, 'enough', ANN));
  expect(time.timerCount).toBe(0);
});

test.each([undefined, 'enough'])(
  'who stops an agent once more while somebody lets it in is obeyed at once: %s',
  async (reason) => {
    await settle(agents.deactivate(AGENT, 'enough', ANN));
    const letIn = agents.reactivate(AGENT, BEN, () => expect.unreachable());
    await turn();
    const stopped = agents.deactivate(AGENT, reason, ANN);
    expect(await settle<unknown>(letIn, stopped)).toEqual(['stopped_again', true]);
    expect(toldActive).not.toContain(true);
    expect(onDisk).toMatchObject({ active: false, deactivated_reason: 'enough' });
    expect(audited).toEqual(['agent.deactivate', 'agent.reactivate', 'agent.deactivate']);
  },
);

test.each<[string, () => Promise<boolean>, string[]]>([
  ['an operator', () => agents.deactivate(AGENT, 'enough', ANN), []],
  [
    'the kill switch, in one session',
    async () => agents.deactivateByKillSwitch(AGENT, { ...incident('inc-1'), session_id: 's' }),
    ['agent.deactivate'],
  ],
])(
  'an agent stopped by %s is not let in where it is stopped once more while that waits, nor does the audit say so',
  async (_, first, told) => {
    const stopped = first();
    await settle<unknown>(stopped, agents.patchPolicy(AGENT, { budget_day_usd: 1 }, ANN));
    audited = [];
    const limits = agents.patchPolicy(AGENT, { requests_per_minute: 5 }, ANN);
    const letIn = agents.reactivate(AGENT, BEN, () => expect.unreachable());
    const again = agents.deactivate(AGENT, undefined, ANN);
    expect((await settle<unknown>(limits, letIn, again))[1]).toBe('stopped_again');
    expect(audited).toEqual(['agent.policy', ...told]);
  },
);

test('who hears of a stop knows in which sessions it ends calls', async () => {
  agents.deactivateByKillSwitch(AGENT, { ...incident('inc-1'), session_id: 's' });
  expect(toldKilledIn).toEqual([['s']]);
  await settle(agents.deactivate(AGENT, 'all of it', ANN));
  expect(toldKilledIn[1]).toEqual(['s', 'other']);
});

test('an agent whose stop was not written when the gateway died is stopped by its incident, and keeps its limits', async () => {
  const body = { ...agents.policy(AGENT), requests_per_minute: 5 };
  kept = [{ tenant_id: 'default', id: 'a', body }];
  open = [{ tenant_id: 'default', incident: incident('inc-1') }];
  await agents.load();
  const expected = { active: false, deactivated_by: KILL_SWITCH_ACTOR, requests_per_minute: 5 };
  expect(agents.restriction(AGENT)).toMatchObject(expected);
  expect(agents.restriction(agentScope('other', 'a'))).toBeNull();
  expect(agents.openIncidentId(AGENT)).toBe('inc-1');
});

describe('what the kill switch has stopped', () => {
  const OTHER_SESSION = 'other';
  test('is one session, and all of them once an operator stops the agent as well, until it is reactivated', async () => {
    agents.deactivateByKillSwitch(AGENT, incident('inc-1'));
    expect(agents.wasKilledIn(AGENT, OTHER_SESSION)).toBe(false);
    await settle(agents.patchPolicy(AGENT, { requests_per_minute: 5 }, ANN));
    expect(agents.wasKilledIn(AGENT, OTHER_SESSION)).toBe(false);
    await settle(agents.deactivate(AGENT, undefined, ANN));
    expect(agents.wasKilledIn(AGENT, OTHER_SESSION)).toBe(true);
    expect(agents.policy(AGENT)).toMatchObject({ deactivated_by: KILL_SWITCH_ACTOR });
    await settle(agents.reactivate(AGENT, BEN, nothing));
    agents.deactivateByKillSwitch(AGENT, incident('inc-2'));
    expect(agents.wasKilledIn(AGENT, OTHER_SESSION)).toBe(false);
    await letWrite();
  });

  test("is on record as the operator's where the kill switch fires while they stop the agent: all of it", async () => {
    const stop = agents.deactivate(AGENT, undefined, ANN);
    await turn();
    agents.deactivateByKillSwitch(AGENT, incident('inc-1'));
    await settle(stop);
    await letWrite();
    expect(agents.policy(AGENT).deactivated_by).toBe('ann');
    expect(onDisk?.deactivated_by).toBe('ann');
  });
});

describe('a kill switch that fires while another change is being written', () => {
  test('stops the agent at once, and for good; the other change is kept', async () => {
    const patch = agents.patchPolicy(AGENT, { requests_per_minute: 5 }, ANN);
    await turn();
    expect(writes).toHaveLength(1);
    expect(agents.deactivateByKillSwitch(AGENT, incident('inc-1'))).toBe(true);
    expect(agents.policy(AGENT).active).toBe(false);
    await letWrite();
    const expected = { active: false, deactivated_by: KILL_SWITCH_ACTOR, requests_per_minute: 5 };
    expect(await patch).toMatchObject(expected);
    expect(agents.policy(AGENT)).toMatchObject(expected);
    await letWrite();
    expect(onDisk).toMatchObject(expected);
    expect(audited).toEqual(['agent.policy', 'agent.deactivate inc-1']);
  });

  test('is not undone by a reactivation that began before', async () => {
    await settle(agents.deactivate(AGENT, undefined, ANN));
    const reactivation = agents.reactivate(AGENT, BEN, () => expect.unreachable());
    await turn();
    expect(writes).toHaveLength(1);
    expect(agents.deactivateByKillSwitch(AGENT, incident('inc-2'))).toBe(false);
    expect(await settle(reactivation)).toEqual(['stopped_again']);
    await letWrite();
    expect(agents.policy(AGENT)).toMatchObject({ active: false, deactivated_by: 'ann' });
    expect(onDisk).toMatchObject({ active: false });
    expect(agents.openIncidentId(AGENT)).toBe('inc-2');
    expect(audited).toEqual(['agent.deactivate', 'agent.reactivate', 'agent.deactivate inc-2']);
  });

  test('is not undone by a reactivation that was asked for before and waits for its turn', async () => {
    await settle(agents.deactivate(AGENT, undefined, ANN));
    const patch = agents.patchPolicy(AGENT, { requests_per_minute: 5 }, ANN);
    const reactivation = agents.reactivate(AGENT, BEN, () => expect.unreachable());
    agents.deactivateByKillSwitch(AGENT, incident('inc-2'));
    expect((await settle<unknown>(patch, reactivation))[1]).toBe('stopped_again');
    expect(agents.policy(AGENT).active).toBe(false);
    expect(agents.openIncidentId(AGENT)).toBe('inc-2');
  });

  test('is known to the reactivation that it follows, whose moment was before it', async () => {
    await settle(agents.deactivate(AGENT, undefined, ANN));
    const seen: boolean[] = [];
    const reactivation = agents.reactivate(AGENT, BEN, () => {
      seen.push(agents.policy(AGENT).active);
      expect(agents.deactivateByKillSwitch(AGENT, incident('inc-2'))).toBe(true);
    });
    expect(await settle(reactivation)).toEqual(['stopped_again']);
    await letWrite();
    expect(seen).toEqual([true]);
    expect(onDisk).toMatchObject({ active: false, deactivated_by: KILL_SWITCH_ACTOR });
    expect(audited).toEqual(['agent.deactivate', 'agent.reactivate', 'agent.deactivate inc-2']);
  });
});

describe('one tenant', () => {
  const kill = (agent: string) => agents.deactivateByKillSwitch(agentScope('default', agent), incident('i'));
  const other = agentScope('other', 'a');
  const eve = { ...ANN, tenant_id: 'other' };

  test('cannot take the places for settings of all the others, neither by changes nor by agents it has killed', async () => {
    const limited = (agent: string) =>
      agents.patchPolicy(agentScope('default', agent), { requests_per_minute: 5 }, ANN);
    await settle(limited('a'), limited('b'));
    const oneMore = limited('c');
    await expect(oneMore).rejects.toMatchObject({ code: 'invalid_request' });
    for (const agent of ['c', 'd', 'e']) kill(agent);
    await settle(agents.patchPolicy(other, { requests_per_minute: 5 }, eve));
    expect(agents.policy(other).requests_per_minute).toBe(5);
    expect(agents.policy(agentScope('default', 'e')).active).toBe(false);
  });
});

describe('all agents together', () => {
  const all = allAgents('default');

  test('are stopped though no further agent of the tenant has a place for settings, and take none', async () => {
    const limited = (agent: string) =>
      agents.patchPolicy(agentScope('default', agent), { requests_per_minute: 5 }, ANN);
    await settle(limited('a'), limited('b'));
    await settle(agents.deactivate(all, 'enough', ANN));
    expect(agents.restrictionOfAll('default')).toMatchObject({ active: false, deactivated_reason: 'enough' });
    expect(agents.restrictionOfAll('other')).toBeNull();
    expect([...agents.known('default')]).toEqual(['a', 'b']);
    await settle(agents.patchPolicy(allAgents('other'), { budget_day_usd: 5 }, ANN));
    await settle(agents.patchPolicy(agentScope('other', 'a'), { requests_per_minute: 5 }, ANN));
  });
});

describe('agents that the kill switch stops under ever new names', () => {
  const named = (agent: string, tenant = 'default') => agentScope(tenant, agent);
  const kill = (agent: string) => agents.deactivateByKillSwitch(named(agent), incident(`inc-${agent}`));
  const NAMES = Array.from({ length: 10 }, (_, index) => `new ${index}`);

  test('stay stopped one and all, in bounded memory, and close their tenant and no other', () => {
    for (const name of NAMES) kill(name);
    for (const name of NAMES) expect(agents.restriction(named(name))).toMatchObject({ active: false });
    expect([...agents.known('default')].length).toBeLessThanOrEqual(2);
    expect(closed).toEqual(['default']);
    expect(agents.restriction(named('unheard of'))).toMatchObject({
      active: false,
      deactivated_by: KILL_SWITCH_ACTOR,
    });
    expect(agents.restriction(named('unheard of', 'other'))).toBeNull();
  });

  test('take no place of what operators set, which stays in force', async () => {
    await settle(agents.patchPolicy(named('limited'), { requests_per_minute: 5 }, ANN));
    for (const name of NAMES) kill(name);
    await settle(agents.deactivate(named('another'), 'no', ANN));
    expect(agents.policy(named('limited'))).toMatchObject({ active: true, requests_per_minute: 5 });
    expect(agents.policy(named('another'))).toMatchObject({ active: false, deactivated_reason: 'no' });
  });

  test('do not keep an operator from letting in whom they name, until it is stopped again', async () => {
    for (const name of NAMES) kill(name);
    expect(await settle(agents.reactivate(named('healthy'), ANN, nothing))).toEqual(['reactivated']);
    expect(agents.policy(named('healthy')).active).toBe(true);
    kill('healthy');
    expect(agents.policy(named('healthy')).active).toBe(false);
  });

  test('are not let in by a change that was being written when they were stopped', async () => {
    const patch = agents.patchPolicy(named('new 0'), { requests_per_minute: 5 }, ANN);
    await turn();
    for (const name of NAMES) kill(name);
    expect(await settle(patch)).toMatchObject([{ active: false, requests_per_minute: 5 }]);
    await settle(agents.patchPolicy(named('new 0'), { requests_per_minute: 6 }, ANN));
    expect(agents.policy(named('new 0'))).toMatchObject({ active: false, requests_per_minute: 6 });
  });

  test('are as stopped after a restart', async () => {
    const body = { ...agents.policy(AGENT), active: false, deactivated_by: KILL_SWITCH_ACTOR };
    kept = NAMES.map((id) => ({ tenant_id: 'default', id, body: { ...body, agent_id: id } }));
    await agents.load();
    for (const name of NAMES) expect(agents.policy(named(name)).active).toBe(false);
    expect([...agents.known('default')].length).toBeLessThanOrEqual(2);
    expect(closed).toEqual(['default']);
  });

  test('close nothing while there are places, however often one is stopped', async () => {
    for (let round = 0; round < 5; round += 1) {
      for (const name of NAMES.slice(0, 2)) kill(name);
      await settle(...NAMES.slice(0, 2).map((name) => agents.reactivate(named(name), ANN, nothing)));
    }
    expect(closed).toEqual([]);
    expect(agents.restriction(named('unheard of'))).toBeNull();
  });
});
