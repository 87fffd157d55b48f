/**
 * Whoever asks what, in whatever words, and however slow or wrong the embedder is: an answer is given again to the same question of
 * the same tenant in the same context and, where the mode and the agent's policy say so, to one of the same meaning; it is kept no
 * longer than it may be, and what an operator threw out or called wrong is given to nobody. The parts are joined here as the gateway
 * joins them, without a socket, in time that passes when an act says so; likeness is an angle, and what the gate says of two texts
 * and what two answers have in common is known by hand.
 */
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterEach, expect, test, vi } from 'vitest';
import {
  agentScope,
  type CacheControl,
  type CachePolicy,
  type Cosine,
  type OperatorPrincipal,
  SidecarFailure,
} from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { defaultPolicy } from '#domain/policy';
import { MINUTE_MS } from '#kernel';
import { buildLlmAnswer, buildSidecarDescription, countingIds, FakeTime, turn } from '#testing';
import type { SettingsAudit } from '../../../apps/gateway/src/auth/settings-audit.js';
import type { LlmCacheConfig } from '../../../apps/gateway/src/config/llm-cache-config.js';
import { LlmCacheArea } from '../../../apps/gateway/src/llm-cache/llm-cache.area.js';
import { WaitingCalls } from '../../../apps/gateway/src/llm-proxy/calls/waiting-calls.js';
import { buildProxyCall } from '../../../apps/gateway/src/llm-proxy/proxy-call.fixture.js';
import type { ProxyCall } from '../../../apps/gateway/src/llm-proxy/proxy-call.js';
import { cacheStep } from '../../../apps/gateway/src/llm-proxy/steps/cache.step.js';
import {
  AGENTS,
  ANSWER_NAMES,
  ANSWERS,
  type Answer,
  type Asking,
  type Brought,
  CONTEXTS,
  EMBED_TIMEOUT_MS,
  type EmbeddingModel,
  ENTRIES_MAX,
  type Ending,
  keyOf,
  type Match,
  MODELS,
  Model,
  QUESTION_NAMES,
  QUESTIONS,
  type Settings,
  TENANTS,
  WELL,
} from './near-answers.js';
import { comparing, MODEL_TIMEOUT_MS, runModel, times } from './run-model.js';

const ANGLES = [...Object.values(QUESTIONS), ...Object.values(ANSWERS)];
const operatorOf = (tenant: string, name = 'ada') =>
  ({ operator_id: name, tenant_id: tenant, role: 'operator' }) as OperatorPrincipal;

class Real {
  readonly time = new FakeTime();
  sidecar = WELL;
  failures = 0;
  readonly policies = new Map<string, CachePolicy>();
  readonly calls = new Map<string, ProxyCall>();
  /** The model's names by the keys of the cache. */
  readonly keys = new Map<string, string>();
  readonly audit: string[] = [];
  told: object[] = [];
  area!: LlmCacheArea;
  #cache!: MemoryLlmCache;
  #step!: ReturnType<typeof cacheStep>;
  #callCount = 0;

  constructor(settings: Settings) {
    const { time } = this;
    vi.spyOn(performance, 'now').mockImplementation(() => time.steadyMs());
    vi.stubGlobal('setTimeout', (run: () => void, ms: number) => time.after(ms, run));
    vi.stubGlobal('clearTimeout', (callOff?: () => void) => callOff?.());
    this.restart(settings, true);
  }

