import { describe, expect, it } from 'vitest';
import type { SessionView, TopologyEdge, TopologyNode } from '#contracts';
import { loopsNow } from '../../app/loops-now';
import { buildStoppedAgent } from '../agents/agent.fixture';
import { buildPolicies } from '../session-clusters/policies.fixture';
import { groupSemanticLoops } from '../session-clusters/semantic-alerts';
import { fleetColour, fleetData, fleetLabel, fleetNode, isFromBefore, type KnownLoops } from './fleet-nodes';
import { countAgents, countSessions, countStates, matchesFleet } from './fleet-search';

const NOW_MS = 60;
const node = (session_id: string, over: Partial<TopologyNode> = {}): TopologyNode => ({
  node_id: `${session_id}/${over.agent_id ?? 'bot'}`,
  agent_id: 'bot',
  session_id,
  state: 'alert_entropy',
  agent_type: '',
  last_intent: '',
  step_count: 3,
  last_seen_ms: 1,
  ghost: session_id === '',
  ...over,
});
const session = (session_id: string, over: Partial<SessionView> = {}, control = {}): SessionView =>
  ({
    session_id,
    agent_id: 'bot',
    severity: 'loop',
    state: 'alert_entropy',
    ended: false,
    last_seen_ms: 1,
    control: { state: 'active', mode: 'enforced', since_ms: null, held_count: 0, asked_by: [], ...control },
    ...over,
  }) as SessionView;

const POLICIES = buildPolicies([
  buildStoppedAgent('killed', 'kill_switch', 5),
  buildStoppedAgent('off', 'ana', 5),
]);

it('tells an agent whose steps came before the start from one that never sent a valid one', () => {
  expect(isFromBefore(node('s', { step_count: 0 }))).toBe(true);
  expect(isFromBefore(node('s', { step_count: 1 }))).toBe(false);
  expect(isFromBefore(node('', { step_count: 0 }))).toBe(false);
});

function known(...rows: SessionView[]): KnownLoops {
  const sessions = new Map(rows.map((row) => [row.session_id, row]));
  const semantic = groupSemanticLoops([
    { session_id: 'rewords', agent_id: 'bot', action: 'alerted', at_ms: 50, occurrence: 2 } as never,
  ]);
  return { sessions, policies: POLICIES, loops: loopsNow(sessions, semantic, POLICIES, NOW_MS) };
}

describe('an agent whose session is held', () => {
  const waits = (control: object, over: Partial<SessionView> = {}) =>
    known(session('s', { severity: 'normal', state: 'idle', ...over }, control));

  it('is paused on the map, in its filter and by name, whatever it did before', () => {
    for (const state of ['active', 'idle', 'blocked'] as const) {
      const shown = fleetNode(node('s', { state }), waits({ state: 'paused' }));
      expect(fleetLabel(shown)).toBe('Paused');
      expect(matchesFleet(shown, { q: '', states: ['paused'] })).toBe(true);
      expect(countStates([shown])).toMatchObject({ paused: 1, [state]: 0 });
    }
  });

  it('waits for a person in the words of the list, where its agent or the gateway asked for one', () => {
    for (const control of [{ operator_id: 'system' }, { operator_id: 'ana', asked_by: ['bot'] }]) {
      const shown = fleetNode(node('s', { state: 'active' }), waits({ state: 'paused', ...control }));
      expect(fleetLabel(shown)).toBe('Waits for a person');
      expect(matchesFleet(shown, { q: '', states: ['paused'] })).toBe(true);
    }
  });

  it('is none where a message was refused, where its session is over, or where it never heard of the pause', () => {
    for (const state of ['schema_violation', 'dead'] as const)
      expect(fleetLabel(fleetNode(node('s', { state }), waits({ state: 'paused' })))).not.toBe('Paused');
    const unheard = waits({ state: 'pause_requested', mode: 'observe_only' });
    expect(fleetLabel(fleetNode(node('s', { state: 'active' }), unheard))).toBe('Active');
  });

  it('goes on as the same node while nothing changes, and as another when it is resumed', () => {
    const active = { nodes: new Map([['s/bot', node('s', { state: 'active' })]]), edges: new Map() };
    const held = fleetData(active, waits({ state: 'paused' }), null);
    expect(fleetData(active, waits({ state: 'paused' }), held)).toBe(held);
    expect(fleetLabel(fleetData(active, waits({}), held).nodes.get('s/bot') as never)).toBe('Active');
  });
});

