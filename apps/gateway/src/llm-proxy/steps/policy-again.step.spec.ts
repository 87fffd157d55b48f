import { describe, expect, test } from 'vitest';
import {
  type AgentLimits,
  type AgentPolicy,
  ALL_AGENTS,
  agentScope,
  type LimitDecision,
  type ModelPrice,
  NO_LIMITS,
  type RateLimiter,
  sessionKey,
} from '#contracts';
import { defaultPolicy, limitWindows, MemoryRateLimiter, SessionCaps } from '#domain/policy';
import { MINUTE_MS } from '#kernel';
import { FakeClock, lookAt, turn } from '#testing';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { newUnsettledAnswers } from '../calls/unsettled-answers.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refused } from '../refusals.js';
import { type PolicyParts, policyAgainStep, policyStep } from './policy.step.js';

const SCOPE = agentScope('default', 'agent-1');
const own = (changes: Partial<AgentPolicy>): AgentPolicy => ({ ...defaultPolicy('agent-1'), ...changes });
const ofAll = (changes: Partial<AgentPolicy>): AgentPolicy => ({ ...defaultPolicy(ALL_AGENTS), ...changes });
const PRICE = { input_usd: 1, output_usd: 1, cached_input_usd: null, cache_write_usd: null } as ModelPrice;

const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Where is order 12?' }] };

interface Policies {
  own: AgentPolicy | null;
  ofAll: AgentPolicy | null;
}

/** One call that has come, and waits; and those that come behind it. */
function setUp(policies: Policies, far: (near: MemoryRateLimiter) => RateLimiter = (near) => near) {
  const clock = new FakeClock();
  const near = new MemoryRateLimiter({ clock });
  const now = { ...policies, price: PRICE as ModelPrice | null };
  const holds: { run: (call: ProxyCall) => Promise<Verdict | undefined> | undefined } = {
    run: () => expect.unreachable(),
  };
  const parts: PolicyParts = {
    agents: { restriction: () => now.own, restrictionOfAll: () => now.ofAll },
    standing: () => undefined,
    prices: { price: () => now.price },
    limiter: far(near),
    caps: new SessionCaps({ clock }),
    unsettled: newUnsettledAnswers(answerStore(clock)),
    earlierUse: { mayHave: () => false, restore: () => expect.unreachable(), noteUncounted: () => {} },
    clock,
    onOverBudget: () => {},
    onBudgetBegun: () => {},
    onLimiterFailed: () => expect.unreachable(),
    onNotGivenBack: () => expect.unreachable(),
    onCapsFailed: () => expect.unreachable(),
  };
  const step = policyStep(parts);
  const again = policyAgainStep(parts, { run: (call) => holds.run(call) });
  const come = (sessionId = 's2') => {
    const call = buildProxyCall({ sessionId, body: BODY });
    return { call, verdict: step.run?.(call) };
  };
  const used = async (limits: Partial<AgentLimits>) => {
    const windows = limitWindows(
      SCOPE,
      { ...NO_LIMITS, ...limits },
      { requests: 0, tokens: 0, costMicroUsd: 0 },
      clock.nowMs(),
    );
    return (await lookAt(near, windows)).map((one) => one.used);
  };
  return { clock, now, holds, parts, step, again, come, used };
}

/** The agent's requests of the last minute. */
const REQUESTS = { requests_per_minute: 9 };

test('a call that waited takes anew of limits that were set meanwhile, and is counted once', async () => {
  const { clock, now, step, again, come, used, parts } = setUp({ own: own(REQUESTS), ofAll: null });
  const { call } = come('s1');
  clock.advance(2 * MINUTE_MS);
  now.own = own({ ...REQUESTS, session_calls_max: 1 });
  expect(again.run?.(call)).toBeUndefined();
  expect(await used(REQUESTS)).toEqual([1]);
  expect(parts.caps.look(sessionKey('default', 's1'))).toMatchObject({ callCount: 1 });
  expect(again.run?.(call)).toBeUndefined();
  expect(come('s1').verdict).toMatchObject({ code: 'session_capped' });
  step.settle?.(Object.assign(call, { wasTakenUp: true, isAnswered: true, status: 200 }));
  expect(await used(REQUESTS)).toEqual([1]);
});

test('the same of limits of all agents together, beside what its answer says already', async () => {
  const { now, again, come } = setUp({ own: null, ofAll: ofAll(REQUESTS) });
  const { call } = come('s1');
  call.answerHeaders = { ...call.answerHeaders, 'x-observatory-cache': 'miss' };
  now.ofAll = ofAll({ requests_per_minute: 1 });
  expect(again.run?.(call)).toBeUndefined();
  expect(come().verdict).toMatchObject({ code: 'rate_limited' });
  now.own = own(REQUESTS);
  expect(again.run?.(call)).toBeUndefined();
  expect(call.answerHeaders).toMatchObject({
    'x-ratelimit-limit-requests': '9',
    'x-observatory-cache': 'miss',
  });
});

