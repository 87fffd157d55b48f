import { describe, expect, test } from 'vitest';
import {
  type AgentLimits,
  type AgentPolicy,
  type AgentScope,
  ALL_AGENTS,
  agentScope,
  allAgents,
  type BucketChange,
  type LlmAnswer,
  type ModelPrice,
  NO_LIMITS,
  type RateLimiter,
  sessionKey,
  splitAgentScope,
  type Usage,
} from '#contracts';
import { DIALECT_BY_NAME, readUnreadRequest } from '#domain/llm-dialects';
import {
  defaultPolicy,
  limitWindows,
  MemoryRateLimiter,
  OUTPUT_TOKENS_ESTIMATE,
  SessionCaps,
} from '#domain/policy';
import { HOUR_MS, MINUTE_MS } from '#kernel';
import { buildLlmAnswer, FakeClock, lookAt, turn } from '#testing';
import { AgentActivity } from '../agents/agent-activity.js';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { newUnsettledAnswers } from '../calls/unsettled-answers.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { type PolicyParts, policyAgainStep, policyStep } from './policy.step.js';
import { recordStep } from './record.step.js';

const SCOPE = agentScope('default', 'agent-1');
const SESSION = sessionKey('default', 's1');
const POLICY = {
  ...defaultPolicy('agent-1'),
  requests_per_minute: 2,
  tokens_per_minute: 100_000,
  budget_day_usd: 1,
  session_calls_max: 3,
};
/** A dollar per million tokens: a micro-dollar a token. */
const PRICE = { input_usd: 1, output_usd: 1, cached_input_usd: null, cache_write_usd: null } as ModelPrice;
const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Where is order 12?' }] });
const INPUT_TOKENS = Math.ceil(BODY.length / 4);
const ESTIMATED = INPUT_TOKENS + OUTPUT_TOKENS_ESTIMATE;

const answer = (changes: Partial<LlmAnswer>) => buildLlmAnswer({ text: '', finish: null, ...changes });
const usage = (input_tokens: number, output_tokens: number): Usage => ({
  input_tokens,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});

const newCall = (body = BODY): ProxyCall => buildProxyCall({ body });

/** Nothing is set for all agents together. */
const ofOne = (restriction: () => AgentPolicy | null): PolicyParts['agents'] => ({
  restriction,
  restrictionOfAll: () => null,
});

/** Of an agent with limits of every kind and a model with a price; what a test is not about fails it. */
const usualParts = (clock: FakeClock): PolicyParts => ({
  agents: ofOne(() => POLICY),
  standing: () => undefined,
  prices: { price: () => PRICE },
  limiter: new MemoryRateLimiter({ clock }),
  caps: new SessionCaps({ clock }),
  unsettled: newUnsettledAnswers(answerStore(clock)),
  earlierUse: { mayHave: () => false, restore: () => expect.unreachable(), noteUncounted: () => {} },
  clock,
  onOverBudget: () => expect.unreachable(),
  onBudgetBegun: () => {},
  onLimiterFailed: () => expect.unreachable(),
  onNotGivenBack: () => expect.unreachable(),
  onCapsFailed: () => expect.unreachable(),
});

type PriceOf = (model: string | null, tier: string) => ModelPrice | null;

/** What is counted against the agent once a call has ended like this, so many milliseconds after it began. */
async function countedAfter(
  ending: Partial<ProxyCall>,
  body = BODY,
  priceOf: PriceOf = (_model, tier) => (tier === '' ? PRICE : null),
  tookMs = 0,
) {
  const clock = new FakeClock();
  const limiter = new MemoryRateLimiter({ clock });
  const caps = new SessionCaps({ clock });
  const step = policyStep({
    ...usualParts(clock),
    prices: { price: (_tenantId, model, tier = '') => priceOf(model, tier) },
    limiter,
    caps,
  });
  const call = newCall(body);
  expect(step.run?.(call)).toBeUndefined();
  clock.advance(tookMs);
  step.settle?.(Object.assign(call, ending));
  const windows = limitWindows(SCOPE, POLICY, { requests: 1, tokens: 1, costMicroUsd: 1 }, clock.nowMs());
  const [requests, tokens, microUsd] = (await lookAt(limiter, windows)).map(({ used }) => used);
  return {
    requests,
    tokens,
    microUsd,
    spent: call.costMicroUsd,
    sessionCalls: caps.look(SESSION)?.callCount,
  };
}

const counted = (tokens: number) => ({
  requests: 1,
  tokens,
  microUsd: tokens,
  spent: tokens,
  sessionCalls: 1,
});
const NOTHING = { requests: 0, tokens: 0, microUsd: 0, spent: 0, sessionCalls: 0 };
const LEFT = { isGone: true, decision: 'aborted', status: 499 } as const;

