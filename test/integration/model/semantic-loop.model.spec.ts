/**
 * Whoever asks what, however slow or wrong the sidecar is, and whatever is restarted meanwhile: a prompt is a loop if it says what one
 * of the last five of the same agent in the same session said, and neither a retry nor anything else excuses it; a session's first loop
 * is hinted at, its second an alert, its third a pause, as far as the policy goes. Gateway and sidecar are joined here without a socket,
 * in time that passes when an act says so; likeness is an angle, and what the lexical gate says of two texts is known by hand.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toSidecarFailure } from '#adapters/grpc';
import {
  agentScope,
  type Cosine,
  EmbeddingFailure,
  LOOP_INTERVENTION_DEFAULT,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  type ProxyStore,
  type SemanticLoopEvent,
  type SemanticLoopPolicy,
  type SessionKey,
  type SessionView,
  SidecarFailure,
  type SidecarFailureReason,
  sessionKey,
  tenantIdOf,
} from '#contracts';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { defaultPolicy } from '#domain/policy';
import { LoopLadder, MemoryPromptHistory } from '#domain/semantic-loop';
import { decideVeto } from '#domain/text-likeness';
import { MINUTE_MS } from '#kernel';
import { buildLlmAnswer, buildSessionView, countingIds, FakeTime, turn } from '#testing';
import { CheckLoop } from '../../../apps/embedding-sidecar/src/check-loop.js';
import { buildProxyCall } from '../../../apps/gateway/src/llm-proxy/proxy-call.fixture.js';
import type { ProxyCall } from '../../../apps/gateway/src/llm-proxy/proxy-call.js';
import { semanticLoopStep } from '../../../apps/gateway/src/llm-proxy/steps/semantic-loop.step.js';
import { LoopBoard } from '../../../apps/gateway/src/semantic-loop/loop-board.js';
import { LoopCheck } from '../../../apps/gateway/src/semantic-loop/loop-check.js';
import { LoopDesk } from '../../../apps/gateway/src/semantic-loop/loop-desk.js';
import { SemanticLoopEvents } from '../../../apps/gateway/src/semantic-loop/semantic-loop-events.js';
import {
  ASKERS,
  type Asker,
  type Asking,
  type Call,
  type CallEnding,
  LADDERS_MAX,
  Model,
  NOISE,
  NOISE_COUNT,
  OPENING,
  SCOPES_MAX,
  SESSIONS,
  TENANTS,
  TEXT_NAMES,
  TEXTS,
  type Text,
  TIMEOUT_MS,
  textOf,
  WELL,
} from './asked-again.js';
import { comparing, type Ending, MODEL_TIMEOUT_MS, runModel, times } from './run-model.js';

type LoopsQuery = Parameters<ProxyStore['semanticLoops']>[0];

class Real {
  readonly time = new FakeTime();
  link = WELL;
  isStoreBroken = false;
  isPauseBroken = false;
  readonly policies = new Map<string, SemanticLoopPolicy>();
  readonly calls: { call: ProxyCall; asking: Asking }[] = [];
  readonly talks = new Map<string, { messages: object[]; asked: readonly string[] }>();
  readonly views = new Map<SessionKey, SessionView>();
  readonly rows: { tenant: string; event: SemanticLoopEvent }[] = [];
  readonly published: unknown[] = [];
  readonly alerts: unknown[] = [];
  readonly pauses: unknown[] = [];
  readonly introduced: string[] = [];
  readonly events: SemanticLoopEvents;
  #seq = 0;
  readonly #ids = countingIds();
  #callCount = 0;
  #askCount = 0;
  #sidecar!: CheckLoop;
  #broken = new Set<(failure: SidecarFailure) => void>();
  desk!: LoopDesk;
  board!: LoopBoard;
  #step!: ReturnType<typeof semanticLoopStep>;

  constructor() {
    vi.spyOn(performance, 'now').mockImplementation(() => this.time.steadyMs());
    const gauges = {
      ladderSessions: () => 0,
      ladderEvicted: () => 0,
      alertsEvicted: () => 0,
      isSidecarReady: () => true,
      sidecarRestarts: () => 0,
    };
    this.events = new SemanticLoopEvents(this.time, pino({ level: 'silent' }), new Registry(), gauges);
    this.startSidecar();
    this.#startGateway();
  }

  startSidecar(): void {
    for (const breaks of this.#broken) breaks(new SidecarFailure('unavailable', 'it ended'));
    const { time } = this;
    const nothing = () => {};
    this.#sidecar = new CheckLoop({
      embedder: {
        description: {
          model_id: 'angles',
          dimension: 2,
          tokens_max: 100,
          loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
          hitWhenCosineAtLeast: 0.92 as Cosine,
          needsStrictGate: true,
        },
        queuedCount: 0,
        embed: async (words, { timeoutMs = 0 } = {}) => {
          const { embedMs, isSkewed } = this.link;
          await this.#passes(Math.min(embedMs, timeoutMs));
          if (embedMs >= timeoutMs) throw new EmbeddingFailure('expired', 'too late');
          const { degrees } = TEXTS[textOf(words)];
          if (degrees === null) return { fitness: 'unknown_tokens', vector: null };
          const angle = (degrees * Math.PI) / 180;
          const numbers = [Math.cos(angle), Math.sin(angle), ...(isSkewed ? [0] : [])];
          return { fitness: 'fit', vector: new Float32Array(numbers) };
        },
        close: async () => {},
      },
      history: new MemoryPromptHistory({ clock: time, dimension: 2, scopeCountMax: SCOPES_MAX }),
      vetoOf: (earlier, later) => decideVeto(earlier, later, { strict: true }),
      clock: time,
      ids: countingIds(),
      observer: {
        embedded: nothing,
        queued: nothing,
        searched: nothing,
        recorded: nothing,
        recordFailed: nothing,
      },
      loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
      checksMax: 1_000,
      elapsedMs: () => time.steadyMs(),
    });
  }

  async #passes(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.time.after(ms, resolve));
  }

  /** As the client at the socket does. */
  #checkLoop(query: LoopQuery, timeoutMs: number): Promise<LoopAnswer> {
    const { failure, replyMs } = this.link;
    if (failure !== null) return Promise.reject(new SidecarFailure(failure, 'it says so'));
    return new Promise((resolve, reject) => {
      const end = (then: () => void) => {
        callOff();
        this.#broken.delete(fail);
        then();
      };
      const fail = (why: SidecarFailure) => end(() => reject(why));
      const callOff = this.time.after(timeoutMs, () => fail(new SidecarFailure('timeout', 'too late')));
      this.#broken.add(fail);
      this.#sidecar.run(query, timeoutMs).then(
        (answer) => this.#passes(replyMs).then(() => end(() => resolve(answer))),
        (error) => this.#passes(replyMs).then(() => fail(toSidecarFailure(error))),
      );
    });
  }

  #startGateway(): void {
    const real = this;
    const { time: clock, events } = this;
    const store = {
      appendSemanticLoop: async (tenant: string, event: SemanticLoopEvent) => {
        if (this.isStoreBroken) throw new Error('disk full');
        this.#seq += 1;
        this.rows.push({ tenant, event: { ...event, seq: this.#seq } });
        return this.#seq;
      },
      semanticLoops: async (query: LoopsQuery) => {
        if (this.isStoreBroken) throw new Error('disk full');
        return this.#read(query);
      },
    };
    this.board = new LoopBoard(clock, (key) => this.views.get(key));
    this.desk = new LoopDesk({
      ladder: new LoopLadder({ clock, sessionCountMax: LADDERS_MAX }),
      store,
      live: { publish: (tenant, topic, payload) => this.published.push([tenant, topic, payload]) },
      board: this.board,
      alerts: { note: (alert) => this.alerts.push(alert) },
      desk: {
        pauseBySystem: async (key, reason) => {
          this.pauses.push([key, reason]);
          if (this.isPauseBroken) throw new Error('busy');
          this.show(key, { state: 'paused' });
          return true;
        },
      },
      sessions: {
        introduceLoop: async (key) => {
          this.introduced.push(key);
          if (!this.views.has(key)) this.show(key, {});
        },
      },
      ids: this.#ids,
      timer: clock,
      events,
    });
    this.#step = semanticLoopStep({
      isEnabled: true,
      agents: {
        restriction: (scope) => {
          const semantic_loop = this.policies.get(scope);
          return semantic_loop === undefined ? null : { ...defaultPolicy('a'), semantic_loop };
        },
      },
      check: new LoopCheck({
        service: {
          get isReady() {
            return real.link.isReady;
          },
          checkLoop: (query, { timeoutMs }) => this.#checkLoop(query, timeoutMs),
        },
        timeoutMs: TIMEOUT_MS,
        loopWhenSimilarityAbove: null,
        clock,
        events,
      }),
      desk: this.desk,
      events,
      hint: LOOP_INTERVENTION_DEFAULT,
    });
  }

  /** @param control of it; absent: active */
  show(key: SessionKey, { state, ended = false }: { state?: 'paused'; ended?: boolean }): void {
    const view = buildSessionView({ ended });
    this.views.set(key, { ...view, control: { ...view.control, state: state ?? 'active' } });
  }

  nextCallId(): string {
    this.#callCount += 1;
    return `call-${this.#callCount}`;
  }

  /** No two things happen in one moment. */
  later(ms: number): number {
    this.#askCount += 1;
    return ms === 0 ? 0 : ms + this.#askCount / 1_024;
  }

  talk({ asker, conversation }: Asking) {
    const key = `${asker.name} ${conversation}`;
    const talk = this.talks.get(key) ?? { messages: [], asked: [] };
    this.talks.set(key, talk);
    return talk;
  }

  ask(asking: Asking, id: string): void {
    const { asker, text, conversation, model, isRetry, isMore, isFull } = asking;
    const { isInferred, id: sessionId } = asker.session;
    const { words } = TEXTS[text];
    const talk = this.talk(asking);
    const isKept = isInferred && conversation === 1;
    const picture = isKept
      ? { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
      : { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const content = isMore ? [{ type: isKept ? 'input_text' : 'text', text: words }, picture] : words;
    const said = { role: 'user', content };
    const body = isKept
      ? { model, input: [said], ...(talk.messages.length > 0 && { previous_response_id: 'resp-1' }) }
      : { model, messages: isInferred ? [...talk.messages, said] : [said] };
    const path = isKept ? '/responses' : '/chat/completions';
    const dialect = dialectFor('openai', 'POST', path) as Dialect;
    const call = buildProxyCall({
      id,
      tenantId: asker.tenant,
      agentId: asker.agent,
      sessionId,
      path,
      body,
      dialect: isFull ? { ...dialect, injectSystem: (same) => same } : dialect,
    });
    Object.assign(call, { isSessionInferred: isInferred, isRetry, startedAtMs: this.time.nowMs() });
    if (isKept) call.asked = talk.asked;
    this.calls.push({ call, asking });
    void this.#step.run?.(call);
  }

  end(id: string, ending: CallEnding): void {
    const at = this.calls.findIndex(({ call }) => call.id === id);
    const [{ call, asking }] = this.calls.splice(at, 1) as [(typeof this.calls)[number]];
    if (ending === 'answered') {
      const talk = this.talk(asking);
      const said = { role: 'user', content: TEXTS[asking.text].words };
      talk.messages.push(said, { role: 'assistant', content: 'I see.' });
      talk.asked = call.asked;
      call.isAnswered = true;
    } else if (ending === 'left')
      Object.assign(call, { decision: 'aborted', answer: buildLlmAnswer({ text: 'I', finish: null }) });
    this.#step.settle?.(call);
  }

  async restart(): Promise<void> {
    for (const { call } of [...this.calls]) {
      call.leave();
      await turn();
      this.end(call.id, 'unanswered');
    }
    await this.desk.settled();
    this.#startGateway();
    await this.board.recover({ semanticLoops: async (query) => this.#read(query) }, this.views);
  }

  #read({ tenant_id, session_id, limit }: LoopsQuery) {
    const found = this.rows
      .filter(({ tenant }) => tenant === tenant_id)
      .map(({ event }) => event)
      .filter((event) => session_id === undefined || event.session_id === session_id);
    return { items: found.toReversed().slice(0, limit), next_cursor: null };
  }
}

const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, one) => (name === 'similarity' ? Number(one.toFixed(5)) : one)));
/** Each only once. */
let looked: { published: number; rows: number };