describe('an agent whose step is held', () => {
  const shown = (
    state: TopologyNode['state'],
    row: Partial<SessionView>,
    control: object,
    agent_id = 'bot',
  ) =>
    fleetLabel(
      fleetNode(node('s', { state, agent_id }), known(session('s', row, { held_count: 1, ...control }))),
    );
  const calm = { severity: 'normal', state: 'active' } as const;
  const warned = { severity: 'warning', state: 'blocked' } as const;
  const unheard = { state: 'pause_requested', mode: 'observe_only' };

  it('is on the map as in the list, whatever that step made of it', () => {
    for (const state of ['active', 'blocked', 'alert_entropy'] as const) {
      expect(shown(state, calm, unheard)).toBe('Active');
      expect(shown(state, warned, unheard)).toBe('Warning');
      expect(shown(state, {}, unheard)).toBe('Loop');
      expect(shown(state, calm, { state: 'paused' })).toBe('Paused');
      expect(shown(state, {}, { state: 'paused' })).toBe('Loop, held');
    }
  });

  it('is so too where another agent of its session was seen last, and keeps what came before', () => {
    expect(shown('blocked', calm, unheard, 'helper')).toBe('Active');
    expect(shown('blocked', warned, unheard, 'helper')).toBe('Warning');
    expect(shown('idle', calm, unheard, 'helper')).toBe('Idle');
    expect(shown('schema_violation', calm, unheard)).toBe('Schema violation');
  });

  it('is as the map has it where nothing is held', () => {
    expect(shown('blocked', calm, { ...unheard, held_count: 0 })).toBe('Warning');
  });
});

describe('a looping agent on the map', () => {
  it('loops as long as nothing has stopped it', () => {
    const running = node('s');
    expect(fleetNode(running, known(session('s')))).toBe(running);
    expect(fleetNode(running, known())).toBe(running);
  });

  it.each([
    ['held', session('s', {}, { state: 'paused' }), 'Loop, held'],
    ['agent_killed', session('s', { agent_id: 'killed' }), 'Loop, agent killed'],
    ['agent_off', session('s', { agent_id: 'off' }), 'Loop, agent off'],
    ['silent', session('s', { state: 'idle' }), 'Loop, silent'],
  ])('rests, and says why, where the alerts panel says so: %s', (rest, row, label) => {
    const shown = fleetNode(node('s'), known(row));
    expect(shown).toMatchObject({ state: 'alert_entropy', rest });
    expect(fleetLabel(shown)).toBe(label);
    expect(matchesFleet(shown, { q: '', states: ['alert_entropy'] })).toBe(false);
    expect(matchesFleet(shown, { q: '', states: ['loop_rests'] })).toBe(true);
  });

  it('loops on where its pause reached nobody', () => {
    const unheard = session('s', {}, { state: 'pause_requested', mode: 'observe_only' });
    expect(fleetNode(node('s'), known(unheard)).rest).toBeUndefined();
  });

  it('is what its session is once that has gone on without it, or is over', () => {
    const gone = session('s', { severity: 'normal', state: 'active', agent_id: 'other' });
    expect(fleetNode(node('s'), known(gone))).toMatchObject({ state: 'active' });
    const over = session('s', { ended: true, state: 'dead' });
    expect(fleetNode(node('s'), known(over))).toMatchObject({ state: 'dead' });
  });
});