  restart({ mode, exactTtlMs, semanticTtlMs }: Settings, isEmpty: boolean): void {
    const { time: clock } = this;
    const bounds = { entriesMax: ENTRIES_MAX, bytesMax: 2 ** 24, exactTtlMs, semanticTtlMs };
    if (isEmpty) this.#cache = new MemoryLlmCache({ clock, ...bounds });
    const embedding = { provider: 'local', model: '', baseUrl: '' } as const;
    const audit = {
      record: async (...[, , action]: unknown[]) => void this.audit.push(action as string),
      around: async ([, , action]: unknown[], run: () => Promise<unknown>) => {
        this.audit.push(action as string);
        return run();
      },
    };
    this.area = new LlmCacheArea({
      clock,
      ids: countingIds(),
      metrics: new Registry(),
      config: { semanticMode: mode, hitWhenCosineAtLeast: null, embedding } as LlmCacheConfig,
      embeddingApiKey: null,
      cache: this.#cache,
      sidecar: this.#service(),
      sidecarTimeoutMs: EMBED_TIMEOUT_MS,
      audit: audit as unknown as SettingsAudit,
    });
    this.area.onFailedOpen = () => {
      this.failures += 1;
    };
    const control = { answerFor: () => ({ state: 'active', directives: [] }), onChanged: () => () => {} };
    this.#step = cacheStep(
      {
        desk: this.area.desk,
        agents: {
          restriction: (scope) => {
            const cache = this.policies.get(scope);
            return cache === undefined ? null : { ...defaultPolicy('a'), cache };
          },
        },
        control: control as never,
        waiting: new WaitingCalls(),
        standing: () => undefined,
      },
      {},
    );
  }

  #service() {
    const real = this;
    const failure = () => new SidecarFailure('error', 'as scripted');
    return {
      get isReady() {
        return real.sidecar.isReady;
      },
      describe: async () => {
        const { isReady, isBroken, model } = this.sidecar;
        if (!isReady || isBroken) throw failure();
        return buildSidecarDescription({ model_id: model, hitWhenCosineAtLeast: MODELS[model] as Cosine });
      },
      embed: async (text: string, { timeoutMs }: { timeoutMs: number }) => {
        const { embedMs, isBroken, model, dimension, isUnit } = this.sidecar;
        if (embedMs > 0)
          await new Promise<void>((resolve) => this.time.after(Math.min(embedMs, timeoutMs), resolve));
        if (isBroken || embedMs >= timeoutMs) throw failure();
        const found = ANGLES.find(({ words }) => words === text);
        if (found === undefined) throw new Error(`nobody says "${text}"`);
        if (found.degrees === null) return { fitness: 'unknown_tokens', vector: null, model_id: model };
        const angle = (found.degrees * Math.PI) / 180;
        const numbers = [Math.cos(angle), Math.sin(angle), ...(dimension === 3 ? [0] : [])];
        const vector = new Float32Array(numbers.map((one) => (isUnit ? one : 2 * one)));
        return { fitness: 'fit', vector, model_id: model };
      },
      checkLoop: () => expect.unreachable(),
      close: async () => {},
    } as unknown as ConstructorParameters<typeof LlmCacheArea>[0]['sidecar'];
  }

  async ask(asking: Asking): Promise<string> {
    this.#callCount += 1;
    const id = `call-${this.#callCount}`;
    const { by, context, question, temperature, control, isStream, isRetry, isLate, isHinted } = asking;
    const { model, before } = CONTEXTS[context] as (typeof CONTEXTS)[number];
    const messages = [...before, { role: 'user', content: QUESTIONS[question].words }];
    const body = {
      model,
      messages,
      ...(temperature !== null && { temperature }),
      ...(isStream && { stream: true }),
    };
    const call = buildProxyCall({ id, tenantId: by.tenant, agentId: by.agent, body });
    Object.assign(call, { isRetry, isSidecarLate: isLate, ...(isHinted && { injections: ['Look.'] }) });
    if (control !== null) call.incoming.headers['x-observatory-cache'] = control;
    this.calls.set(id, call);
    const passed = Promise.resolve(this.#step.run?.(call)).then((verdict) => {
      const kind = call.isGone
        ? 'gone'
        : verdict === undefined
          ? 'vendor'
          : call.cache
            ? 'cached'
            : 'refused';
      const from = kind === 'cached' ? (call.answer?.answer_id ?? null) : null;
      this.told.push({
        id,
        kind,
        from,
        cache: kind === 'cached' ? call.cache : null,
        headers: call.answerHeaders,
      });
      if (kind === 'gone') call.decision = 'aborted';
      else if (verdict !== undefined) call.decision = verdict.decision;
      if (kind !== 'vendor') this.#settle(call);
    });
    passed.catch((error: unknown) => this.told.push({ id, error }));
    if (call.cacheTicket !== null) this.keys.set(call.cacheTicket.key, keyOf(asking));
    await turn();
    return id;
  }

  #settle(call: ProxyCall): void {
    this.calls.delete(call.id);
    call.durationMs = call.elapsedMs();
    this.#step.settle?.(call);
  }

  end(id: string, { how, answer, costMicroUsd }: Brought): void {
    const call = this.calls.get(id) as ProxyCall;
    if (how === 'failed') call.status = 500;
    else {
      const finish = { answered: 'stop', length: 'length' }[how as string] ?? null;
      const text = ANSWERS[answer].words;
      call.answer = buildLlmAnswer({
        answer_id: id,
        model: call.model,
        text,
        finish: finish as 'stop' | null,
      });
      Object.assign(call, { status: 200, wasTakenUp: true, costMicroUsd, isAnswered: finish !== null });
    }
    if (how === 'left') call.leave();
    if (how === 'left' || how === 'failed' || how === 'broken_off')
      call.decision = how === 'left' ? 'aborted' : how === 'failed' ? 'forwarded' : 'upstream_failed';
    this.#settle(call);
  }
}

