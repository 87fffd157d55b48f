import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { agentScope } from '#contracts';
import { defaultPolicy, MemoryRateLimiter } from '#domain/policy';
import { HOUR_MS } from '#kernel';
import { FakeClock } from '#testing';
import { LlmProxyArea } from './llm-proxy.area.js';

/** More agents than live numbers are kept of. */
const OTHERS = 20_000;

it('an agent with a budget has spent after a restart what it had before, however many others of its tenant called since', async () => {
  const clock = new FakeClock();
  const hour_ms = clock.nowMs() - (clock.nowMs() % HOUR_MS);
  const spent = (agent_id: string) => ({
    tenant_id: 'default',
    agent_id,
    hour_ms,
    cost_usd: 2,
    unpriced_call_count: 0,
  });
  const limiter = new MemoryRateLimiter({ clock });
  const seeded: string[] = [];
  limiter.seed = async (seeds) => {
    seeded.push(...seeds.map(({ key, amount }) => `${key} ${amount}`));
  };
  const policy = { ...defaultPolicy('capped'), budget_day_usd: 2 };
  const area = new LlmProxyArea({
    clock,
    ids: { next: () => 'id' },
    metrics: new Registry(),
    config: { upstreamCallsMax: 1, proxyInflightBytesMax: 1 },
    environmentUpstreams: [],
    proxyStore: {
      documents: async (kind: string) =>
        kind === 'agent_policy' ? [{ tenant_id: 'default', id: 'capped', body: policy }] : [],
      openIncidents: async () => [],
      spendByAgent: async () =>
        ['capped', ...Array.from({ length: OTHERS }, (_, at) => `other ${at}`)].map(spent),
    },
    limits: { limiter },
    llmCache: {},
    semanticLoop: { events: {} },
  } as never);
  await area.recover();
  expect(seeded).toContain(`${agentScope('default', 'capped')}\0budget_day 2000000`);
});