describe('what stays counted when a call ends without a whole answer', () => {
  test('a client that hangs up on an upstream at work has used the estimate', async () => {
    expect(await countedAfter({ ...LEFT, wasTakenUp: true })).toEqual(counted(ESTIMATED));
  });

  test('so has one whose upstream is too late', async () => {
    const late = { decision: 'upstream_failed', status: 504, wasTakenUp: true } as const;
    expect(await countedAfter(late)).toEqual(counted(ESTIMATED));
  });

  test('a stream cut before its usage came has used the estimate, or what went by where that is more', async () => {
    const cut = { ...LEFT, wasTakenUp: true };
    expect(await countedAfter({ ...cut, answer: answer({ text: 'half' }) })).toEqual(counted(ESTIMATED));
    // Anthropic says what the input took, and one token of output, before the first word.
    const begun = answer({ text: 'half', usage: usage(INPUT_TOKENS, 1) });
    expect(await countedAfter({ ...cut, answer: begun })).toEqual(counted(ESTIMATED));
    const long = answer({ text: 'x'.repeat(4 * 5_000) });
    expect(await countedAfter({ ...cut, answer: long })).toEqual(counted(INPUT_TOKENS + 5_000));
  });

  test('an answer that its upstream breaks off has cost the prompt and what went by', async () => {
    const broken = { decision: 'upstream_failed', status: 200, wasTakenUp: true } as const;
    expect(await countedAfter(broken)).toEqual(counted(INPUT_TOKENS));
    expect(await countedAfter({ ...broken, answer: answer({ text: 'x'.repeat(4 * 30) }) })).toEqual(
      counted(INPUT_TOKENS + 30),
    );
    const whole = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
    expect(await countedAfter({ ...broken, answer: whole })).toEqual(counted(27));
  });

  test('of a stream that ends early the prompt has cost what its vendor said of it, cached as it was', async () => {
    const told = { ...usage(20_000, 1), cached_input_tokens: 19_000, charged_usd: 5 };
    const half = answer({ text: 'x'.repeat(4 * 30), usage: told });
    const priceOf: PriceOf = () => ({ ...PRICE, cached_input_usd: PRICE.input_usd / 10 });
    const took = (output: number) => {
      const microUsd = 1_000 + 1_900 + output;
      return { ...counted(20_000 + output), microUsd, spent: microUsd };
    };
    const cut = { ...LEFT, wasTakenUp: true, answer: half };
    expect(await countedAfter(cut, BODY, priceOf)).toEqual(took(OUTPUT_TOKENS_ESTIMATE));
    expect(await countedAfter({ ...cut, wasShutDown: true }, BODY, priceOf)).toEqual(took(30));
    const broken = { decision: 'upstream_failed', status: 200, wasTakenUp: true, answer: half } as const;
    expect(await countedAfter(broken, BODY, priceOf)).toEqual(took(30));
  });

  test('an answer of OpenAI that fails has cost what its end says, streamed or whole', async () => {
    const response = {
      id: 'resp_1',
      object: 'response',
      status: 'failed',
      error: { code: 'server_error', message: 'The model failed.' },
      output: [],
      usage: { input_tokens: 9_000, output_tokens: 4_000 },
    };
    const stream = DIALECT_BY_NAME['openai-responses'].streamReader();
    stream.push(Buffer.from(`data: ${JSON.stringify({ type: 'response.failed', response })}\n\n`));
    stream.end();
    const broken = { decision: 'upstream_failed', status: 200, wasTakenUp: true } as const;
    for (const failed of [stream.answer(), DIALECT_BY_NAME['openai-responses'].readAnswer(response)])
      expect(await countedAfter({ ...broken, answer: failed })).toEqual(counted(13_000));
  });

  test('a stream that a shutdown breaks off has cost the prompt and what went by, in text or in tool calls', async () => {
    const cut = { ...LEFT, wasTakenUp: true, wasShutDown: true };
    const half = answer({ text: 'x'.repeat(4 * 30) });
    expect(await countedAfter({ ...cut, answer: half })).toEqual(counted(INPUT_TOKENS + 30));
    const call = { id: null, name: 'edit', arguments: 'x'.repeat(4 * 20 - 'edit'.length) };
    expect(await countedAfter({ ...cut, answer: answer({ tool_calls: [call] }) })).toEqual(
      counted(INPUT_TOKENS + 20),
    );
  });

  test('where nothing went by that could be read, a shutdown leaves the estimate', async () => {
    const cut = { ...LEFT, wasTakenUp: true, wasShutDown: true };
    expect(await countedAfter(cut)).toEqual(counted(ESTIMATED));
    // The model may have been thinking.
    expect(await countedAfter({ ...cut, answer: answer({}) })).toEqual(counted(ESTIMATED));
    expect(await countedAfter({ ...LEFT, wasShutDown: true })).toEqual(NOTHING);
  });

  test('a whole answer that tells neither an end nor anything of what it took has used the estimate', async () => {
    const good = { isAnswered: true, status: 200, wasTakenUp: true } as const;
    // OpenAI's background mode answers at once, and works on.
    expect(await countedAfter({ ...good, answer: answer({ answer_id: 'resp_1' }) })).toEqual(
      counted(ESTIMATED),
    );
    expect(await countedAfter({ ...good, answer: null })).toEqual(counted(ESTIMATED));
    expect(await countedAfter({ ...good, answer: answer({ finish: 'stop' }) })).toEqual(
      counted(INPUT_TOKENS),
    );
    expect(await countedAfter({ ...good, answer: answer({ text: 'x'.repeat(4 * 30) }) })).toEqual(
      counted(INPUT_TOKENS + 30),
    );
  });

  test('a stream that ends in the middle of its answer has used what went by, whatever was said at its beginning', async () => {
    const good = { isAnswered: true, status: 200, wasTakenUp: true } as const;
    const body = BODY.replace('{', '{"stream":true,');
    const begun = answer({ text: 'x'.repeat(4 * 5_000), usage: usage(20, 1) });
    expect(await countedAfter({ ...good, answer: begun }, body)).toEqual(counted(20 + 5_000));
    // What was thought may not go by at all.
    const thought = answer({ ...begun, usage: usage(20, 6_000) });
    expect(await countedAfter({ ...good, answer: thought }, body)).toEqual(counted(20 + 6_000));
    const ended = answer({ ...begun, finish: 'stop' });
    expect(await countedAfter({ ...good, answer: ended }, body)).toEqual(counted(21));
    expect(await countedAfter({ ...good, answer: begun })).toEqual(counted(21));
  });

  test('an answer whose usage nobody told has used the text of all its choices', async () => {
    const good = { isAnswered: true, status: 200, wasTakenUp: true } as const;
    const two = answer({ text: 'x'.repeat(4 * 30), chars_beside: 4 * 70, finish: 'stop' });
    expect(await countedAfter({ ...good, answer: two })).toEqual(counted(INPUT_TOKENS + 100));
    expect(await countedAfter({ ...good, answer: { ...two, usage: usage(20, 7) } })).toEqual(counted(27));
  });

  test('a call that says how much it may write at most is estimated at that', async () => {
    const body = BODY.replace('{', '{"max_tokens":7,');
    const cut = { ...LEFT, wasTakenUp: true };
    expect(await countedAfter(cut, body)).toEqual(counted(Math.ceil(body.length / 4) + 7));
  });

  test('several choices are estimated as so many answers, and who leaves after the first has not had them all', async () => {
    const body = BODY.replace('{', '{"n":3,');
    const input = Math.ceil(body.length / 4);
    const cut = { ...LEFT, wasTakenUp: true };
    expect(await countedAfter(cut, body)).toEqual(counted(input + 3 * OUTPUT_TOKENS_ESTIMATE));
    const first = answer({ text: 'done.', finish: 'stop' });
    expect(await countedAfter({ ...cut, answer: first }, body)).toEqual(
      counted(input + 3 * OUTPUT_TOKENS_ESTIMATE),
    );
    // Begun is taken: five characters are two tokens.
    expect(await countedAfter({ ...cut, answer: first })).toEqual(counted(INPUT_TOKENS + 2));
  });

  test('a call whose cost nobody knows has taken nothing from a budget once it is over', async () => {
    const whole = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: whole } as const;
    expect(await countedAfter(good, BODY, () => null)).toEqual({ ...counted(27), microUsd: 0, spent: null });
  });

  test('a call whose cost was known when it began, and is known no longer, has taken nothing either: pages and a restart say the same', async () => {
    const whole = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: whole } as const;
    const prices = [PRICE];
    expect(await countedAfter(good, BODY, () => prices.shift() ?? null)).toEqual({
      ...counted(27),
      microUsd: 0,
      spent: null,
    });
  });

  test('an answer costs what the model that gave it costs, whichever was asked for', async () => {
    const whole = answer({ model: 'large', finish: 'stop', usage: usage(20, 7) });
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: whole } as const;
    const large = { ...PRICE, input_usd: 10, output_usd: 100 };
    const priceOf: PriceOf = (model) => (model === 'large' ? large : PRICE);
    expect(await countedAfter(good, BODY, priceOf)).toEqual({ ...counted(27), microUsd: 900, spent: 900 });
    // Where its own name stands in no table, it is what was asked for, of which it is a version.
    expect(await countedAfter(good, BODY, (model) => (model === 'large' ? null : PRICE))).toEqual(
      counted(27),
    );
  });

  test('an answer from the cache was a call, and took no tokens and no money', async () => {
    const cached = { decision: 'cached', status: 200, isAnswered: true } as const;
    const given = answer({ text: 'done', finish: 'stop' });
    const free = { ...counted(0), requests: 1 };
    expect(await countedAfter({ ...cached, answer: given })).toEqual(free);
    expect(await countedAfter({ ...cached, answer: given }, BODY, () => null)).toEqual(free);
  });

  test('a call that ends on another day has used nothing of that day, nor of its last minute', async () => {
    const used = ESTIMATED + 5_000;
    const whole = answer({ text: 'done', finish: 'stop', usage: usage(INPUT_TOKENS, used - INPUT_TOKENS) });
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: whole } as const;
    expect(await countedAfter(good, BODY, () => PRICE, 13 * HOUR_MS)).toEqual({
      ...NOTHING,
      spent: used,
      sessionCalls: 1,
    });
  });

  test('a call costs what its service tier does; where that has no price nobody knows, and limits count the standard one', async () => {
    const said = { finish: 'stop', usage: usage(20, 7), service_tier: 'flex' } as const;
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: answer(said) } as const;
    const flex = { ...PRICE, input_usd: 2, output_usd: 2 };
    expect(await countedAfter(good, BODY, (_model, tier) => (tier === '' ? PRICE : flex))).toEqual({
      ...counted(27),
      microUsd: 54,
      spent: 54,
    });
    expect(await countedAfter(good)).toEqual({ ...counted(27), spent: null });
  });

  test('sound and pictures cost what their lines say; without one nobody knows, and limits count the rate of text', async () => {
    const spoken = {
      ...usage(20, 7),
      cached_input_tokens: 12,
      audio_input_tokens: 10,
      audio_output_tokens: 4,
    };
    const said = { finish: 'stop', usage: { ...spoken, image_output_tokens: 1 } } as const;
    const good = { isAnswered: true, status: 200, wasTakenUp: true, answer: answer(said) } as const;
    const audio = { ...PRICE, input_usd: 30, cached_input_usd: 5, output_usd: 60 };
    const image = { ...PRICE, output_usd: 100 };
    const lines: Record<string, ModelPrice> = { '': PRICE };
    const priced = (own: typeof lines) => (_model: string | null, line: string) =>
      ({ ...lines, ...own })[line] ?? null;
    const paid = 10 + (8 * 30 + 2 * 5) + 2 + 4 * 60 + 100;
    expect(await countedAfter(good, BODY, priced({ audio, image }))).toEqual({
      ...counted(27),
      microUsd: paid,
      spent: paid,
    });
    expect(await countedAfter(good, BODY, priced({ audio }))).toEqual({ ...counted(27), spent: null });
  });

  test('a client that leaves behind the last word has used what the vendor said', async () => {
    const whole = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
    expect(await countedAfter({ ...LEFT, wasTakenUp: true, answer: whole })).toEqual(counted(27));
  });

  test('a call that no upstream had, or that its upstream failed before an answer, is given back', async () => {
    expect(await countedAfter(LEFT)).toEqual(NOTHING);
    expect(await countedAfter({ decision: 'upstream_failed', status: 502 })).toEqual(NOTHING);
    expect(await countedAfter({ decision: 'forwarded', status: 500 })).toEqual(NOTHING);
  });
});