async function compare(model: Model, real: Real): Promise<void> {
  for (let n = 0; n < 4; n += 1) await turn();
  expect(real.time.steadyMs()).toBe(model.nowMs);
  const { checks, fail_open } = real.events.view();
  expect({ checks, fail_open }).toEqual({ checks: model.checks, fail_open: model.failures });
  const found = ({ published, rows }: Real | Model) =>
    rounded({
      published: (published as [string][]).filter(([tenant]) => tenant !== NOISE).slice(looked.published),
      rows: rows.filter(({ tenant }) => tenant !== NOISE).slice(looked.rows),
    }) as { published: unknown[]; rows: unknown[] };
  const [is, be] = [found(real), found(model)];
  expect(is).toEqual(be);
  looked.published += be.published.length;
  looked.rows += be.rows.length;
  const done = ({ alerts, pauses, introduced }: Real | Model) => rounded({ alerts, pauses, introduced });
  expect(done(real)).toEqual(done(model));
  expect(
    real.calls.map(({ call }) => [call.id, call.finding, call.isSidecarLate, call.injections.length]),
  ).toEqual(
    model.calls.map(({ id, finding, isHinted }) => [id, finding, finding === 'timeout', Number(isHinted)]),
  );
}

const act = comparing(compare);

/** A check waits until the one before it in its session is remembered, a turn after that one was answered. */
async function begun(): Promise<void> {
  for (let n = 0; n < 3; n += 1) await turn();
}

