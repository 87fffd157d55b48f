import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DecisionLog,
  decisionLogSchema,
  type LlmAnswer,
  PROXY_SOURCE,
  type SessionKey,
  type SessionView,
  type StoredStep,
  sessionKey,
  type Usage,
} from '#contracts';
import { dialectFor } from '#domain/llm-dialects';
import { HOUR_MS } from '#kernel';
import { buildDecisionLog, buildLlmAnswer, buildSessionView, FakeClock } from '#testing';
import type { SteplessUse } from '../../decision-log/session-registry.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import { StepFeed } from './step-feed.js';

let clock: FakeClock;
let made: DecisionLog[];
let feed: StepFeed;
let stepless: SteplessUse[];
let waiting: DecisionLog[];
let skippedCount: number;
let shownRow: { cost_usd: number } | undefined;
beforeEach(() => {
  clock = new FakeClock();
  made = [];
  stepless = [];
  waiting = [];
  skippedCount = 0;
  shownRow = undefined;
  feed = new StepFeed({
    clock,
    deliver: (_tenantId, logs) => made.push(...logs),
    rowOf: (key) => (key === sessionKey('default', 's') ? shownRow : undefined),
    onWaiting: (_key, log) => waiting.push(log),
    onStepless: (uses) => stepless.push(...uses),
    onSkipped: () => (skippedCount += 1),
  });
});

interface Who {
  agent?: string;
  session?: string;
  tenant?: string;
}

const usageOf = (input_tokens: number): Usage => ({
  input_tokens,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
});

let serial = 0;
/** An answered call goes by. */
function call(
  {
    agent = 'a',
    session = 's',
    tenant = 'default',
    costMicroUsd = 0,
    content = `Question ${serial + 1}`,
    isRetry = false,
  }: Who & { costMicroUsd?: number | null; content?: string; isRetry?: boolean },
  ...toolNames: string[]
): void {
  serial += 1;
  const one = buildProxyCall({
    id: `call-${serial}`,
    tenantId: tenant,
    agentId: agent,
    sessionId: session,
    body: { model: 'm', messages: [{ role: 'user', content }] },
  });
  one.isAnswered = true;
  one.costMicroUsd = costMicroUsd;
  const tool_calls = toolNames.map((name) => ({ name, arguments: '{}' }));
  one.answer = { model: 'm', text: 'ok', tool_calls, usage: null, failed: false } as unknown as LlmAnswer;
  one.isRetry = isRetry;
  feed.noteRequest(one);
  feed.noteCost(one);
  if (!feed.noteAnswer(one)) feed.noteStepless(one);
}

/** A call that makes no step goes by. */
function embed(costMicroUsd: number | null, inputTokens: number): void {
  serial += 1;
  const one = buildProxyCall({ id: `call-${serial}`, sessionId: 's', path: '/embeddings', dialect: null });
  one.isAnswered = true;
  one.costMicroUsd = costMicroUsd;
  one.answer = buildLlmAnswer({ usage: usageOf(inputTokens) });
  feed.noteCost(one);
  expect(feed.noteAnswer(one)).toBe(false);
  feed.noteStepless(one);
  feed.flush();
}

/** A call is about to go to its upstream. */
function send({
  agent = 'a',
  session = 's',
  content = 'Look into it',
}: Who & { content?: string } = {}): void {
  serial += 1;
  feed.noteSent(
    buildProxyCall({
      id: `call-${serial}`,
      agentId: agent,
      sessionId: session,
      body: { model: 'm', messages: [{ role: 'user', content }] },
    }),
  );
}

const reported = ({ agent = 'a', session = 's', tenant = 'default' }: Who, source_app = 'agent'): void =>
  feed.noteReported(sessionKey(tenant, session), {
    tenant_id: tenant,
    agent_id: agent,
    session_id: session,
    log: buildDecisionLog({ meta: { source_app } }),
  } as StoredStep);

const sessionsMade = () => {
  feed.flush();
  return made.splice(0).map(({ meta }) => meta.session_id);
};