test('a call that went on while the store of the limits was silent is told of whole once it is over', async () => {
  const clock = new FakeClock();
  const counters = new MemoryRateLimiter({ clock });
  const silent = {
    take: () => Promise.reject(new Error('silent')),
    correct: (changes) => counters.correct(changes),
    seed: (changes) => counters.seed(changes),
  } satisfies RateLimiter as RateLimiter;
  const failures: unknown[] = [];
  const step = policyStep({
    ...usualParts(clock),
    limiter: silent,
    onLimiterFailed: (error) => failures.push(error),
  });
  const call = newCall();
  expect(await step.run?.(call)).toBeUndefined();
  const said = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
  step.settle?.(Object.assign(call, { isAnswered: true, wasTakenUp: true, answer: said }));
  const windows = limitWindows(SCOPE, POLICY, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
  expect((await lookAt(counters, windows)).map(({ used }) => used)).toEqual([1, 27, 27]);
  expect(failures).toHaveLength(1);
});

test('a budget that is set while a call is under way counts what that call cost, and what it had taken of others once', async () => {
  const monthly = { ...defaultPolicy('agent-1'), budget_month_usd: 1 };
  for (const before of [null, monthly]) {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock });
    let policy: AgentPolicy | null = before;
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      limiter,
    });
    const call = Object.assign(newCall(), { startedAtMs: clock.nowMs() });
    expect(step.run?.(call)).toBeUndefined();
    policy = { ...monthly, tokens_per_minute: 1_000, budget_hour_usd: 1, budget_day_usd: 1 };
    const said = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
    step.settle?.(Object.assign(call, { isAnswered: true, wasTakenUp: true, answer: said }));
    const windows = limitWindows(SCOPE, policy, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
    expect((await lookAt(limiter, windows)).map(({ used }) => used)).toEqual([0, 27, 27, 27]);
  }
});

