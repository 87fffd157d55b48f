import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type AgentPolicy,
  type AgentView,
  agentScope,
  KILL_SWITCH_DEFAULTS,
  LIMITS,
  NO_LIMITS,
} from '#contracts';
import { HOUR_MS, MINUTE_MS } from '#kernel';
import { FakeClock, turn } from '#testing';
import { AgentActivity } from './agent-activity.js';
import { AGENTS_PER_TURN, AgentViews, type AgentViewsParts } from './agent-views.js';

const MIDNIGHT_MS = Date.UTC(2026, 0, 2);
const SCOPE = agentScope('t', 'bot');

let clock: FakeClock;
let activity: AgentActivity;
let views: AgentViews;
let published: AgentView[];
let scores: Map<string, number>;
/** Looks at the policy of an agent: what a listing costs. */
let lookCount: number;
beforeEach(() => {
  clock = new FakeClock(MIDNIGHT_MS - MINUTE_MS);
  activity = new AgentActivity(clock);
  published = [];
  scores = new Map();
  lookCount = 0;
  views = new AgentViews({
    clock,
    activity,
    agents: {
      known: () => [],
      has: () => false,
      policy: () => {
        lookCount += 1;
        return { ...NO_LIMITS, active: true } as AgentPolicy;
      },
      killSwitch: () => KILL_SWITCH_DEFAULTS,
      isStopStored: () => true,
      openIncidentId: () => null,
    },
    windows: { highestScores: () => scores },
    held: { of: () => [] },
    split: { isSplit: () => false },
    live: { publish: (_tenant: string, _topic: string, view: AgentView) => published.push(view) },
  } as unknown as AgentViewsParts);
  activity.begin(SCOPE);
  activity.end(SCOPE, { isError: false, refusal: null, costMicroUsd: 5e6, spentAtMs: clock.nowMs() });
});

describe('an agent that calls no more', () => {
  test('is shown anew as its figures fade: its rate, the day that is over, the hour', async () => {
    expect(await views.list('t')).toMatchObject([{ calls_per_minute: 1, spend: { day: { spent_usd: 5 } } }]);
    views.publishFaded();
    expect(published).toEqual([]);

    clock.advance(2 * MINUTE_MS);
    views.publishFaded();
    expect(published).toMatchObject([
      { calls_per_minute: 0, spend: { hour: { spent_usd: 5 }, day: { spent_usd: 0 } } },
    ]);

    clock.advance(2 * HOUR_MS);
    views.publishFaded();
    expect(published[1]).toMatchObject({ error_rate: null, spend: { hour: { spent_usd: 0 } } });
    views.publishFaded();
    expect(published).toHaveLength(2);
  });

  test('is shown without a score once its windows are forgotten', async () => {
    scores.set(SCOPE, 9);
    await views.list('t');
    clock.advance(32 * 24 * HOUR_MS);
    views.publishFaded();
    expect(published).toMatchObject([{ kill_switch: { live_score: 9 }, spend: { month: { spent_usd: 0 } } }]);

    scores.clear();
    views.publishFaded();
    expect(published.slice(1)).toMatchObject([{ kill_switch: { live_score: null } }]);
    views.publishFaded();
    expect(published).toHaveLength(2);
  });

  test('is shown with the sum of the new day as soon as that begins, whenever the gateway was started', async () => {
    vi.useFakeTimers({ now: clock.nowMs(), toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const pass = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        clock.advance(1_000);
        vi.advanceTimersByTime(1_000);
      }
    };
    await views.list('t');
    pass(20_000);
    views.start();
    onTestFinished(() => views.stop());
    pass(40_000 - 1_000);
    expect(published).toEqual([]);
    pass(2_000);
    expect(published).toMatchObject([{ spend: { day: { spent_usd: 0 } } }]);
  });

  test('is so for those who looked first, too, whoever has looked since', async () => {
    await views.list('t');
    clock.advance(2 * MINUTE_MS);
    await views.list('t');
    views.publishFaded();
    expect(published).toMatchObject([{ calls_per_minute: 0 }]);
  });

  test('is no news while nobody was shown it', () => {
    clock.advance(2 * MINUTE_MS);
    views.publishFaded();
    expect(published).toEqual([]);
  });
});

describe('an agent that was commanded', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    views.start();
  });
  afterEach(() => {
    views.stop();
    vi.useRealTimers();
  });

  test('is shown where it is in the list, and nowhere else: what changes nothing makes no agent', () => {
    for (const agent of ['bot', 'bto']) views.touch('t', agent);
    vi.advanceTimersByTime(1_000);
    expect(published.map(({ agent_id }) => agent_id)).toEqual(['bot']);
  });
});

test('a list of tens of thousands of agents lets other work in between: each turn looks at some of them', async () => {
  for (let at = 0; at < 10_000; at += 1) activity.begin(agentScope('t', `bot-${at}`));
  let isListed = false;
  const list = Promise.resolve(views.list('t')).finally(() => {
    isListed = true;
  });
  const looksPerTurn: number[] = [];
  for (let before = 0; !isListed; before = lookCount) {
    await turn();
    looksPerTurn.push(lookCount - before);
  }
  expect(await list).toHaveLength(LIMITS.listedAgentsMax);
  expect(lookCount).toBeGreaterThan(10_000);
  expect(Math.max(...looksPerTurn)).toBeLessThanOrEqual(AGENTS_PER_TURN);
});