async function pass(model: Model, real: Real, ms: number): Promise<void> {
  await real.time.pass(ms);
  model.pass(ms);
}

/** Which of a tenant's sessions. */
const where = fc.record({ tenant: fc.constantFrom(...TENANTS), session: fc.constantFrom(...SESSIONS) });
const keyOf = ({ tenant, session }: { tenant: string; session: { id: string } }) =>
  sessionKey(tenant, session.id);
const stateOf = ({ sessions }: Readonly<Model>, key: SessionKey) => sessions.get(key);

/** Most act in few places, where something is known of what was before. */
const BUSY = [0, 1, 2, 4].map((at) => ASKERS[at] as Asker);

const asking: fc.Arbitrary<Asking> = fc.record({
  asker: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...BUSY) },
    { weight: 1, arbitrary: fc.constantFrom(...ASKERS) },
  ),
  text: fc.constantFrom<Text>(...TEXT_NAMES, 'parcel', 'package', 'delivery', 'package'),
  conversation: fc.constantFrom(0, 0, 1),
  model: fc.constantFrom('m1', 'm1', 'm1', 'm2'),
  isRetry: fc.constantFrom(false, false, false, true),
  isMore: fc.constantFrom(false, false, false, false, true),
  isFull: fc.constantFrom(false, false, false, false, true),
});
const ending = fc.constantFrom<CallEnding>('answered', 'answered', 'answered', 'left', 'unanswered');