test('a budget that is set while a call is under way is told by which clock that call began', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const limiter = new MemoryRateLimiter({ clock });
  limiter.correct = async (changes: readonly BucketChange[], nowMs?: number) => {
    told.push([changes[0]?.takenAtMs, nowMs]);
    throw new Error('away');
  };
  let policy: AgentPolicy | null = null;
  const failures: unknown[] = [];
  const step = policyStep({
    ...usualParts(clock),
    agents: ofOne(() => policy),
    limiter,
    onLimiterFailed: (error) => failures.push(error),
    onNotGivenBack: () => {},
  });
  const startedAtMs = clock.nowMs();
  const call = Object.assign(newCall(), { startedAtMs });
  step.run?.(call);
  policy = { ...defaultPolicy('agent-1'), budget_hour_usd: 1 };
  clock.advance(60_000);
  const said = answer({ text: 'done', finish: 'stop', usage: usage(20, 7) });
  step.settle?.(Object.assign(call, { isAnswered: true, wasTakenUp: true, answer: said }));
  expect(told).toEqual([[startedAtMs, clock.nowMs()]]);
  await expect.poll(() => failures).toHaveLength(1);
});

test('that a budget begins, and that its rest does not cover a call, is told with its period', () => {
  const clock = new FakeClock();
  const told: string[] = [];
  let price: ModelPrice = { ...PRICE, input_usd: 0, output_usd: 0 };
  const policy = {
    ...defaultPolicy('agent-1'),
    requests_per_minute: 100,
    budget_day_usd: (2 * ESTIMATED) / 1e6,
  };
  const step = policyStep({
    ...usualParts(clock),
    agents: ofOne(() => policy),
    prices: { price: () => price },
    onBudgetBegun: ({ period }) => told.push(`${period} begun`),
    onOverBudget: (_call, { period }) => told.push(`${period} over`),
  });
  // What is free begins none.
  step.run?.(newCall());
  expect(told).toEqual([]);
  price = PRICE;
  for (let count = 0; count < 3; count += 1) step.run?.(newCall());
  expect(told).toEqual(['day begun', 'day over']);
});

test('a limiter is told by which clock the day of a budget began', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const limiter = {
    take: (_windows, nowMs) => {
      told.push(nowMs);
      return Promise.reject(new Error('silent'));
    },
  } satisfies Partial<RateLimiter> as unknown as RateLimiter;
  await policyStep({ ...usualParts(clock), limiter, onLimiterFailed: () => {} }).run?.(newCall());
  expect(told).toEqual([clock.nowMs()]);
});

test('what costs nothing is held back by no budget, however far it is overspent', () => {
  const clock = new FakeClock();
  const limiter = new MemoryRateLimiter({ clock });
  const overspent = { requests: 0, tokens: 200_000, costMicroUsd: 2_000_000 };
  limiter.correctNow(limitWindows(SCOPE, POLICY, overspent, clock.nowMs()));
  const step = policyStep({
    ...usualParts(clock),
    limiter,
    onOverBudget: () => {},
  });
  const target = { upstream: 'openai', agentId: null, path: '/responses/resp_1/cancel', query: '' };
  const cancel = () => {
    const call = newCall();
    Object.assign(call, { target, path: target.path, dialect: null, summary: null, sessionKey: null });
    call.unread = readUnreadRequest('POST', target.path, undefined);
    return step.run?.(call);
  };
  expect(step.run?.(newCall())).toMatchObject({ code: 'budget_exceeded' });
  expect([cancel(), cancel()]).toEqual([undefined, undefined]);
  // A call it is all the same.
  expect(cancel()).toMatchObject({ code: 'rate_limited' });
});

test('a call that is refused for what it may take is not told that all is used up', () => {
  const clock = new FakeClock();
  const refusal = (limits: Partial<AgentLimits>, usedMicroUsd = 0) => {
    const policy = { ...defaultPolicy('agent-1'), ...limits };
    const limiter = new MemoryRateLimiter({ clock });
    const spent = { requests: 0, tokens: 0, costMicroUsd: usedMicroUsd };
    limiter.takeNow(limitWindows(SCOPE, policy, spent, clock.nowMs()));
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      limiter,
      onOverBudget: () => {},
      onBudgetBegun: () => expect.unreachable(),
    });
    const verdict = step.run?.(newCall());
    return verdict && 'detail' in verdict ? verdict.detail : undefined;
  };
  expect(refusal({ tokens_per_minute: 100 })).toBe(
    "This call may take more than this agent's limit of tokens per minute (100). It may fit if it asks for fewer output tokens (max_tokens, or what your API calls it); an operator can raise the limit.",
  );
  expect(refusal({ budget_day_usd: 0.000_1 })).toContain('may cost more than is left of the budget of a day');
  expect(refusal({ budget_day_usd: 0.000_1 })).toContain('if it asks for fewer output tokens');
  expect(refusal({ budget_day_usd: 0.01 }, 9_999)).toContain('may cost more than is left');
  expect(refusal({ budget_day_usd: 0.01 }, 10_000)).toBe(
    'This agent has used up the budget of a day. It may call again from 2026-02-01 00:00 UTC, or once an operator raises it.',
  );
});

