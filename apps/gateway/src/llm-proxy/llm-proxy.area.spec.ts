import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import {
  type AgentPolicy,
  agentScope,
  allAgents,
  type CallRow,
  type SpendQuery,
  splitAgentScope,
} from '#contracts';
import type { AlertEvent } from '#domain/alerts';
import { defaultPolicy, MemoryRateLimiter } from '#domain/policy';
import { DAY_MS, HOUR_MS } from '#kernel';
import { buildCallRow, FakeClock } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import { LlmProxyArea } from './llm-proxy.area.js';

/** More agents than live numbers are kept of. */
const OTHERS = 20_000;

/**
 * An area after its start, on a store that knows what agents have spent this hour.
 *
 * @param aheadMs its clock is, still
 * @param isShared the limiter is a Redis that is not there yet
 */
async function startArea(policies: AgentPolicy[], spenders: string[], aheadMs = 0, isShared = false) {
  const clock = new FakeClock();
  const hour_ms = clock.nowMs() - (clock.nowMs() % HOUR_MS);
  clock.advance(aheadMs);
  const spend = { cost_usd: 2, unpriced_call_count: 0 };
  const limiter = new MemoryRateLimiter({ clock });
  const seeded: string[] = [];
  const told: AlertEvent[] = [];
  limiter.seed = async (seeds) => {
    seeded.push(...seeds.map(({ key, amount }) => `${key} ${amount}`));
  };
  const limits = { limiter, isShared, isConnected: async () => false, onReady: () => {} };
  const area = new LlmProxyArea({
    clock,
    ids: { next: () => 'id' },
    metrics: new Registry(),
    config: { upstreamCallsMax: 1, proxyInflightBytesMax: 1 },
    environmentUpstreams: [],
    forwardProxy: null,
    store: { commitControl: async () => ({}) },
    proxyStore: {
      documents: async (kind: string) =>
        kind === 'agent_policy'
          ? policies.map((body) => ({ tenant_id: 'default', id: body.agent_id, body }))
          : [],
      commitDocuments: async () => {},
      appendCalls: async (rows: CallRow[]) => {
        for (const { call } of rows) spend.cost_usd += call.cost_usd ?? 0;
        return rows.map(() => 1);
      },
      openIncidents: async () => [],
      calls: async () => ({ items: [], next_cursor: null }),
      spendByAgent: async (fromMs: number) =>
        spenders
          .filter(() => hour_ms >= fromMs)
          .map((agent_id) => ({ tenant_id: 'default', agent_id, hour_ms, ...spend })),
      spend: async ({ agent_id, from_ms = 0 }: SpendQuery) =>
        spenders.includes(agent_id ?? spenders[0] ?? '') && hour_ms >= from_ms
          ? [{ key: new Date(hour_ms).toISOString(), ...spend }]
          : [],
    },
    live: { publish: () => {} },
    limits,
    llmCache: {},
    semanticLoop: { events: {} },
    alerts: { note: (event: AlertEvent) => told.push(event), overBudget: () => [] },
  } as never);
  await area.recover({ entries: () => [] } as never);
  return { area, clock, seeded, told, limits };
}

const others = Array.from({ length: OTHERS }, (_, at) => `other ${at}`);
const DAY_OF_CAPPED = `${agentScope('default', 'capped')}\0budget_day 2000000`;

it('an agent with a budget has spent after a restart what it had before, however many others of its tenant called since', async () => {
  const policy = { ...defaultPolicy('capped'), budget_day_usd: 2 };
  const { seeded } = await startArea([policy], ['capped', ...others]);
  expect(seeded).toContain(DAY_OF_CAPPED);
});

it('a Redis that is not there yet at a start is told when it is: no limit has failed open', async () => {
  const policy = { ...defaultPolicy('capped'), budget_day_usd: 2 };
  const { seeded, limits } = await startArea([policy], ['capped'], 0, true);
  expect(seeded).toEqual([]);
  limits.onReady();
  await expect.poll(() => seeded).toEqual([DAY_OF_CAPPED]);
});

it('an agent that is given a budget has spent what it had, though others have taken its place in memory', async () => {
  const { area, seeded } = await startArea([], ['capped', ...others]);
  const scope = agentScope('default', 'capped');
  await area.agents.patchPolicy(scope, { budget_day_usd: 2 }, ADMIN);
  await area.budgets.policyChanged(scope);
  expect(seeded).toContain(DAY_OF_CAPPED);
});