test.each(['own', 'ofAll'] as const)(
  'and is refused where they let it through no more: then it has used nothing (%s)',
  async (whose) => {
    const { now, step, again, come, used } = setUp({ own: own(REQUESTS), ofAll: ofAll(REQUESTS) });
    const { call } = come('s1');
    come();
    Object.assign(now, { [whose]: { ...now[whose], requests_per_minute: 1 } });
    expect(again.run?.(call)).toMatchObject({ code: 'rate_limited' });
    step.settle?.(call);
    expect(await used(REQUESTS)).toEqual([1]);
  },
);

test.each<[string, Partial<AgentPolicy>, ModelPrice | null, string]>([
  ['models are narrowed', { allowed_models: ['other'] }, PRICE, 'model_not_allowed'],
  ['its price is gone', { unknown_cost: 'refuse' }, null, 'cost_unknown'],
])('a call that waited goes nowhere where %s', (_what, after, price, code) => {
  for (const whose of ['own', 'ofAll'] as const) {
    const { now, again, come } = setUp({ own: own(REQUESTS), ofAll: ofAll(REQUESTS) });
    const { call } = come('s1');
    Object.assign(now, { [whose]: { ...now[whose], ...after }, price });
    expect(again.run?.(call)).toMatchObject({ code });
  }
});

test('nor where its price is gone though nobody has changed its policy', () => {
  for (const whose of ['own', 'ofAll'] as const) {
    const refusing = { own: own({}), ofAll: ofAll({}) };
    refusing[whose].unknown_cost = 'refuse';
    const { now, again, come } = setUp(refusing);
    const { call } = come('s1');
    expect(again.run?.(call)).toBeUndefined();
    now.price = null;
    expect(again.run?.(call)).toMatchObject({ code: 'cost_unknown' });
  }
});

describe('a call that takes anew of a limiter that takes its time', () => {
  /** @param meanwhile before the limiter has answered */
  async function takenAnew(meanwhile: (set: ReturnType<typeof setUp>, call: ProxyCall) => void) {
    const set = setUp({ own: own(REQUESTS), ofAll: null }, farLimiter);
    const { call, verdict } = set.come('s1');
    await verdict;
    const heldBy: (number | null)[] = [];
    set.holds.run = async (held) => {
      heldBy.push(held.taken?.policy.requests_per_minute ?? null);
      return heldBy.length === 1 && call.path === '/paused' ? refused('forbidden') : undefined;
    };
    set.now.own = own({ requests_per_minute: 8 });
    const asked = set.again.run?.(call);
    meanwhile(set, call);
    return { set, call, heldBy, verdict: await asked };
  }

  test('passes the pause once more', async () => {
    const { heldBy, verdict } = await takenAnew(() => {});
    expect([verdict, heldBy]).toEqual([undefined, [8]]);
  });

  test('is answered by what the pause says', async () => {
    const { verdict } = await takenAnew((_set, call) => {
      call.path = '/paused';
    });
    expect(verdict).toMatchObject({ code: 'forbidden' });
  });

  test('and takes once more where they were set once more, and is counted once', async () => {
    const { heldBy, verdict, set } = await takenAnew(({ now }) => {
      now.own = own({ requests_per_minute: 7 });
    });
    expect([verdict, heldBy]).toEqual([undefined, [8, 7]]);
    expect(await set.used(REQUESTS)).toEqual([1]);
  });

  test('waits for nobody once its client has gone', async () => {
    const { heldBy, set, call } = await takenAnew((_set, gone) => gone.leave());
    expect(heldBy).toEqual([]);
    set.step.settle?.(call);
    await turn();
    expect(await set.used(REQUESTS)).toEqual([0]);
  });
});

/** Answers a turn later. */
const farLimiter = (near: MemoryRateLimiter): RateLimiter => ({
  take: async (windows): Promise<LimitDecision> => {
    const decision = near.takeNow(windows);
    await turn();
    return decision;
  },
  correct: async (changes) => near.correctNow(changes),
  seed: (changes) => near.seed(changes),
});

describe('a call that waited keeps its place', () => {
  const RATE = { requests_per_minute: 1 };

  test.each<[string, Policies, Policies]>([
    [
      'the agent’s cache',
      { own: own(RATE), ofAll: null },
      { own: own({ ...RATE, cache: 'off' }), ofAll: null },
    ],
    [
      'the cache of an agent that had no policy, beside a rate of all',
      { own: null, ofAll: ofAll(RATE) },
      { own: own({ cache: 'off' }), ofAll: ofAll(RATE) },
    ],
    [
      'the models of all agents',
      { own: own(RATE), ofAll: ofAll({}) },
      { own: own(RATE), ofAll: ofAll({ allowed_models: ['gpt-4o-mini'] }) },
    ],
  ])('where somebody sets no limit but %s', async (_what, before, after) => {
    const { clock, now, step, again, come } = setUp(before);
    const { call } = come('s1');
    clock.advance(2 * MINUTE_MS);
    expect(come().verdict).toBeUndefined();
    Object.assign(now, after);
    expect(again.run?.(call)).toBeUndefined();
    // It has used what it took two minutes ago.
    step.settle?.(Object.assign(call, { wasTakenUp: true, isAnswered: true, status: 200 }));
    expect(come().verdict).toMatchObject({ code: 'rate_limited' });
    clock.advance(2 * MINUTE_MS);
    expect(come().verdict).toBeUndefined();
  });
});