test('a refusal says the limit, and what helps', () => {
  const clock = new FakeClock();
  const refusalOf = (limits: Partial<AgentLimits>) => {
    const policy = { ...defaultPolicy('agent-1'), ...limits };
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      limiter: new MemoryRateLimiter({ clock }),
    });
    step.run?.(newCall());
    const verdict = step.run?.(newCall());
    return verdict && 'detail' in verdict ? verdict.detail : undefined;
  };
  expect(refusalOf({ requests_per_minute: 1 })).toMatch(
    /^This agent has reached its limit of requests per minute \(1\)\. Try again in \d+ s\.$/,
  );
  expect(refusalOf({ session_calls_max: 1 })).toBe(
    'This session has reached its cap on calls (session_calls_max: 1). Another session begins anew; an operator can raise the cap.',
  );
});

const WORKED_ON: Partial<LlmAnswer> = { answer_id: 'resp_1' };
test.each<[boolean, keyof typeof DIALECT_BY_NAME, Partial<LlmAnswer>]>([
  [true, 'openai-responses', WORKED_ON],
  [true, 'gemini-interactions', WORKED_ON],
  [false, 'openai-chat', WORKED_ON],
  [false, 'openai-responses', { ...WORKED_ON, finish: 'stop' }],
  [false, 'openai-responses', { ...WORKED_ON, usage: usage(20, 7) }],
  [false, 'openai-responses', { ...WORKED_ON, failed: true }],
])('that its usage is to come is %s of an answer by %s with %j', (isToCome, name, changes) => {
  const clock = new FakeClock();
  const unsettled = newUnsettledAnswers(answerStore(clock));
  const step = policyStep({ ...usualParts(clock), unsettled });
  const call = buildProxyCall({ dialect: DIALECT_BY_NAME[name], body: { model: 'm', input: 'Look.' } });
  step.run?.(call);
  const ended = { isAnswered: true, status: 200, wasTakenUp: true } as const;
  step.settle?.(Object.assign(call, { ...ended, answer: answer(changes) }));
  expect(unsettled.find(SCOPE, 'resp_1') !== null).toBe(isToCome);
});

test('to cancel an answer of the background tells what it took, like fetching it', () => {
  const clock = new FakeClock();
  const unsettled = newUnsettledAnswers(answerStore(clock));
  unsettled.note(SCOPE, 'resp_1', {
    dialect: 'openai-responses',
    model: 'm',
    startedAtMs: 5,
    costMicroUsd: 1_000,
    taken: null,
  });
  const step = policyStep({
    ...usualParts(clock),
    agents: ofOne(() => null),
    unsettled,
  });
  const path = '/responses/resp_1/cancel';
  const call = buildProxyCall({ path, dialect: null });
  call.unread = readUnreadRequest('POST', path, {});
  step.run?.(call);
  const said = answer({ finish: 'other', usage: usage(20, 7) });
  Object.assign(call, { isAnswered: true, status: 200, wasTakenUp: true, answer: said });
  step.settle?.(call);
  expect(call.costMicroUsd).toBe(27 - 1_000);
  expect(unsettled.find(SCOPE, 'resp_1')).toBeNull();
});

test('a call, and the fetch of an answer, says why nobody knows what it cost', () => {
  const clock = new FakeClock();
  const unsettled = newUnsettledAnswers(answerStore(clock));
  const note = {
    dialect: 'openai-responses',
    model: 'm',
    startedAtMs: 5,
    costMicroUsd: 1_000,
    taken: null,
  } as const;
  unsettled.note(SCOPE, 'resp_1', note);
  const prices = {
    price: (_tenantId: string, _model: string | null, tier = '') => (tier === '' ? PRICE : null),
  };
  const step = policyStep({ ...usualParts(clock), prices, unsettled });
  const fetching = buildProxyCall({ method: 'GET', path: '/responses/resp_1', dialect: null });
  for (const call of [newCall(), fetching]) {
    step.run?.(call);
    const said = answer({ finish: 'stop', usage: usage(20, 7), service_tier: 'flex' });
    step.settle?.(Object.assign(call, { isAnswered: true, status: 200, wasTakenUp: true, answer: said }));
    expect(call).toMatchObject({ costMicroUsd: null, detail: expect.stringContaining('[flex]') });
  }
});

test.each([-90, 90])(
  'an answer of the background, begun while the limiter was silent, is corrected in the hour it was told of, by a clock %i minutes ahead of its own',
  async (aheadMinutes) => {
    const clock = new FakeClock();
    const limiterClock = new FakeClock(clock.nowMs() - aheadMinutes * MINUTE_MS);
    const counters = new MemoryRateLimiter({ clock: limiterClock });
    const limiter = {
      take: () => Promise.reject(new Error('silent')),
      correct: async (changes: readonly BucketChange[], nowMs = limiterClock.nowMs()) => {
        const offMs = limiterClock.nowMs() - nowMs;
        const here = ({ takenAtMs = nowMs, ...change }: BucketChange) => ({
          ...change,
          takenAtMs: takenAtMs + offMs,
        });
        counters.correctNow(changes.map(here));
      },
    } satisfies Partial<RateLimiter> as unknown as RateLimiter;
    const policy = { ...defaultPolicy('agent-1'), budget_hour_usd: 1 };
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      limiter,
      onLimiterFailed: () => {},
    });
    const look = limitWindows(SCOPE, policy, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
    const usedOf = async () => (await lookAt(counters, look))[0]?.used;
    const ended = { isAnswered: true, status: 200, wasTakenUp: true } as const;

    const begun = buildProxyCall({ path: '/responses', body: { model: 'm', input: 'Look into it.' } });
    await step.run?.(begun);
    step.settle?.(Object.assign(begun, { ...ended, answer: answer({ answer_id: 'resp_1' }) }));
    expect(await usedOf()).toBeGreaterThan(OUTPUT_TOKENS_ESTIMATE);
    // To the first moment of the limiter's next hour.
    for (const one of [clock, limiterClock]) one.advance(HOUR_MS / 2);
    const path = '/responses/resp_1';
    const fetching = buildProxyCall({ method: 'GET', path, dialect: null });
    fetching.unread = readUnreadRequest('GET', path, undefined);
    step.run?.(fetching);
    const said = answer({ finish: 'stop', usage: usage(20, 7) });
    step.settle?.(Object.assign(fetching, { ...ended, answer: said }));
    expect(await usedOf()).toBe(27);
  },
);

