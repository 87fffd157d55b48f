/** Commands that come while a call waits for something else than its operator. */
import { Registry } from 'prom-client';
import { describe, expect, test, vi } from 'vitest';
import {
  type AgentControl,
  type CachedAnswer,
  type CacheHit,
  type CacheVector,
  type Cosine,
  type EmbeddingService,
  type LimitDecision,
} from '#contracts';
import { defaultPolicy } from '#domain/policy';
import { deferred } from '#kernel';
import { FakeClock } from '#testing';
import { CacheDesk } from '../llm-cache/cache-desk.js';
import { SidecarCacheEmbedder } from '../llm-cache/cache-embedder.js';
import { CacheFlights } from '../llm-cache/cache-flights.js';
import { CacheFreshness } from '../llm-cache/cache-freshness.js';
import { CacheTally } from '../llm-cache/cache-tally.js';
import type { LoopVerdict } from '../semantic-loop/loop-check.js';
import { HeldCalls } from './calls/held-calls.js';
import { WaitingCalls } from './calls/waiting-calls.js';
import { pipeline } from './pipeline.js';
import { buildProxyCall } from './proxy-call.fixture.js';
import type { ProxyCall, Verdict } from './proxy-call.js';

const BODY = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'Where is order 12?' }] };
const ANSWER: CachedAnswer = {
  dialect: 'openai-chat',
  model: 'm',
  text: 'On its way.',
  tool_calls: [],
  finish: 'stop',
  usage: null,
  answer_id: null,
} as never;
const HIT = {
  entry: { answer: ANSWER, key: 'key', prompt: 'Where is order 12?', cost_micro_usd: 1, duration_ms: 1 },
  age_ms: 0,
  cosine: null,
} as CacheHit;
const VECTOR: CacheVector = { model_id: 'm', values: new Float32Array([1]) };
const WITHIN: LimitDecision = {
  allowed: true,
  atMs: 1,
  windows: [{ key: 'requests', limit: 9, used: 1, resetMs: 1 }],
  begun: [false],
  refusedBy: null,
  retryAfterMs: 0,
};
const STOPPED: Verdict = { kind: 'refuse', decision: 'inactive', code: 'agent_inactive' };

const ACTIVE: AgentControl = { state: 'active', directives: [] };
const PAUSED: AgentControl = { state: 'paused', directives: [] };
const TERMINATED: AgentControl = { state: 'terminated', directives: [] };
const guidance = (id: string, prompt: string): AgentControl => ({
  state: 'active',
  directives: [{ type: 'inject', directive_id: id, prompt } as AgentControl['directives'][number]],
});

const { upstream } = buildProxyCall({});
const newCall = (): ProxyCall => Object.assign(buildProxyCall({ agentId: 'a', body: BODY }), { upstream });

/** What a call waits for; whatever is not named here is there at once. */
interface Waits {
  limiter?: () => Promise<LimitDecision>;
  sidecar?: () => Promise<LoopVerdict>;
  lookUp?: () => Promise<CacheHit | null>;
  /** There at once. */
  inMemory?: CacheHit;
  nearest?: () => Promise<CacheHit | null>;
}