const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, one) => (name === 'cosine' && one !== null ? Number(one.toFixed(5)) : one)),
  );
const byId = (told: object[]) => told.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

async function compare(model: Model, real: Real): Promise<void> {
  for (let n = 0; n < 3; n += 1) await turn();
  expect(rounded(byId(real.told))).toEqual(rounded(byId(model.told)));
  Object.assign(real, { told: [] });
  model.told = [];
  const shown = model.modelShown();
  for (const tenant of TENANTS) {
    const { figures } = model.tenants[tenant];
    const live = model.live(tenant);
    const { matches } = figures;
    const judged = matches.map(({ verdict, agreed }) => (verdict === null ? agreed : verdict === 'right'));
    const known = judged.filter((isRight) => isRight !== null);
    const count = (is: (match: (typeof matches)[number]) => boolean) => matches.filter(is).length;
    const stats = await real.area.stats(tenant);
    const { total_bytes: _, lookup_p50_ms: _p50, lookup_p99_ms: _p99, ...figuresShown } = stats;
    expect(figuresShown).toEqual({
      backend: 'memory',
      is_degraded: false,
      semantic_mode: model.settings.mode,
      embedding_model: shown,
      hit_when_cosine_at_least: shown && MODELS[shown],
      total_entries: live.length,
      total_hits: figures.exact + figures.coalesced + figures.semantic,
      total_misses: figures.misses,
      exact_hits: figures.exact + figures.coalesced,
      semantic_hits: figures.semantic,
      shadow_hits: figures.shadow,
      shadow_agreed: count(({ agreed }) => agreed === true),
      shadow_differed: count(({ agreed }) => agreed === false),
      marked_right: count(({ verdict }) => verdict === 'right'),
      marked_wrong: count(({ verdict }) => verdict === 'wrong'),
      wrong_hit_rate: known.length === 0 ? null : known.filter((isRight) => !isRight).length / known.length,
      vetoes: figures.vetoes,
      coalesced: figures.coalesced,
      not_stored: figures.notStored,
      saved_usd: figures.savedMicroUsd / 1e6,
      unpriced_hit_count: figures.unpriced,
      saved_ms: Math.round(figures.savedMs),
    });
    const entries = (await real.area.entries(tenant, { limit: 100 })).items.map(
      ({ byte_count: _bytes, key, ...entry }) => ({ key: real.keys.get(key), ...entry }),
    );
    const its = live.map((entry) => ({
      key: entry.key,
      agent_id: entry.by.agent,
      upstream: 'openai',
      model: CONTEXTS[entry.context]?.model,
      dialect: 'openai-chat',
      created_at_ms: entry.createdMs,
      last_hit_at_ms: entry.lastHitMs,
      hit_count: entry.hitCount,
      has_vector: entry.vector !== null,
      cost_usd: entry.costMicroUsd === null ? null : entry.costMicroUsd / 1e6,
    }));
    expect(entries.map(({ hit_count }) => hit_count)).toEqual(
      its.map(({ hit_count }) => hit_count).sort((a, b) => b - a),
    );
    expect(byId(entries)).toEqual(byId(its));
    const listed = real.area
      .matches(tenant, { limit: 100 })
      .items.map(({ model: _model, key, ...match }) => ({ ...match, key: real.keys.get(key) }));
    const latest = matches.toReversed().slice(0, 100);
    expect(rounded(listed)).toEqual(
      rounded(latest.map(({ asked: _asked, answered: _answered, ...match }) => match)),
    );
  }
  expect(real.failures).toBe(model.failures);
  expect(real.audit).toEqual(model.audit);
}

const act = comparing(compare);

const asking: fc.Arbitrary<Asking> = fc.record({
  by: fc.constantFrom(...times(5, AGENTS[0]), ...AGENTS),
  context: fc.constantFrom(...times(12, 0), ...CONTEXTS.keys()),
  question: fc.constantFrom(...QUESTION_NAMES),
  temperature: fc.constantFrom(...times(12, 0 as const), 1 as const, null),
  control: fc.constantFrom<CacheControl | null>(...times(16, null), 'bypass', 'refresh', 'refresh', 'only'),
  isStream: fc.boolean(),
  isRetry: fc.constantFrom(...times(9, false), true),
  isLate: fc.constantFrom(...times(15, false), true),
  isHinted: fc.constantFrom(...times(15, false), true),
});
const brought: fc.Arbitrary<Brought> = fc.record({
  how: fc.constantFrom<Ending>(...times(9, 'answered' as const), 'length', 'failed', 'broken_off', 'left'),
  answer: fc.constantFrom<Answer>('way', 'way', 'sent', 'lost', ...ANSWER_NAMES),
  costMicroUsd: fc.constantFrom(null, 7, 1_250),
});