it('an agent whose place in memory others have taken has spent what is not stored yet, too', async () => {
  const { area, seeded } = await startArea([], ['capped', ...others]);
  const scope = agentScope('default', 'capped');
  const { tenant_id, call } = buildCallRow({ agent_id: 'capped', cost_usd: 0.5 });
  area.log.add(tenant_id, call);
  await area.agents.patchPolicy(scope, { budget_day_usd: 2 }, ADMIN);
  await area.budgets.policyChanged(scope);
  expect(seeded).toContain(`${scope}\0budget_day 2500000`);
});

it('a budget that a call has taken of before it was told what had been spent knows of both', async () => {
  const { area, clock, seeded } = await startArea([], ['capped']);
  const scope = agentScope('default', 'capped');
  const before = area.agents.policy(scope);
  const route = area.route({ onRevoked: () => {} } as never, () => false);
  const policy = await area.agents.patchPolicy(scope, { budget_day_usd: 2 }, ADMIN);
  const taken = { tokens: 1, costMicroUsd: 500_000, nowMs: clock.nowMs(), takenAtMs: clock.nowMs() };
  const running = [policy, before].map((under) => ({ scope, taken: { ...taken, policy: under } }));
  Object.defineProperty(route, 'running', { value: running });
  await area.budgets.policyChanged(scope);
  expect(seeded).toContain(`${scope}\0budget_day 2500000`);
});

it('a budget that is told again knows of a call under way in the hour that the gateway took it, whatever time it is for the limiter', async () => {
  const policy = { ...defaultPolicy('capped'), budget_hour_usd: 3 };
  const { area, clock, seeded } = await startArea([policy], []);
  const scope = agentScope('default', 'capped');
  const nowMs = clock.nowMs();
  const taken = { policy, tokens: 1, costMicroUsd: 500_000, nowMs, takenAtMs: nowMs + 1.5 * HOUR_MS };
  const route = area.route({ onRevoked: () => {} } as never, () => false);
  Object.defineProperty(route, 'running', { value: [{ scope, taken }] });
  await area.budgets.seedAll();
  expect(seeded).toEqual([`${scope}\0budget_hour 500000`]);
});

it.each([
  ['one agent', agentScope('default', 'capped')],
  ['all agents together', allAgents('default')],
])(
  'a budget of %s that begins knows what had been spent, though the clock was a month ahead at the start',
  async (_, scope) => {
    const policy = { ...defaultPolicy(splitAgentScope(scope).agentId), budget_month_usd: 2 };
    const { area, clock, seeded } = await startArea([policy], ['capped'], 40 * DAY_MS);
    expect(seeded).toEqual([]);
    clock.advance(-40 * DAY_MS);
    const route = area.route({ onRevoked: () => {} } as never, () => false);
    Object.defineProperty(route, 'running', { value: [] });
    await area.budgets.seedIfLost(scope, 'month');
    expect(seeded).toEqual([`${scope}\0budget_month 2000000`]);
  },
);

it('a budget that was lost knows of what calls under way took of it, and not of those that began before it was set', async () => {
  const policy = { ...defaultPolicy('capped'), budget_day_usd: 2, budget_month_usd: 3 };
  const { area, clock, seeded } = await startArea([policy], ['capped']);
  seeded.length = 0;
  const scope = agentScope('default', 'capped');
  const nowMs = clock.nowMs();
  const taken = { tokens: 1, costMicroUsd: 500_000, nowMs, takenAtMs: nowMs };
  const running = [policy, { ...policy, budget_month_usd: null }].map((under) => ({
    scope,
    taken: { ...taken, policy: under },
  }));
  Object.defineProperty(
    area.route({ onRevoked: () => {} } as never, () => false),
    'running',
    {
      value: running,
    },
  );
  const both = [`${scope}\0budget_day 3000000`, `${scope}\0budget_month 2500000`];
  await area.budgets.seedIfLost(scope, 'month');
  expect(seeded).toEqual(both);
  await area.budgets.seedAll();
  expect(seeded).toEqual([...both, ...both]);
});

it('the alerts hear at a start what was spent of each budget, though its agent may never call again', async () => {
  const policy = { ...defaultPolicy('capped'), budget_day_usd: 2 };
  const { area, told } = await startArea([policy], ['capped', 'free']);
  expect(told).toEqual([]);
  area.start({ provideSnapshot: () => {} } as never, {} as never, { entries: () => [] } as never);
  area.views.stop();
  area.feed.stop();
  const budgets = [{ period: 'day', spent_usd: 2, budget_usd: 2 }];
  expect(told).toMatchObject([{ kind: 'spend', agent_id: 'capped', budgets, refused: null }]);
});
