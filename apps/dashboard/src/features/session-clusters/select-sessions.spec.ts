import { describe, expect, it } from 'vitest';
import { LIMITS, type SessionView } from '#contracts';
import { buildStoppedAgent } from '../agents/agent.fixture';
import { buildPolicies } from './policies.fixture';
import { NO_POLICIES } from './rest';
import { countLeftOut, filterSessions, keepIfEqual, orderSessions } from './select-sessions';

const session = (session_id: string, over: Record<string, unknown> = {}): SessionView =>
  ({
    session_id,
    agent_id: 'agent',
    last_intent: 'plan',
    last_tool: 'read_file',
    severity: 'normal',
    started_ms: 0,
    last_seen_ms: 0,
    steps_per_minute: 0,
    cost_usd: 0,
    ended: false,
    ...over,
    control: { state: 'active', mode: 'enforced', asked_by: [], ...(over.control as object) },
  }) as unknown as SessionView;

const ids = (sessions: SessionView[]) => sessions.map(({ session_id }) => session_id);

describe('orderSessions', () => {
  it('takes what is silent or over for slower than what moves', () => {
    const rows = [
      session('silent', { steps_per_minute: 53, state: 'idle' }),
      session('over', { steps_per_minute: 20, ended: true }),
      session('moving', { steps_per_minute: 2, state: 'active' }),
    ];
    expect(orderSessions(rows, 'steps_per_minute')[0]).toBe('moving');
  });

  it('begins with what loops now, also in words alone, or under a pause that nobody heard', () => {
    const control = { state: 'pause_requested', mode: 'observe_only' } as SessionView['control'];
    const rows = [session('calm'), session('rewords'), session('unheard', { severity: 'loop', control })];
    const loops = new Map([['rewords', { kind: 'words', agent_id: 'a' } as const]]);
    expect(orderSessions(rows, 'severity', NO_POLICIES, loops).at(-1)).toBe('calm');
  });

  it('puts first what loops now, then what a person stopped or fell silent, warnings, the rest and what is over', () => {
    const order = orderSessions([
      session('silent', { severity: 'loop', state: 'idle', started_ms: 9 }),
      session('held', { severity: 'loop', control: { state: 'paused' }, started_ms: 8 }),
      session('over', { severity: 'loop', ended: true }),
      session('calm'),
      session('warned', { severity: 'warning' }),
      session('stopped', { control: { state: 'paused' } }),
      session('looping', { severity: 'loop' }),
    ]);
    expect(order).toEqual(['looping', 'silent', 'held', 'stopped', 'warned', 'calm', 'over']);
  });

  it('puts whoever waits for a person right behind what loops now, also with a last step to allow', () => {
    const control = { state: 'paused', operator_id: 'system' };
    const order = orderSessions([
      session('held', { severity: 'loop', control: { state: 'paused', operator_id: 'ana' }, started_ms: 9 }),
      session('asks', { control, started_ms: 8 }),
      session('asks at its end', { control, ended: true, started_ms: 7 }),
      session('looping', { severity: 'loop' }),
    ]);
    expect(order).toEqual(['looping', 'asks', 'asks at its end', 'held']);
  });

  it('puts a loop behind those that go on once its agent is killed', () => {
    const policies = buildPolicies([buildStoppedAgent('dead', 'kill_switch')]);
    const control = { state: 'active', mode: 'enforced' };
    const rows = [
      session('killed', { severity: 'loop', agent_id: 'dead', control, started_ms: 9 }),
      session('calm', { agent_id: 'dead', control, started_ms: 9 }),
      session('looping', { severity: 'loop', control }),
    ];
    expect(orderSessions(rows, 'severity', policies)).toEqual(['looping', 'killed', 'calm']);
    expect(orderSessions(rows)).toEqual(['killed', 'looping', 'calm']);
  });

  it('keeps equal rows where they are while they live: later start first, then the id', () => {
    const rows = [
      session('b', { last_seen_ms: 9 }),
      session('a', { last_seen_ms: 1 }),
      session('new', { started_ms: 5 }),
    ];
    expect(orderSessions(rows)).toEqual(['new', 'a', 'b']);
    expect(orderSessions(rows.toReversed())).toEqual(['new', 'a', 'b']);
  });

  it('orders by cost, most expensive first', () => {
    expect(orderSessions([session('a', { cost_usd: 1 }), session('b', { cost_usd: 2 })], 'cost')).toEqual([
      'b',
      'a',
    ]);
  });
});

describe('filterSessions', () => {
  const all = [
    session('sess-1', { agent_id: 'Triage', severity: 'loop' }),
    session('sess-2', {
      last_tool: 'send_email',
      control: { state: 'pause_requested', mode: 'cooperative' },
    }),
    session('sess-3', { ended: true, control: { state: 'terminated' } }),
  ];

  it('finds text in id, agent, intent and tool, whatever its case', () => {
    expect(ids(filterSessions(all, { q: 'TRIAGE' }))).toEqual(['sess-1']);
    expect(ids(filterSessions(all, { q: ' email ' }))).toEqual(['sess-2']);
  });

  it('counts a requested pause as paused', () => {
    expect(ids(filterSessions(all, { control: 'paused' }))).toEqual(['sess-2']);
  });

  it('finds what waits for a person, whatever an operator has paused', () => {
    const asks = session('asks', { control: { state: 'pause_requested', operator_id: 'system' } });
    const held = session('held', { control: { state: 'paused', operator_id: 'ana' } });
    const both = session('both', {
      control: { state: 'paused', operator_id: 'ana', asked_by: ['clerk'] },
    });
    expect(ids(filterSessions([...all, asks, held, both], { control: 'waiting' }))).toEqual(['asks', 'both']);
  });

  it('calls running what nobody holds, is not over, and whose agent may call', () => {
    const policies = buildPolicies([buildStoppedAgent('off', 'ana')]);
    const rows = [
      session('runs'),
      session('over', { ended: true }),
      session('held', { control: { state: 'paused' } }),
      session('agent off', { agent_id: 'off' }),
    ];
    expect(ids(filterSessions(rows, { control: 'active' }, policies))).toEqual(['runs']);
  });

  it('filters by mode, severity and end', () => {
    expect(ids(filterSessions(all, { control: 'cooperative' }))).toEqual(['sess-2']);
    expect(ids(filterSessions(all, { severity: 'loop', ended: 'live' }))).toEqual(['sess-1']);
    expect(ids(filterSessions(all, { ended: 'ended' }))).toEqual(['sess-3']);
  });
});

describe('keepIfEqual', () => {
  it('keeps the identity of an order that did not change', () => {
    const before = ['a', 'b'];
    expect(keepIfEqual(before, ['a', 'b'])).toBe(before);
    expect(keepIfEqual(before, ['b', 'a'])).toEqual(['b', 'a']);
  });
});

describe('countLeftOut', () => {
  const rows = (count: number, over = {}) =>
    Array.from({ length: count }, (_, at) => [`s-${at}`, session(`s-${at}`, over)] as const);

  it('says how many live sessions a full list has no row of', () => {
    const full = rows(LIMITS.listedSessionsMax);
    expect(countLeftOut(new Map(full), 12_003)).toBe(2_003);
    expect(countLeftOut(new Map([...full, ['over', session('over', { ended: true })]]), 12_003)).toBe(2_003);
    expect(countLeftOut(new Map(full), 9_999)).toBe(0);
  });

  it('is nothing while there is room: the count is of another moment than the rows', () => {
    expect(countLeftOut(new Map(rows(3)), 5)).toBe(0);
  });
});