const CALM = { conversation: 0, model: 'm1', isRetry: false, isMore: false, isFull: false } as const;

function ask(model: Model, real: Real, given: Asking): void {
  const isFirst = given.asker.session.isInferred && model.talk(given).texts.length === 0;
  const one = { ...given, ...(isFirst && { text: OPENING }) };
  const id = real.nextCallId();
  const { embedMs, replyMs } = real.link;
  const link = { ...real.link, embedMs: real.later(embedMs), replyMs: real.later(replyMs) };
  Object.assign(real, { link });
  Object.assign(model, { link });
  const key = keyOf({ tenant: given.asker.tenant, session: given.asker.session });
  // Whoever calls goes on.
  if (stateOf(model, key) === 'ended') {
    model.sessions.set(key, 'active');
    real.show(key, {});
  }
  real.ask(one, id);
  model.ask(one, id);
}
function end(model: Model, real: Real, call: Call | undefined, how: CallEnding): void {
  if (call === undefined) return;
  real.end(call.id, how);
  model.end(call, how);
}

const mayAsk = (model: Readonly<Model>, { asker }: Asking) => stateOf(model, keyOf(asker)) !== 'paused';

function look(model: Model, real: Real): void {
  const open = model.openAlerts();
  for (const tenant of TENANTS) {
    const shown = real.board.open(tenant);
    const its = open.filter(([key]) => tenantIdOf(key) === tenant).map(([, latest]) => latest);
    const idsOf = (events: readonly SemanticLoopEvent[]) =>
      new Set(events.map(({ session_id }) => session_id));
    expect(idsOf(shown)).toEqual(idsOf(its));
    expect(shown.map(({ event_id }) => event_id)).toEqual(
      expect.arrayContaining(its.map(({ event_id }) => event_id)),
    );
  }
}