describe('an answer of the background that took less than what was counted', () => {
  const BEGUN = { isAnswered: true, status: 200, wasTakenUp: true } as const;

  function background(changes: Partial<PolicyParts>) {
    const clock = new FakeClock();
    const step = policyStep({ ...usualParts(clock), ...changes });
    const begun = buildProxyCall({ path: '/responses', body: { model: 'm', input: 'Look into it.' } });
    Object.assign(begun, { startedAtMs: clock.nowMs() });
    const end = () =>
      step.settle?.(Object.assign(begun, { ...BEGUN, answer: answer({ answer_id: 'resp_1' }) }));
    const fetch = async (named: Partial<ProxyCall> = {}) => {
      const path = '/responses/resp_1';
      const call = Object.assign(buildProxyCall({ method: 'GET', path, dialect: null }), named);
      call.unread = readUnreadRequest('GET', path, undefined);
      await step.run?.(call);
      const said = answer({ finish: 'stop', usage: usage(20, 7) });
      step.settle?.(Object.assign(call, { ...BEGUN, answer: said }));
      return call;
    };
    return { begun, run: () => step.run?.(begun), end, fetch };
  }

  test('is counted as that by a cap that was set since', async () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    let policy: AgentPolicy | null = null;
    const { begun, run, end, fetch } = background({ caps, agents: ofOne(() => policy) });
    run();
    end();
    caps.restore(SESSION, { callCount: 1, costMicroUsd: begun.costMicroUsd ?? 0, firstCallMs: 0 });
    policy = { ...POLICY, session_calls_max: 9 };
    await fetch();
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: 27 });
  });

  describe('and is fetched by somebody who names no session', () => {
    const NAMELESS = { sessionId: null, sessionKey: null };

    test('has cost the session that asked for it', async () => {
      const { begun, run, end, fetch } = background({});
      await run();
      end();
      const { sessionId, sessionKey } = begun;
      expect(await fetch(NAMELESS)).toMatchObject({ sessionId, sessionKey });
      // Whoever asks again is told of what belongs to nobody.
      expect(await fetch(NAMELESS)).toMatchObject(NAMELESS);
    });

    test.each(['counted it', 'was set since'])('is corrected in a cap that %s', async (how) => {
      const caps = new SessionCaps({ clock: new FakeClock() });
      const capped = { ...POLICY, session_calls_max: 9 };
      let policy: AgentPolicy | null = how === 'counted it' ? capped : null;
      const { begun, run, end, fetch } = background({ caps, agents: ofOne(() => policy) });
      await run();
      end();
      const costMicroUsd = begun.costMicroUsd ?? 0;
      if (policy === null) caps.restore(SESSION, { callCount: 1, costMicroUsd, firstCallMs: 0 });
      policy = capped;
      await fetch(NAMELESS);
      expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: 27 });
    });
  });

  test('is counted whole where its model had no price when it began, and has one when it is fetched', async () => {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock });
    const policy = { ...defaultPolicy('agent-1'), budget_day_usd: 1 };
    let price: ModelPrice | null = PRICE;
    const prices = { price: () => price };
    const { run, end, fetch } = background({ agents: ofOne(() => policy), limiter, prices });
    await run();
    price = null;
    end();
    price = PRICE;
    await fetch();
    const look = limitWindows(SCOPE, policy, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
    expect((await lookAt(limiter, look))[0]?.used).toBe(27);
  });

  test.each(['counted it', 'was set since'])(
    'leaves what was counted, as the records do, where nobody knows its price by then: of budget and cap, which %s',
    async (how) => {
      const clock = new FakeClock();
      const limiter = new MemoryRateLimiter({ clock });
      const caps = new SessionCaps({ clock });
      const limited = { ...defaultPolicy('agent-1'), budget_day_usd: 1, session_cost_usd_max: 1 };
      let policy: AgentPolicy | null = how === 'counted it' ? limited : null;
      let price: ModelPrice | null = PRICE;
      const parts = { agents: ofOne(() => policy), limiter, caps, prices: { price: () => price } };
      const { begun, run, end, fetch } = background(parts);
      await run();
      end();
      const counted = begun.costMicroUsd ?? 0;
      const look = limitWindows(SCOPE, limited, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
      const usedOf = async () => (await lookAt(limiter, look))[0]?.used;
      const before = await usedOf();
      if (policy === null) caps.restore(SESSION, { callCount: 1, costMicroUsd: counted, firstCallMs: 0 });
      policy = limited;
      price = null;
      expect(await fetch()).toMatchObject({ costMicroUsd: null });
      expect(caps.look(SESSION)).toMatchObject({ costMicroUsd: counted });
      expect(await usedOf()).toBe(before);
    },
  );

  test.each(['set since', 'told of it late'])(
    'is given back to a budget that was %s, once the limiter is there again',
    async (how) => {
      const clock = new FakeClock();
      const counters = new MemoryRateLimiter({ clock });
      const link = { isAway: how === 'told of it late' };
      const inTime = <Result>(ask: () => Promise<Result>) =>
        link.isAway ? Promise.reject(new Error('away')) : ask();
      const limiter = {
        take: (windows) => inTime(() => counters.take(windows)),
        correct: (changes) => inTime(() => counters.correct(changes)),
      } satisfies Partial<RateLimiter> as unknown as RateLimiter;
      const budget = { ...defaultPolicy('agent-1'), budget_day_usd: 1 };
      let policy: AgentPolicy | null = how === 'set since' ? null : budget;
      const owed: number[] = [];
      const { run, end, fetch } = background({
        agents: ofOne(() => policy),
        limiter,
        onLimiterFailed: () => {},
        onNotGivenBack: (changes) => owed.push(...changes.map(({ amount }) => amount)),
      });
      await run();
      link.isAway = false;
      policy = budget;
      end();
      const look = limitWindows(SCOPE, budget, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
      const used = (await lookAt(counters, look))[0]?.used ?? 0;
      expect(used).toBeGreaterThan(27);
      link.isAway = true;
      await fetch();
      await turn();
      expect(owed).toEqual([27 - used]);
    },
  );
});