/** The guards in front of the upstream, and what an operator has said so far. */
function guards(waits: Waits, embedder: unknown = { embed: async () => VECTOR, model: {} }) {
  const clock = new FakeClock();
  const said = { control: ACTIVE, stopped: undefined as Verdict | undefined };
  const released = deferred<AgentControl>();
  const held = new HeldCalls();
  const flights = new CacheFlights();
  const taken: string[] = [];
  const desk = {
    recall: () => null,
    answerForCall: () => said.control,
    answerFor: () => said.control,
    view: () => ({ state: said.control.state, reason: null }),
    onChanged: () => () => {},
    noteProxied: () => {},
    holdCall: () => released.promise,
    takeInjections: async (_key: unknown, ids: readonly string[]) => void taken.push(...ids),
  };
  const standing = () => said.stopped;
  const waiting = new WaitingCalls();
  const killSwitch = vi.fn(() => ({ enabled: false }));
  const policy = { ...defaultPolicy('a'), requests_per_minute: 9 };
  const agents = {
    restriction: () => policy,
    restrictionOfAll: () => null,
    killSwitch,
  };
  const cache = new CacheDesk({
    cache: {
      kind: 'redis',
      get: () => waits.inMemory ?? waits.lookUp?.() ?? Promise.resolve(null),
      epoch: async () => 'epoch',
      semanticSearch: () => waits.nearest?.() ?? Promise.resolve(null),
    },
    mode: 'on',
    hitWhenCosineAtLeast: 0.9 as Cosine,
    embedder,
    gate: () => null,
    flights,
    freshness: new CacheFreshness(),
    tally: new CacheTally(clock, new Registry()),
    matches: { served: () => {} },
    keeper: { keep: () => {} },
    onFailed: (error: unknown) => {
      throw error;
    },
    clock,
  } as never);
  const steps = pipeline({
    trace: {},
    identify: { upstreams: { find: () => upstream } },
    record: {},
    receive: {},
    stepFeed: { noteSent: () => {} },
    policy: {
      agents,
      standing,
      prices: { price: () => null },
      limiter: { take: () => waits.limiter?.() ?? Promise.resolve(WITHIN) },
      caps: { look: () => null },
      earlierUse: { mayHave: () => false },
      clock,
    },
    hold: { desk, held, waiting, standing, holdMs: 10, streamHoldMs: 10, onChanged: () => {} },
    killSwitch: { agents },
    semanticLoop: {
      isEnabled: true,
      agents,
      check: { ask: () => waits.sidecar?.() ?? Promise.resolve({ kind: 'clear' }) },
    },
    cache: { desk: cache, agents, control: desk, waiting, standing },
    forward: {},
  } as never);
  const names = steps.map(({ name }) => name);
  const before = steps.slice(names.indexOf('policy'), names.indexOf('forward'));
  /** @returns undefined: the upstream is next */
  const pass = async (call: ProxyCall): Promise<Verdict | undefined> => {
    for (const step of before) {
      const verdict = await step.run?.(call);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  };
  /** After an answer of the upstream. */
  const settle = (call: ProxyCall): void => {
    call.isAnswered = true;
    before.find(({ name }) => name === 'hold')?.settle?.(call);
  };
  return { said, released, held, flights, taken, killSwitch, pass, settle };
}

const SLOW: [string, () => { waits: Waits; reached: Promise<void>; over: () => void }][] = [
  ['the limiter', () => slow('limiter', WITHIN)],
  ['the sidecar', () => slow('sidecar', { kind: 'clear' } as LoopVerdict)],
  [
    'the sidecar, in front of an answer in memory',
    () => {
      const { waits, ...sidecar } = slow('sidecar', { kind: 'clear' } as LoopVerdict);
      return { ...sidecar, waits: { ...waits, inMemory: HIT } };
    },
  ],
  ['a look-up that finds nothing', () => slow('lookUp', null)],
  ['a look-up that finds an answer', () => slow('lookUp', HIT)],
  ['a semantic look-up that finds nothing', () => slow('nearest', null)],
  ['a semantic look-up that finds an answer', () => slow('nearest', { ...HIT, cosine: 0.95 as Cosine })],
];
function slow<K extends Exclude<keyof Waits, 'inMemory'>>(
  name: K,
  brought: Awaited<ReturnType<NonNullable<Waits[K]>>>,
) {
  const [reached, wait] = [deferred(), deferred<unknown>()];
  const begin = () => {
    reached.resolve();
    return wait.promise;
  };
  return { waits: { [name]: begin } as Waits, reached: reached.promise, over: () => wait.resolve(brought) };
}

describe.each(SLOW)('a call that waits for %s', (_, begin) => {
  async function start() {
    const { waits, reached, over } = begin();
    const guarded = guards(waits);
    const call = newCall();
    const passed = guarded.pass(call);
    await reached;
    return { ...guarded, call, over, passed };
  }

  test('is refused when its session was terminated meanwhile', async () => {
    const { said, over, passed } = await start();
    said.control = TERMINATED;
    over();
    expect(await passed).toMatchObject({ decision: 'terminated' });
  });

  test('is refused when its agent was stopped meanwhile', async () => {
    const { said, over, passed } = await start();
    said.stopped = STOPPED;
    over();
    expect(await passed).toBe(STOPPED);
  });

  test('is held when its session was paused meanwhile, and nobody waits for its answer', async () => {
    const { said, over, passed, held, released, flights, call } = await start();
    said.control = PAUSED;
    over();
    await expect.poll(() => held.count).toBe(1);
    expect(flights.count).toBe(0);
    said.control = TERMINATED;
    released.resolve(TERMINATED);
    expect(await passed).toMatchObject({ decision: 'terminated' });
    expect(call.cache).toBeNull();
  });

  test('takes the words along that came meanwhile, to the upstream', async () => {
    const { said, over, passed, taken, settle, call } = await start();
    said.control = guidance('d1', 'Look elsewhere.');
    over();
    expect(await passed).toBeUndefined();
    expect(call.injections).toEqual(['Look elsewhere.']);
    settle(call);
    expect(taken).toEqual(['d1']);
  });
});

test('the kill switch looks at no call that is held before it goes on', async () => {
  const { said, held, released, killSwitch, pass } = guards({});
  said.control = PAUSED;
  const passed = pass(newCall());
  await expect.poll(() => held.count).toBe(1);
  expect(killSwitch).not.toHaveBeenCalled();
  said.control = ACTIVE;
  released.resolve(ACTIVE);
  expect(await passed).toBeUndefined();
  expect(killSwitch).toHaveBeenCalledOnce();
});

describe('a sidecar whose time is up', () => {
  test.each([
    ['is not waited for again by the same call', 'timeout', 0],
    ['is asked for a vector by a call that did not wait for it', 'busy', 1],
  ] as const)('%s', async (_, reason, askedCount) => {
    const embed = vi.fn(async () => ({ fitness: 'fit', vector: VECTOR.values, model_id: 'm' }));
    const describeModel = async () => ({ model_id: 'm', hitWhenCosineAtLeast: 0.9 });
    const service = { isReady: true, embed, describe: describeModel } as unknown as EmbeddingService;
    const failedOpen: LoopVerdict = { kind: 'failed_open', reason };
    const embedder = new SidecarCacheEmbedder(service, 50, vi.fn());
    const { pass } = guards({ sidecar: async () => failedOpen }, embedder);
    expect(await pass(newCall())).toBeUndefined();
    expect(embed).toHaveBeenCalledTimes(askedCount);
  });
});

test('words that come one after the other are all taken, and said once', async () => {
  const { waits, reached, over } = slow('sidecar', { kind: 'clear' } as LoopVerdict);
  const { said, pass, settle, taken } = guards(waits);
  const [first, second] = [guidance('d1', 'Look elsewhere.'), guidance('d2', 'And soon.')];
  said.control = first;
  const call = newCall();
  const passed = pass(call);
  await reached;
  said.control = { ...first, directives: [...first.directives, ...second.directives] };
  over();
  expect(await passed).toBeUndefined();
  expect(call.injections).toEqual(['Look elsewhere.', 'And soon.']);
  settle(call);
  expect(taken).toEqual(['d1', 'd2']);
});