const KINDS = [
  ...times(7, act('ask', asking, ask, mayAsk)),
  ...times(
    4,
    act(
      'askAndEnd',
      fc.record({ asking, ending }),
      async (model, real, given) => {
        ask(model, real, given.asking);
        await begun();
        await pass(model, real, 150);
        end(model, real, model.calls.at(-1), given.ending);
      },
      (model, given) => mayAsk(model, given.asking),
    ),
  ),
  ...times(
    4,
    act('end', fc.record({ which: fc.nat(3), ending }), (model, real, { which, ending: how }) => {
      const over = model.calls.filter(({ isUnderWay }) => !isUnderWay);
      end(model, real, over[which % Math.max(1, over.length)], how);
    }),
  ),
  // As an SDK does, and others.
  ...times(
    4,
    act(
      'again',
      fc.record({ isRetry: fc.constantFrom(true, true, false), ending }),
      async (model, real, { isRetry, ending: how }) => {
        ask(model, real, { ...(model.latest as Asking), isRetry });
        await begun();
        await pass(model, real, 150);
        end(model, real, model.calls.at(-1), how);
      },
      (model) => model.latest !== null && mayAsk(model, model.latest),
    ),
  ),
  act('leave', fc.nat(3), async (model, real, which) => {
    const call = model.calls.filter(({ isUnderWay }) => isUnderWay)[which];
    if (call === undefined) return;
    real.calls.find((one) => one.call.id === call.id)?.call.leave();
    call.leave();
    await begun();
    end(model, real, call, 'unanswered');
  }),
  ...times(
    2,
    act(
      'wait',
      fc.constantFrom(
        3,
        20,
        60,
        400,
        5_003,
        4 * MINUTE_MS + 7,
        11 * MINUTE_MS,
        33 * MINUTE_MS + 11,
        61 * MINUTE_MS,
      ),
      pass,
    ),
  ),
  act('setClock', fc.constantFrom(-40, -7 * MINUTE_MS - 3, 90_001, 20 * MINUTE_MS), (model, real, ms) => {
    real.time.setWallClock(ms);
    model.wallMs += ms;
  }),
  ...times(
    2,
    act(
      'sidecar',
      fc.record({
        isReady: fc.constantFrom(true, true, true, false),
        embedMs: fc.constantFrom(0, 0, 0, 7, 31, 60),
        replyMs: fc.constantFrom(0, 0, 0, 11, 70),
        failure: fc.constantFrom<SidecarFailureReason | null>(
          null,
          null,
          null,
          null,
          'busy',
          'invalid',
          'error',
        ),
        isSkewed: fc.constantFrom(false, false, false, false, true),
      }),
      (model, real, link) => {
        // Whoever goes away breaks off what it was asked.
        if (!link.isReady) {
          real.startSidecar();
          model.sidecarEnds();
        }
        Object.assign(real, { link });
        Object.assign(model, { link });
      },
    ),
  ),
  ...times(
    2,
    act('heal', fc.constant(null), (model, real) => {
      for (const one of [model, real])
        Object.assign(one, { link: WELL, isStoreBroken: false, isPauseBroken: false });
    }),
  ),
  act(
    'break',
    fc.record({ isStoreBroken: fc.boolean(), isPauseBroken: fc.boolean() }),
    (model, real, broken) => {
      for (const one of [model, real]) Object.assign(one, broken);
    },
  ),
  ...times(
    2,
    act(
      'policy',
      fc.record({
        asker: fc.constantFrom(...BUSY, ...ASKERS),
        policy: fc.constantFrom<SemanticLoopPolicy>('off', 'hint', 'alert', 'pause', 'pause', 'pause'),
      }),
      (model, real, { asker: { tenant, agent }, policy }) => {
        for (const { policies } of [model, real]) policies.set(agentScope(tenant, agent), policy);
      },
    ),
  ),
  ...times(
    2,
    act('resume', where, (model, real, place) => {
      const key = keyOf(place);
      if (stateOf(model, key) !== 'paused') return;
      model.sessions.set(key, 'active');
      real.show(key, {});
    }),
  ),
  act('endSession', where, (model, real, place) => {
    const key = keyOf(place);
    if (stateOf(model, key) !== 'active') return;
    model.sessions.set(key, 'ended');
    real.show(key, { ended: true });
  }),
  act(
    'talkAnew',
    fc.record({ asker: fc.constantFrom(...ASKERS), conversation: fc.constantFrom(0, 1) }),
    (model, real, { asker, conversation }) => {
      for (const { talks } of [model, real]) talks.delete(`${asker.name} ${conversation}`);
    },
  ),
  ...times(3, act('look', fc.constant(null), look)),
  act(
    'flood',
    fc.constant(null),
    async (model, real) => {
      const { link } = real;
      for (const one of [model, real]) Object.assign(one, { link: WELL });
      for (let n = 0; n < NOISE_COUNT; n += 1) {
        const id = real.nextCallId();
        const session = { id, isInferred: false } as unknown as Asker['session'];
        const asker = { tenant: NOISE, session, agent: 'n', name: `${NOISE} ${id}` };
        for (const text of ['parcel', 'package'] as const) {
          ask(model, real, { ...CALM, asker, text });
          await begun();
          end(model, real, model.calls.at(-1), 'answered');
        }
      }
      for (const one of [model, real]) Object.assign(one, { link });
    },
    (model) => model.link.isReady,
  ),
];

beforeEach(() => {
  looked = { published: 0, rows: 0 };
});
afterEach(() => {
  vi.restoreAllMocks();
});

test(
  'what is asked again in other words is a loop, and its session climbs the ladder as its policy says',
  async () => {
    await runModel<Model, Real>(
      KINDS,
      25,
      async () => {
        looked = { published: 0, rows: 0 };
        return { model: new Model(), real: new Real() };
      },
      async (model: Model, real: Real, _how: Ending) => {
        model.restart();
        await real.restart();
        await compare(model, real);
        look(model, real);
      },
    );
  },
  MODEL_TIMEOUT_MS,
);