describe('a session that may have called before anybody counted', () => {
  /** Two calls of it, the second once the first is under way. */
  async function twoCalls(restore: (caps: SessionCaps) => Promise<void>) {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock });
    let failedCount = 0;
    const step = policyStep({
      ...usualParts(clock),
      caps,
      earlierUse: {
        mayHave: (session) => caps.look(session) === null,
        restore: () => restore(caps),
        noteUncounted: () => {},
      },
      onCapsFailed: () => {
        failedCount += 1;
      },
    });
    const verdicts = [await step.run?.(newCall()), await step.run?.(newCall())];
    const decisions = verdicts.map((verdict) => verdict?.decision);
    return { decisions, failedCount, sessionCalls: caps.look(SESSION)?.callCount };
  }

  test('goes on from what it had used', async () => {
    const used = { callCount: 2, costMicroUsd: 0, firstCallMs: 0 };
    expect(await twoCalls(async (caps) => caps.restore(SESSION, used))).toEqual({
      decisions: [undefined, 'session_capped'],
      failedCount: 0,
      sessionCalls: 3,
    });
  });

  test('is counted once it has a cap, and not before: the store knows the whole of it', async () => {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock });
    let policy = { ...POLICY, session_calls_max: null as number | null };
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      caps,
    });
    step.run?.(newCall());
    expect(caps.look(SESSION)).toBeNull();
    policy = POLICY;
    step.run?.(newCall());
    expect(caps.look(SESSION)).toMatchObject({ callCount: 1 });
    // And for good: the next cap is measured by all of it.
    policy = { ...POLICY, session_calls_max: null };
    step.run?.(newCall());
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2 });
  });

  test.each([null, { ...POLICY, session_calls_max: null }])(
    'is counted with the calls that were under way when it got a cap, once they are over: no record had them',
    (before) => {
      const clock = new FakeClock();
      const caps = new SessionCaps({ clock });
      let policy: AgentPolicy | null = before;
      const step = policyStep({ ...usualParts(clock), agents: ofOne(() => policy), caps });
      const [used, failed] = [newCall(), newCall()];
      for (const call of [used, failed]) step.run?.(call);
      policy = POLICY;
      step.run?.(newCall());
      const said = answer({ finish: 'stop', usage: usage(20, 7) });
      step.settle?.(Object.assign(used, { isAnswered: true, wasTakenUp: true, answer: said }));
      step.settle?.(Object.assign(failed, { decision: 'upstream_failed', status: 502 } as const));
      expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: ESTIMATED + 27 });
    },
  );

  test.each(['read', 'not read'])('is measured by what is set while that is %s', async (how) => {
    const clock = new FakeClock();
    let policy: AgentPolicy = POLICY;
    const step = policyStep({
      ...usualParts(clock),
      agents: ofOne(() => policy),
      earlierUse: {
        mayHave: () => true,
        restore: async () => {
          policy = { ...POLICY, tokens_per_minute: 1 };
          if (how === 'not read') throw new Error('store_busy');
        },
        noteUncounted: () => {},
      },
      onCapsFailed: () => {},
    });
    expect(await step.run?.(newCall())).toMatchObject({ code: 'rate_limited' });
  });

  test('fails open when that cannot be read, and is asked for with each call', async () => {
    expect(await twoCalls(() => Promise.reject(new Error('store_busy')))).toEqual({
      decisions: [undefined, undefined],
      failedCount: 2,
      sessionCalls: undefined,
    });
  });
});

test('who is refused by the minute is told to try again, though it waits until the end of the second in which the minute is over', () => {
  const clock = new FakeClock();
  const policy = { ...POLICY, requests_per_minute: 1 };
  const step = policyStep({ ...usualParts(clock), agents: ofOne(() => policy) });
  expect(step.run?.(newCall())).toBeUndefined();
  expect(step.run?.(newCall())).toMatchObject({ shouldRetry: true, retryAfterSeconds: 61 });
  clock.advance(61_000);
  expect(step.run?.(newCall())).toBeUndefined();
});

test('who is refused until the day is over is not', () => {
  const clock = new FakeClock();
  const parts = { ...usualParts(clock), onOverBudget: () => {} };
  const policy = { ...POLICY, budget_day_usd: 0.0001 + ESTIMATED / 1e6 };
  const step = policyStep({ ...parts, agents: ofOne(() => policy) });
  expect(step.run?.(newCall())).toBeUndefined();
  expect(step.run?.(newCall())).toMatchObject({ shouldRetry: false, retryAfterSeconds: 12 * 3_600 });
});