async function ask(model: Model, real: Real, given: Asking): Promise<string> {
  const id = await real.ask(given);
  model.ask(given, id);
  return id;
}
async function pass(model: Model, real: Real, ms: number): Promise<void> {
  await real.time.pass(ms);
  model.pass(ms);
}
async function end(model: Model, real: Real, id: string, given: Brought): Promise<void> {
  await compare(model, real);
  const call = model.calls.find((one) => one.id === id && one.place === 'vendor');
  if (call === undefined) return;
  real.end(id, given);
  model.end(call, given);
}
async function askAndEnd(model: Model, real: Real, given: Asking, its: Brought): Promise<void> {
  const id = await ask(model, real, given);
  await pass(model, real, 61);
  await end(model, real, id, its);
}
async function judge(
  model: Model,
  real: Real,
  match: Match,
  { verdict, by }: { verdict: 'right' | 'wrong'; by: string },
): Promise<void> {
  const { tenant } = match.asked.by;
  await real.area.judge(operatorOf(tenant, by), match.match_id, verdict);
  model.judge(tenant, match, verdict, by);
}
async function restart(model: Model, real: Real, settings: Settings, isEmpty: boolean): Promise<void> {
  for (const { id, place } of [...model.calls])
    if (place !== 'vendor') {
      real.calls.get(id)?.leave();
      const call = model.calls.find((one) => one.id === id);
      if (call !== undefined) model.leave(call);
      await turn();
    }
  await pass(model, real, 61);
  for (const { id } of [...model.calls])
    await end(model, real, id, { how: 'left', answer: 'way', costMicroUsd: null });
  await pass(model, real, 61);
  await compare(model, real);
  real.restart(settings, isEmpty);
  model.restart(settings, isEmpty);
}

const PLAIN = { isRetry: false, control: null, isLate: false, isHinted: false };
const [SHORT_MS, LONG_MS] = [10 * MINUTE_MS, 40 * MINUTE_MS];
const ON: Settings = { mode: 'on', exactTtlMs: SHORT_MS, semanticTtlMs: LONG_MS };
const PATTERNS = [
  { pattern: undefined, matches: () => true },
  { pattern: 'agent:a', matches: ({ by }: Asking) => by.agent === 'a' },
  { pattern: 'model:?2', matches: ({ context }: Asking) => context === 1 },
  { pattern: 'upstream:*', matches: () => true },
  { pattern: 'a', matches: () => false },
];