describe('an agent that asks the same in other words', () => {
  const row = session('rewords', { severity: 'normal', state: 'active' });

  it('loops on the map as it does in the alerts panel', () => {
    expect(fleetNode(node('rewords', { state: 'active' }), known(row)).state).toBe('alert_entropy');
  });

  it('is not taken for another agent of its session, nor does it hide what is graver', () => {
    for (const other of [
      node('rewords', { state: 'active', agent_id: 'helper' }),
      node('rewords', { state: 'schema_violation' }),
    ])
      expect(fleetNode(other, known(row))).toBe(other);
  });
});

describe('the colour of a node', () => {
  it('is that of its state or of its pause, and of a loop at rest a faded one', () => {
    expect(fleetColour({ state: 'alert_entropy' })).toBe('#ef4444');
    expect(fleetColour({ state: 'active', paused: 'waiting' })).toBe('var(--paused-solid)');
    const faded = fleetColour({ state: 'alert_entropy', rest: 'silent' });
    expect(faded).toMatch(/^color-mix\(.*#ef4444 .*var\(--surface\)\)$/);
  });
});

describe('the numbers of the map', () => {
  const rows = [
    session('a'),
    session('b', {}, { state: 'paused' }),
    session('rewords', { severity: 'normal', state: 'active' }),
  ];
  const topology = (...nodes: TopologyNode[]) => ({
    nodes: new Map(nodes.map((one) => [one.node_id, one])),
    edges: new Map<string, TopologyEdge>(),
  });
  const all = topology(
    node('a'),
    node('a', { agent_id: 'helper' }),
    node('b'),
    node('rewords', { state: 'active' }),
    node('', { state: 'idle', agent_id: 'ghost' }),
  );

  it('count a loop once, whichever of its agents go round in it, and as many as loop now', () => {
    const facts = known(...rows);
    const counts = countStates(fleetData(all, facts, null).nodes.values());
    expect(counts.alert_entropy).toBe(facts.loops.size);
    expect(counts).toMatchObject({ alert_entropy: 2, loop_rests: 1, active: 0 });
  });

  it('count an agent of several sessions as one agent', () => {
    expect(countAgents(all.nodes.values())).toBe(3);
    expect(countSessions(all.nodes.values())).toBe(3);
  });

  it('are taken from the same objects as long as nothing changes', () => {
    const facts = known(...rows);
    const first = fleetData(all, facts, null);
    expect(fleetData(topology(...all.nodes.values()), facts, first).nodes).not.toBe(first.nodes);
    expect(fleetData(all, known(...rows), first)).toBe(first);
    const resumed = fleetData(all, known(session('a'), session('b'), rows[2] as SessionView), first);
    expect(resumed.nodes.get('b/bot')).not.toBe(first.nodes.get('b/bot'));
    expect(resumed.nodes.get('rewords/bot')).toBe(first.nodes.get('rewords/bot'));
  });
});

describe('an agent that somebody stopped', () => {
  const calm = (agent_id: string, over: Partial<SessionView> = {}, control = {}) =>
    fleetNode(
      node('s', { agent_id, state: 'active' }),
      known(session('s', { agent_id, severity: 'normal', state: 'active', ...over }, control)),
    );

  it('is not at work on the map, loop or none, and says who stopped it', () => {
    expect(fleetLabel(calm('killed'))).toBe('Agent killed');
    expect(fleetLabel(calm('off'))).toBe('Agent off');
    expect(countStates([calm('killed'), calm('off'), calm('bot')])).toMatchObject({ idle: 2, active: 1 });
    expect(matchesFleet(calm('off'), { q: '', states: ['active'] })).toBe(false);
  });

  it('is so for its own card alone, and not where its session is held or over', () => {
    const rows = known(session('s', { agent_id: 'off', severity: 'normal', state: 'active' }));
    expect(fleetLabel(fleetNode(node('s', { agent_id: 'bot', state: 'active' }), rows))).toBe('Active');
    expect(fleetLabel(calm('off', {}, { state: 'paused' }))).toBe('Paused');
    expect(fleetLabel(calm('off', { ended: true }))).toBe('Active');
  });
});