test('a call whose body comes past midnight has cost on the day whose budget it took from, in its record, too', async () => {
  const midnight = Date.UTC(2026, 0, 16);
  const clock = new FakeClock(midnight - 1_000);
  const parts = usualParts(clock);
  const step = policyStep(parts);
  const activity = new AgentActivity(clock);
  let spentAtMs: number | undefined;
  const record = recordStep({
    activity,
    events: { ended: () => {} },
    log: { add: (_tenantId, _record, atMs) => (spentAtMs = atMs) },
    onBegan: () => {},
    onEnded: () => {},
  });
  const call = Object.assign(newCall(), { startedAtMs: clock.nowMs() });
  record.run?.(call);
  clock.advance(2_000);
  step.run?.(call);
  Object.assign(call, { isAnswered: true, wasTakenUp: true, answer: answer({ usage: usage(100, 20) }) });
  step.settle?.(call);
  record.settle?.(call);
  const windows = limitWindows(SCOPE, POLICY, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
  expect((await lookAt(parts.limiter, windows)).at(-1)).toMatchObject({ used: 120 });
  expect(activity.spent(SCOPE)).toMatchObject({ day: 120 });
  expect(spentAtMs).toBe(midnight + 1_000);
});

describe('what all agents may use together', () => {
  const TOGETHER = allAgents('default');
  const ofAll = (limits: Partial<AgentLimits>): AgentPolicy => ({ ...defaultPolicy(ALL_AGENTS), ...limits });

  /** It took 120 tokens, a micro-USD each. */
  const ENDED = {
    status: 200,
    isAnswered: true,
    wasTakenUp: true,
    answer: answer({ usage: usage(100, 20) }),
  };
  const LOOK = { requests: 0, tokens: 0, costMicroUsd: 0 };

  /** `own` holds for each of the agents. */
  function guarded(own: AgentPolicy | null, together: Partial<AgentLimits>) {
    const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
    const told: string[] = [];
    const policies = { together: ofAll(together) };
    const parts: PolicyParts = {
      ...usualParts(clock),
      agents: {
        restriction: () => own,
        restrictionOfAll: (tenantId) => (tenantId === 'default' ? policies.together : null),
      },
      onBudgetBegun: ({ scope, period }) => told.push(`${period} begun by ${splitAgentScope(scope).agentId}`),
      onOverBudget: (_call, { scope, period }) =>
        told.push(`${period} over of "${splitAgentScope(scope).agentId}"`),
    };
    const step = policyStep(parts);
    const used = (scope: AgentScope, limits: Partial<AgentLimits>) =>
      lookAt(parts.limiter, limitWindows(scope, { ...NO_LIMITS, ...limits }, LOOK, clock.nowMs()));
    const call = (agentId: string, tenantId = 'default') => buildProxyCall({ body: BODY, agentId, tenantId });
    return { step, call, used, told, policies, parts };
  }

  test('is counted over agents of any name, and none of it for another tenant', () => {
    const { step, call } = guarded(null, { requests_per_minute: 2 });
    expect(step.run?.(call('a'))).toBeUndefined();
    expect(step.run?.(call('b'))).toBeUndefined();
    expect(step.run?.(call('made-up'))).toMatchObject({
      code: 'rate_limited',
      shouldRetry: true,
      detail: expect.stringMatching(
        /^The agents of this tenant together have reached their limit of requests per minute \(2\)\./,
      ),
    });
    expect(step.run?.(call('a', 'other'))).toBeUndefined();
  });

  test('and what its own policy counted is given back where they have no more', async () => {
    const limits = { requests_per_minute: 10, session_calls_max: 5 };
    const { step, call, used, parts } = guarded({ ...POLICY, ...limits }, { requests_per_minute: 1 });
    const first = call('a');
    expect(step.run?.(first)).toBeUndefined();
    // Its own are what it is told, where they let it through.
    expect(first.answerHeaders['x-ratelimit-limit-requests']).toBe('10');
    const second = call('a');
    expect(step.run?.(second)).toMatchObject({ code: 'rate_limited' });
    expect(second.answerHeaders['x-ratelimit-limit-requests']).toBe('1');
    step.settle?.(second);
    expect((await used(agentScope('default', 'a'), limits))[0]).toMatchObject({ used: 1 });
    expect(parts.caps.look(SESSION)).toMatchObject({ callCount: 1 });
  });

  test('a budget is reconciled once the call is over, like its own', async () => {
    const budget = { budget_day_usd: 1 };
    const { step, call, used, told } = guarded(null, budget);
    const one = call('a');
    step.run?.(one);
    expect((await used(TOGETHER, budget))[0]).toMatchObject({ used: ESTIMATED });
    Object.assign(one, ENDED);
    step.settle?.(one);
    expect((await used(TOGETHER, budget))[0]).toMatchObject({ used: 120 });
    const failed = call('b');
    step.run?.(failed);
    step.settle?.(failed);
    expect((await used(TOGETHER, budget))[0]).toMatchObject({ used: 120 });
    expect(told).toEqual(['day begun by ']);
  });

  test('a budget that is set while a call runs is charged with what that cost, once', async () => {
    const budget = { budget_day_usd: 1 };
    const { step, call, used, policies, parts } = guarded(null, {});
    const one = Object.assign(call('a'), { startedAtMs: parts.clock.nowMs() });
    step.run?.(one);
    policies.together = ofAll(budget);
    Object.assign(one, ENDED);
    step.settle?.(one);
    expect((await used(TOGETHER, budget))[0]).toMatchObject({ used: 120 });
  });

  test('a spent one refuses whoever calls next, and says whose it is', () => {
    const { step, call, told } = guarded(null, { budget_day_usd: ESTIMATED / 1e6 });
    expect(step.run?.(call('a'))).toBeUndefined();
    expect(step.run?.(call('b'))).toMatchObject({
      code: 'budget_exceeded',
      detail:
        'The agents of this tenant together have used up the budget of a day. They may call again from 2026-01-16 00:00 UTC, or once an operator raises it.',
    });
    expect(told).toEqual(['day begun by ', 'day over of ""']);
  });

  test('models and unknown costs are barred for all, and asked again where they were narrowed meanwhile', () => {
    const { step, call, policies, parts } = guarded(null, { allowed_models: ['m'] });
    const one = call('a');
    expect(step.run?.(one)).toBeUndefined();
    const again = policyAgainStep(parts, {});
    expect(again.run?.(one)).toBeUndefined();
    policies.together = ofAll({ allowed_models: ['other'] });
    expect(again.run?.(one)).toMatchObject({ code: 'model_not_allowed' });
    expect(step.run?.(call('b'))).toMatchObject({ code: 'model_not_allowed' });
  });

  test('of an answer that is fetched later they are told what it took', async () => {
    const budget = { budget_day_usd: 1 };
    const { step, used, parts } = guarded(null, budget);
    const body = { model: 'm', input: 'x', background: true };
    const begun = buildProxyCall({ path: '/responses', body, agentId: 'a' });
    step.run?.(begun);
    Object.assign(begun, {
      status: 200,
      isAnswered: true,
      wasTakenUp: true,
      answer: answer({ answer_id: 'resp_1' }),
    });
    step.settle?.(begun);
    expect((await used(TOGETHER, budget))[0]?.used).toBeGreaterThan(1_000);
    expect(parts.unsettled.count).toBe(1);
    const path = '/responses/resp_1';
    const fetch = buildProxyCall({ method: 'GET', path, dialect: null, agentId: 'a' });
    fetch.unread = readUnreadRequest('GET', path, undefined);
    step.run?.(fetch);
    Object.assign(fetch, ENDED);
    step.settle?.(fetch);
    expect((await used(TOGETHER, budget))[0]).toMatchObject({ used: 120 });
    // Their records, too, add up to what is paid, and each is stored with what it says of the answer.
    expect((begun.costMicroUsd ?? 0) + (fetch.costMicroUsd ?? 0)).toBe(120);
    expect([begun.documents, fetch.documents]).not.toContain(null);
  });
});