const KINDS = [
  ...times(
    3,
    act(
      'together',
      fc.record({ asking, count: fc.constantFrom(2, 3), brought }),
      async (model, real, { asking: given, count, brought: its }) => {
        const id = await ask(model, real, given);
        for (let n = 1; n < count; n += 1) await ask(model, real, { ...given, control: null });
        await pass(model, real, 61);
        await end(model, real, id, its);
      },
    ),
  ),
  ...times(
    3,
    act('ask', asking, async (model, real, given) => void (await ask(model, real, given))),
  ),
  ...times(
    6,
    act('askAndEnd', fc.record({ asking, brought }), (model, real, given) =>
      askAndEnd(model, real, given.asking, given.brought),
    ),
  ),
  // The same context in other words, or in the same.
  // Somebody says that one's answer is none to the other, or is one, and both are asked anew.
  ...times(
    3,
    act(
      'askBoth',
      fc.record({
        which: fc.nat(2),
        verdict: fc.constantFrom(null, 'right', 'wrong', 'wrong'),
        isTurned: fc.boolean(),
        brought,
      }),
      async (model, real, { which, verdict, isTurned, brought: its }) => {
        const match = model.tenants.ten.figures.matches.at(-1 - which);
        if (match === undefined) return;
        if (verdict !== null) await judge(model, real, match, { verdict, by: 'ada' });
        const both = [match.answered, match.asked];
        for (const one of isTurned ? both.toReversed() : both)
          await askAndEnd(model, real, { ...one, ...PLAIN }, its);
      },
    ),
  ),
  ...times(
    8,
    act(
      'again',
      fc.record({ question: fc.option(fc.constantFrom(...QUESTION_NAMES)), isEnded: fc.boolean(), brought }),
      async (model, real, { question, isEnded, brought: its }) => {
        const latest = model.latest as Asking;
        const given = { ...latest, ...PLAIN, question: question ?? latest.question };
        if (isEnded) await askAndEnd(model, real, given, its);
        else await ask(model, real, given);
      },
      ({ latest }) => latest !== null,
    ),
  ),
  ...times(
    4,
    act('end', fc.record({ which: fc.nat(5), brought }), async (model, real, { which, brought: its }) => {
      const over = model.calls.filter(({ place }) => place === 'vendor');
      const call = over[which % Math.max(1, over.length)];
      if (call !== undefined) await end(model, real, call.id, its);
    }),
  ),
  ...times(
    2,
    act('leave', fc.nat(3), (model, real, which) => {
      const call = model.calls.filter(({ place, isGone }) => place !== 'vendor' && !isGone)[which];
      if (call === undefined) return;
      real.calls.get(call.id)?.leave();
      model.leave(call);
    }),
  ),
  ...times(
    2,
    act(
      'wait',
      fc.constantFrom(3, 40, 60, 9_001, 20_003, 20_003, 4 * MINUTE_MS + 7, SHORT_MS, 35 * MINUTE_MS),
      pass,
    ),
  ),
  act(
    'setClock',
    fc.constantFrom(-7 * MINUTE_MS - 3, -61 * MINUTE_MS, 90_001, 3 * MINUTE_MS),
    (model, real, ms) => {
      real.time.setWallClock(ms);
      model.setClock(ms);
    },
  ),
  act(
    'sidecar',
    fc.record({
      isReady: fc.constantFrom(true, true, true, false),
      embedMs: fc.constantFrom(0, 0, 31, 31, 60),
      isBroken: fc.constantFrom(false, false, false, true),
      model: fc.constantFrom<EmbeddingModel>('wide', 'wide', 'narrow'),
      dimension: fc.constantFrom(2, 2, 3),
      isUnit: fc.constantFrom(true, true, true, false),
    }),
    (model, real, sidecar) => {
      for (const one of [model, real]) Object.assign(one, { sidecar });
    },
  ),
  ...times(
    3,
    act('heal', fc.constantFrom(0, 0, 31), (model, real, embedMs) => {
      for (const one of [model, real]) Object.assign(one, { sidecar: { ...WELL, embedMs } });
    }),
  ),
  act(
    'policy',
    fc.record({
      by: fc.constantFrom(...AGENTS),
      policy: fc.constantFrom<CachePolicy>('on', 'on', 'on', 'on', 'exact_only', 'off'),
    }),
    (model, real, { by: { tenant, agent }, policy }) => {
      real.policies.set(agentScope(tenant, agent), policy);
      model.policies.set(`${tenant} ${agent}`, policy);
    },
  ),
  act(
    'invalidate',
    fc.record({
      tenant: fc.constantFrom(...TENANTS),
      which: fc.constantFrom(...PATTERNS),
      preview: fc.boolean(),
    }),
    async (model, real, { tenant, which: { pattern, matches }, preview }) => {
      const wanted = { preview, ...(pattern !== undefined && { pattern }) };
      const count = await real.area.invalidate(operatorOf(tenant), wanted);
      expect(count).toBe(model.invalidate(tenant, matches, preview));
    },
  ),
  ...times(
    3,
    act(
      'judge',
      fc.record({
        which: fc.nat(4),
        of: fc.constantFrom('ten', 'ten', ...TENANTS),
        by: fc.constantFrom('ada', 'ben'),
        verdict: fc.constantFrom('right', 'wrong', 'wrong'),
      }),
      async (model, real, { which, of, by, verdict }) => {
        const match = model.tenants[of].figures.matches.at(-1 - which);
        if (match === undefined) return;
        await judge(model, real, match, { verdict, by });
      },
    ),
  ),
  act(
    'reopen',
    fc.record({
      mode: fc.constantFrom('off', 'shadow', 'shadow', 'shadow', 'on', 'on'),
      isSwapped: fc.boolean(),
      isEmpty: fc.constantFrom(false, false, true),
    }),
    (model, real, { mode, isSwapped, isEmpty }) => {
      const { exactTtlMs, semanticTtlMs } = model.settings;
      const isOther = isEmpty && isSwapped;
      const ttls = isOther
        ? { exactTtlMs: semanticTtlMs, semanticTtlMs: exactTtlMs }
        : { exactTtlMs, semanticTtlMs };
      return restart(model, real, { mode, ...ttls }, isEmpty);
    },
  ),
];

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test(
  'an answer is given again to whom it may be given, and to nobody else',
  () =>
    runModel<Model, Real>(
      KINDS,
      20,
      async () => ({ model: new Model(ON), real: new Real(ON) }),
      async (model, real) => {
        await restart(model, real, model.settings, false);
        await compare(model, real);
      },
    ),
  MODEL_TIMEOUT_MS,
);