describe('steps made of calls', () => {
  test.each([
    ['openai', '/chat/completions', { type: 'function', function: { name: 'extract' } }],
    ['openai', '/responses', { type: 'function', name: 'extract' }],
    ['anthropic', '/v1/messages', { type: 'tool', name: 'extract' }],
  ] as const)(
    'wait for no result of a tool that only gives the answer its shape, at %s %s',
    (kind, path, tool_choice) => {
      const demand = (tools: object[]) => {
        serial += 1;
        const dialect = dialectFor(kind, 'POST', path);
        const messages = [{ role: 'user', content: 'Whose invoice is this?' }];
        const body = { model: 'm', messages, input: messages, tools, tool_choice };
        const one = buildProxyCall({ id: `call-${serial}`, sessionId: `s${serial}`, path, dialect, body });
        one.isAnswered = true;
        const tool_calls = [{ id: null, name: 'extract', arguments: '{"name":"Bo"}' }];
        one.answer = buildLlmAnswer({ text: '', tool_calls, finish: 'tool_calls' });
        feed.noteAnswer(one);
        feed.flush();
        return made.splice(0).map(({ action }) => action.status);
      };
      expect(demand([{ name: 'extract' }])).toEqual(['success']);
      expect(demand([{ name: 'extract' }, { name: 'search' }])).toEqual([]);
    },
  );

  test.each(['set_model_response', 'strands_structured_output', 'format_output', 'final_answer', 'json'])(
    'wait for no result of %s, by which frameworks have the answer given, unless something else is to be carried out',
    (name) => {
      call({}, 'search', name);
      call({}, name);
      feed.flush();
      const told = made.map(({ action }) => [action.tool_call?.replace(/#\w+/g, ''), action.status]);
      expect(told).toEqual([
        [`search + ${name}`, 'pending'],
        [name, 'success'],
      ]);
    },
  );

  test('are made for an agent that reports nothing, and of their own coming back is no report', () => {
    call({});
    expect(sessionsMade()).toEqual(['s']);
    reported({}, PROXY_SOURCE);
    call({});
    expect(sessionsMade()).toEqual(['s']);
  });

  test('name the call that the model wrote into its text, and wait for nothing', () => {
    const say = (text: string) => {
      serial += 1;
      const one = buildProxyCall({
        id: `call-${serial}`,
        sessionId: 's',
        body: { model: 'm', messages: [] },
      });
      one.isAnswered = true;
      one.answer = buildLlmAnswer({ text });
      feed.noteAnswer(one);
      feed.flush();
      return made.splice(0).map(({ action }) => action)[0];
    };
    const wrote = 'Thought: hm\nAction: read\nAction Input: {"meter": 1}';
    const step = say(wrote);
    expect(step).toMatchObject({
      status: 'success',
      tool_call: expect.stringMatching(/^read#[0-9a-f]{8}$/),
      tool_output_summary: wrote,
    });
    expect(say('Action: read\nAction Input: { "meter":1 }')?.tool_call).toBe(step?.tool_call);
    expect(say('Action: read\nAction Input: {"meter": 2}')?.tool_call).not.toBe(step?.tool_call);
    expect(say('Action: none is needed.\nAnd no\nAction Input: either.')?.tool_call).toBeUndefined();
    expect(say('It stands still.')?.tool_call).toBeUndefined();
  });

  test('are told of while they wait for their tools, and of one that does not wait nothing is', () => {
    call({ session: 'slow' }, 'make');
    call({ session: 'quick' });
    const told = waiting.map(({ meta, action }) => [meta.session_id, action.tool_call]);
    expect(told).toEqual([['slow', expect.stringMatching(/^make#/)]]);
    expect(sessionsMade()).toEqual(['quick']);
  });

  test('say what the session cost, and nothing where a call had no price', () => {
    for (const costMicroUsd of [2_000, null, 1_000]) call({ costMicroUsd });
    feed.flush();
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([
      0.002,
      undefined,
      0.003,
    ]);
  });

  test('go on from what the session had cost before a start, or a quiet hour ago', () => {
    shownRow = { cost_usd: 0.030075 };
    call({ costMicroUsd: 10_025 });
    clock.advance(HOUR_MS + 1);
    shownRow = { cost_usd: 0.0401 };
    call({ costMicroUsd: 10_025 });
    call({ session: 'another', costMicroUsd: 10_025 });
    feed.flush();
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([
      0.0401, 0.050125, 0.010025,
    ]);
  });

  test('are one for a request that its SDK tries again, of the first attempt that makes any', () => {
    call({ content: 'Build it' }, 'build');
    // Its result came with an attempt that never arrived.
    call({ content: 'Build it and test it', isRetry: true }, 'test');
    call({ content: 'Build it and test it', isRetry: true }, 'test');
    call({ content: 'Build it, test it and go' });
    feed.flush();
    expect(made.map(({ action }) => action.tool_call?.split('#')[0])).toEqual(['build', 'test', undefined]);
    expect(stepless).toEqual([]);
  });

  test('are two for requests of one length, though of the second a retry alone came through', () => {
    call({ content: 'Read page 12' }, 'read');
    // Its first attempt was sent back by a limit.
    call({ content: 'Read page 13', isRetry: true }, 'read');
    call({ content: 'Read page 13', isRetry: true }, 'read');
    call({ content: 'Sum up' });
    feed.flush();
    expect(made.map(({ cognition }) => cognition.intent)).toEqual(['Read page 12', 'Read page 13', 'Sum up']);
  });

  test('say with what the session cost what calls that make none cost, and no less than nothing', () => {
    call({ content: 'Read on', costMicroUsd: 10_000 });
    call({ content: 'Read on', costMicroUsd: 20_000, isRetry: true });
    call({ content: 'Read on', costMicroUsd: 10_000 });
    call({ content: 'Read on', costMicroUsd: -50_000, isRetry: true });
    call({ content: 'Read on', costMicroUsd: 10_000 });
    feed.flush();
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.01, 0.04, 0.01]);
  });

  test('say no more than the session cost where something is taken back while they wait', () => {
    call({ content: 'Read on', costMicroUsd: 30_000 });
    call({ content: 'Look it up', costMicroUsd: 10_000 }, 'look');
    call({ content: 'Look it up', costMicroUsd: -20_000, isRetry: true });
    call({ content: 'Sum up', costMicroUsd: 1_000 });
    feed.flush();
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.03, 0.02, 0.021]);
  });

  test('are not waited for where a call makes none: what it took is told by itself', () => {
    call({ content: 'Read on', costMicroUsd: 10_000 });
    call({ content: 'Read on', costMicroUsd: 20_000, isRetry: true });
    call({ content: 'Read on', costMicroUsd: null, isRetry: true });
    call({ content: 'Read on', costMicroUsd: 0, isRetry: true });
    expect(stepless).toEqual([]);
    call({ content: 'Read on', costMicroUsd: -5_000, isRetry: true });
    feed.flush();
    expect(stepless.map(({ costUsd, sessionCostUsd }) => [costUsd, sessionCostUsd])).toEqual([
      [0.02, 0.03],
      [null, 0.03],
      [-0.005, 0.025],
    ]);
    reported({});
    call({ content: 'Read on', costMicroUsd: 20_000, isRetry: true });
    feed.flush();
    expect(stepless).toHaveLength(3);
  });

  test('leave before what is taken back, and ahead of the next, whose sum is without it', () => {
    call({ content: 'Read on', costMicroUsd: 30_000 });
    call({ content: 'Read on', costMicroUsd: -20_000, isRetry: true });
    call({ content: 'Sum up', costMicroUsd: 25_000 });
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.03]);
    expect(stepless.map(({ costUsd }) => costUsd)).toEqual([-0.02]);
    feed.flush();
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.03, 0.035]);
    expect(stepless).toHaveLength(1);
  });

  test('say nothing of what a call takes that makes none: it is told by itself, of its session the first too', () => {
    embed(3_000, 40);
    embed(null, 2);
    call({ costMicroUsd: 1_000 });
    feed.flush();
    const use = { key: sessionKey('default', 's'), agentId: 'agent-1', callId: expect.any(String) };
    expect(stepless).toEqual([
      { ...use, costUsd: 0.003, sessionCostUsd: 0.003, tokens: 40 },
      { ...use, costUsd: null, sessionCostUsd: 0.003, tokens: 2 },
    ]);
    expect(made.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.004]);
  });

  test('show their session once its first call is under way, unless it is seen already or its agent reports itself', () => {
    send({ content: 'Look into\nthe build' });
    expect(waiting).toMatchObject([
      {
        meta: { session_id: 's' },
        cognition: { intent: 'Look into the build' },
        action: { status: 'pending' },
        state_delta: { cumulative_session_cost: 0 },
      },
    ]);
    shownRow = { cost_usd: 0 };
    send();
    reported({ agent: 'b', session: 'reported' });
    send({ agent: 'b', session: 'inferred' });
    expect(waiting).toHaveLength(1);
    feed.flush();
    expect(made).toEqual([]);
  });

  test('show at most so many sessions a second that have none yet', () => {
    for (let n = 0; n < 300; n += 1) send({ session: `begun-${n}` });
    expect(waiting).toHaveLength(200);
    clock.advance(1_000);
    send({ session: 'later' });
    expect(waiting).toHaveLength(201);
    // That takes none of the steps that there may be.
    clock.advance(1_000);
    for (let n = 0; n < 200; n += 1) send({ session: `next-${n}` });
    for (let n = 0; n < 200; n += 1) call({ session: `next-${n}` });
    feed.flush();
    expect(made).toHaveLength(200);
  });

  test('that are too many leave no room for rows that begin without one: what is next in their sessions says what they took', () => {
    for (let n = 0; n < 200; n += 1) call({ session: `busy-${n}` });
    embed(3_000, 40);
    embed(null, 2);
    expect(stepless).toEqual([]);
    clock.advance(1_000);
    call({ costMicroUsd: 1_000 });
    feed.flush();
    const use = { key: sessionKey('default', 's'), agentId: 'a', callId: expect.any(String) };
    expect(stepless.splice(0)).toEqual([
      { ...use, costUsd: 0, sessionCostUsd: 0.004, tokens: 42 },
      { ...use, costUsd: null, sessionCostUsd: 0.004, tokens: 0 },
    ]);
    embed(1_000, 8);
    expect(stepless).toMatchObject([{ costUsd: 0.001, sessionCostUsd: 0.005, tokens: 8 }]);
  });

  test('are made neither under the name of an agent that reports itself nor in a session it reports', () => {
    reported({ agent: 'a', session: 's' });
    call({ agent: 'a', session: 'inferred' });
    call({ agent: 'name-of-the-key', session: 's' });
    expect(sessionsMade()).toEqual([]);
    call({ agent: 'b', session: 'other' });
    call({ agent: 'a', session: 's', tenant: 'another' });
    expect(sessionsMade()).toEqual(['other', 's']);
  });

  test('are withdrawn, if they have not left, when the first report of their session comes', () => {
    call({ agent: 'b', session: 'other' });
    call({}, 'search');
    call({});
    call({}, 'search');
    reported({});
    call({});
    expect(sessionsMade()).toEqual(['other']);
  });

  test('are made neither for the second agent of a session that is reported by two in turn', () => {
    reported({ agent: 'a' });
    reported({ agent: 'b' });
    reported({ agent: 'a' });
    call({ agent: 'a', session: 'inferred' });
    call({ agent: 'b', session: 'inferred too' });
    expect(sessionsMade()).toEqual([]);
  });

  test('are not made while an agent goes on reporting', () => {
    for (let minute = 0; minute < 180; minute += 1) {
      reported({});
      clock.advance(HOUR_MS / 60);
    }
    call({});
    expect(sessionsMade()).toEqual([]);
  });

  test('are not made, after a start, of an agent that told its own within the hour before it', () => {
    const key = (session: string) => sessionKey('default', session);
    const row = (session_id: string, given: Partial<SessionView> = {}): [SessionKey, SessionView] => [
      key(session_id),
      buildSessionView({
        session_id,
        agent_id: session_id,
        source_app: 'agent',
        last_seen_ms: clock.nowMs(),
        ...given,
      }),
    ];
    feed.start([
      row('told'),
      row('told long ago', { last_seen_ms: clock.nowMs() - HOUR_MS }),
      row('made of calls', { source_app: PROXY_SOURCE }),
      row('held', { step_count: 0 }),
    ]);
    feed.stop();
    for (const session of ['told', 'told long ago', 'made of calls', 'held'])
      call({ agent: session, session });
    call({ agent: 'told', session: 'inferred' });
    call({ agent: 'name-of-the-key', session: 'told' });
    expect(sessionsMade()).toEqual(['told long ago', 'made of calls', 'held']);
    clock.advance(HOUR_MS + 1);
    call({ agent: 'told', session: 'told' });
    expect(sessionsMade()).toEqual(['told']);
  });

  test('are not made while an agent goes on reporting, though the wall clock is set back', () => {
    reported({});
    clock.set(clock.nowMs() - 24 * HOUR_MS);
    clock.advance(HOUR_MS / 2);
    reported({});
    clock.advance(HOUR_MS / 2 + 1);
    call({});
    expect(sessionsMade()).toEqual([]);
  });

  test('are made again an hour after the last report, however busy the agent was meanwhile', () => {
    reported({});
    clock.advance(HOUR_MS / 2);
    call({});
    clock.advance(HOUR_MS / 2);
    call({});
    expect(sessionsMade()).toEqual([]);
    clock.advance(1);
    call({});
    expect(sessionsMade()).toEqual(['s']);
  });

  test('are not made while an agent goes on reporting, however many agents of another tenant do', () => {
    reported({});
    for (let n = 0; n < 20_000; n += 1) reported({ tenant: 'noisy', agent: `${n}`, session: `${n}` });
    call({});
    call({ session: 'inferred' });
    call({ agent: 'name-of-the-key' });
    expect(sessionsMade()).toEqual([]);
  });

  test('say what the session cost, however many sessions another tenant has', () => {
    call({ costMicroUsd: 2_000 });
    for (let n = 0; n < 50_000; n += 1) {
      if (n % 200 === 0) clock.advance(1_000);
      call({ tenant: 'noisy', session: `${n}` });
    }
    clock.advance(1_000);
    call({ costMicroUsd: 1_000 });
    feed.flush();
    const own = made.filter(({ meta }) => meta.session_id === 's');
    expect(own.map(({ state_delta }) => state_delta?.cumulative_session_cost)).toEqual([0.002, 0.003]);
  });

  test('say what was asked in the words it was asked in, on one line and cut', () => {
    call({ content: ' Is 7\n a number? ' });
    call({ content: 'Order 4711 '.repeat(100) });
    feed.flush();
    expect(made.map(({ cognition }) => cognition.intent)).toEqual([
      'Is 7 a number?',
      'Order 4711 '.repeat(22).slice(0, 240).trim(),
    ]);
  });

  test('show no part of a secret that lies across the cut of what a tool was given, or gave back', () => {
    const across = (charsMax: number) => `${'a '.repeat(charsMax / 2 - 10)}//app:canary-password@db`;
    const one = buildProxyCall({ sessionId: 's', body: { model: 'm', messages: [] } });
    one.answer = {
      model: 'm',
      text: '',
      tool_calls: [{ id: '1', name: 'query', arguments: across(2_000) }],
      usage: null,
      failed: false,
    } as unknown as LlmAnswer;
    feed.noteAnswer(one);
    const two = buildProxyCall({
      sessionId: 's',
      body: { model: 'm', messages: [{ role: 'tool', tool_call_id: '1', content: across(500) }] },
    });
    feed.noteRequest(two);
    feed.flush();
    expect(made.map(({ action }) => action.tool_output_summary?.startsWith('a a a'))).toEqual([true]);
    expect(JSON.stringify(made)).not.toContain('canary');
  });

  test('show no part of a secret that lies where what was asked is cut, either', () => {
    call({ content: `${' '.repeat(465)}//app:canary-${'password'.repeat(10)}@db` });
    feed.flush();
    expect(made.map(({ cognition }) => cognition.intent)).toEqual(['//app:']);
  });

  test('fit the schema, however many calls of tools an answer makes and however it names them', () => {
    const names = Array.from({ length: 200 }, (_, n) => `look_up_the_weather_of_town_${n}`);
    call({}, ...names);
    call({}, ...names.slice(1), names[0] as string);
    call({}, 'x'.repeat(10_000));
    call({}, ...names);
    call({});
    feed.flush();
    expect(made.map((log) => decisionLogSchema.safeParse(log).error?.issues ?? [])).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
    const labels = made.map(({ action }) => action.tool_call);
    expect(labels[0]).toMatch(/^look_up_the_weather_of_town_0#44136fa3 \+ look_up_the_weather_of_town_1#/);
    expect(new Set(labels).size).toBe(4);
    expect(labels[3]).toBe(labels[0]);
  });

  test('are made for a tenant while another is too busy for all of its calls to make one', () => {
    for (let count = 0; count < 1_000; count += 1) call({ tenant: 'busy', session: 'busy' });
    call({ tenant: 'quiet', session: 'quiet' });
    const sessions = sessionsMade();
    expect(sessions.filter((session) => session === 'quiet')).toEqual(['quiet']);
    expect([sessions.length, skippedCount]).toEqual([201, 800]);
  });
});
