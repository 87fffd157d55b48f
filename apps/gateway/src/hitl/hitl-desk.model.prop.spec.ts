/**
 * Whatever agents, operators, the clock, the store and the process do, and whenever: a session is stopped for as long as it is to be,
 * what was held goes out in order, once, and everybody is told what waits. @see DeskModel
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AgentControl,
  type Command,
  type ControlPollAnswer,
  type Directive,
  LIMITS,
  ObservatoryError,
  sessionKey,
} from '#contracts';
import { HOUR_MS, Interrupt } from '#kernel';
import { FakeTime, modelRuns, RACES_MS, turn } from '#testing';
import { CONTROL_BOUNDS, type ControlBounds } from './control-bounds.js';
import { DeskHarness, operator } from './desk.fixture.js';
import {
  answerText,
  brief,
  DEAD,
  DeskModel,
  ModelStore,
  POLLS_MAX,
  type Row,
  type Said,
  type Session,
  SMALL,
  WAITS,
  type Waiter,
  WORDS_MAX,
} from './desk-model.fixture.js';

const told = ({ seq, type, operator_id, prompt, reason }: Directive): string =>
  `${seq} ${type} ${operator_id} ${prompt ?? reason ?? ''}`;

/** A desk beside its model. */
class Run {
  readonly trail: string[] = [];
  readonly #store = new ModelStore();
  readonly #model: DeskModel;
  #time = new FakeTime();
  #harness!: DeskHarness;
  #serial = 0;
  /** Answers that are not compared yet. */
  #asked: { what: string; real: Said; model: Said }[] = [];

  constructor(bounds: ControlBounds) {
    this.#model = new DeskModel(this.#store, bounds, this.#time.nowMs());
  }

  get #desk(): DeskHarness['desk'] {
    return this.#harness.desk;
  }

  async start(downMs: number): Promise<void> {
    this.#store.revive();
    this.#asked = [];
    this.#time = new FakeTime(this.#model.begin(downMs));
    this.#harness = await DeskHarness.start(this.#store, this.#time, this.#model.bounds);
    for (const { tenant_id, session_id } of this.#store.steps)
      this.#harness.known.add(sessionKey(tenant_id, session_id));
    Object.assign(this.#harness.config, this.#model.settings);
    await settle();
    this.#model.readAll();
    await this.#pass(0);
  }

  async apply(act: Act): Promise<void> {
    this.trail.push(`${this.#model.nowMs} ${JSON.stringify(act)}`);
    const downMs = await this.#do(act);
    await settle();
    this.#model.follow();
    await this.#pass(0);
    if (!this.#store.isDead) this.#check();
    if (!this.#store.isDead && downMs === null) return;
    await this.start(downMs ?? 2_000);
    this.#check();
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.pass(ms);
    await settle();
    this.#model.pass(ms);
  }

  /** @returns for how long the process is down, if it ends with this */
  async #do(act: Act): Promise<number | null> {
    const model = this.#model;
    const s = model.sessions['at' in act ? act.at : 0] as Session;
    const { key } = s;
    switch (act.do) {
      case 'step': {
        for (let nth = 0; nth < act.count && !this.#store.isDead; nth += 1) {
          const trace = this.#next(`${key} `);
          const step = this.#harness.step(key, trace);
          await this.#both(act.do, step.then(shownAnswer), () => model.step(s, trace));
          model.follow();
        }
        break;
      }
      case 'order':
        await this.#order(s, act);
        break;
      case 'ask':
        await this.#both(act.do, this.#desk.askForPerson(key, act.agent), () => model.ask(s, act.agent));
        break;
      case 'poll':
        await this.#poll(s, act);
        break;
      case 'call':
        await this.#call(s, act);
        break;
      case 'hang up': {
        const waiter = model.waiters[act.nth % model.waiters.length];
        if (waiter === undefined) break;
        waiter.interrupt.raise();
        waiter.isThere = false;
        model.wake(waiter);
        break;
      }
      case 'ack': {
        const upToSeq = (s.cursor ?? 0) + act.ahead;
        const done = this.#desk.confirm(key, { kind: 'taken', upToSeq }, 'ack');
        await this.#both(act.do, done, () => model.confirm(s, 'taken', upToSeq, [], true));
        break;
      }
      case 'ack one': {
        const words = this.#desk.pendingDirectives(key);
        const word = words[act.nth % words.length];
        if (!model.peek(s) || word === undefined) break;
        const confirmed = { kind: 'taken_ids' as const, directiveIds: [word.directive_id] };
        const done = this.#desk.confirm(key, confirmed, 'ack');
        await this.#both(act.do, done, () => model.confirm(s, 'ids', 0, [word.seq], true));
        break;
      }
      case 'listen': {
        const heard: string[] = [];
        const time = this.#time;
        const leave = this.#desk.attachListener(key, (answer) =>
          heard.push(`${time.steadyMs()} ${pollText(answer)}`),
        );
        model.listen({ s, heard, said: [], leave, cancel: () => {} });
        break;
      }
      case 'leave': {
        const [listener] = model.listeners.splice(act.nth % model.listeners.length, 1);
        listener?.leave();
        listener?.cancel();
        break;
      }
      case 'wait':
        await this.#pass(act.ms);
        break;
      case 'clock':
        this.#time.setWallClock(act.ms);
        model.setClock(act.ms);
        break;
      case 'set':
        Object.assign(model.settings, act.settings);
        Object.assign(this.#harness.config, act.settings);
        break;
      case 'store':
        Object.assign(this.#store, { isRefusing: act.isRefusing, isBlind: act.isBlind });
        break;
      case 'refuse':
        this.#store.refusedIn = act.inWrites;
        break;
      case 'die':
        this.#store.dying = { inWrites: act.inWrites, isDone: act.isDone };
        break;
      case 'kill':
        return act.downMs;
      case 'end':
        void this.#desk.drain();
        await settle();
        model.end();
        return act.downMs;
    }
    return null;
  }

  #next(prefix: string): string {
    this.#serial += 1;
    return `${prefix}${this.#serial}`;
  }

  /** What is done, and what was to come of it. */
  async #both(what: string, done: Promise<unknown>, act: (answer: Said) => unknown): Promise<void> {
    const real: Said = { is: WAITS };
    const model: Said = { is: WAITS };
    this.#asked.push({ what, real, model });
    const fail = (said: Said, error: unknown) => {
      if (!(error instanceof ObservatoryError)) throw error;
      said.is = error.code;
    };
    const time = this.#time;
    done
      .then((value) => {
        real.is = value;
      })
      .catch((error: unknown) => fail(real, error))
      .finally(() => {
        real.atMs = time.steadyMs();
      });
    await settle();
    try {
      model.is = act(model);
    } catch (error) {
      if (error !== DEAD) fail(model, error);
    }
    if (model.is !== WAITS) model.atMs = this.#model.nowMs;
  }

  #order(s: Session, { command, by, nth }: ActOf<'order'>): Promise<void> {
    const text = command === 'rewrite' ? (s.held.at(-1 - nth) ?? 'none') : this.#next('w');
    const bodies = {
      pause: { reason: text },
      resume: {},
      terminate: { reason: text },
      inject: { prompt: text },
      rewrite: { trace_id: text, new_content: { path: '/tmp' } },
    };
    const done = this.#desk.execute(operator(by, s.tenant), s.name, command, bodies[command]);
    return this.#both(command, done, () => this.#model.order(s, by, command, text));
  }

  #waits(waiter: Pick<Waiter, 's' | 'poll' | 'isHeard' | 'interrupt'>, waitMs: number, answer: Said): Waiter {
    const untilMs = this.#model.nowMs + waitMs;
    return { ...waiter, untilMs, isThere: true, shownSeq: 0, answer, cancel: () => {} };
  }

  #poll(s: Session, { after: from, waitMs, isAgent }: ActOf<'poll'>): Promise<void> {
    const desk = this.#desk;
    const after = from === 'none' ? undefined : from === 'zero' ? 0 : (s.cursor ?? 0) + from;
    const interrupt = new Interrupt();
    const polled = desk.poll(s.key, { after, waitMs, isAgent, interrupt }).then((answer) => {
      if (isAgent && !interrupt.isRaised) desk.noteDelivered(s.key, answer);
      return pollText(answer);
    });
    return this.#both('poll', polled, (answer) =>
      this.#model.poll(
        this.#waits({ s, poll: { after, isAgent }, isHeard: false, interrupt }, waitMs, answer),
      ),
    );
  }

  /** As the proxy holds one, and says whether a model heard what it was given. */
  #call(s: Session, { waitMs, isHeard }: ActOf<'call'>): Promise<void> {
    const desk = this.#desk;
    const interrupt = new Interrupt();
    const call = async () => {
      const recalled = desk.recall(s.key);
      if (recalled !== null) await recalled;
      desk.noteProxied(s.key);
      const seen = desk.answerForCall(s.key);
      const control = seen.state === 'paused' ? await desk.holdCall(s.key, { waitMs, interrupt }) : seen;
      const words = control.directives.filter(({ type }) => type === 'inject');
      const ids = words.map(({ directive_id }) => directive_id);
      if (control.state === 'active' && isHeard && ids.length > 0)
        desk.takeInjections(s.key, ids).catch(() => {});
      return callText(control);
    };
    return this.#both('call', call(), (answer) =>
      this.#model.call(this.#waits({ s, poll: null, isHeard, interrupt }, waitMs, answer)),
    );
  }

  #check(): void {
    const { sessions, waiters, events, listeners } = this.#model;
    for (const { what, real, model } of this.#asked) expect({ [what]: real }).toEqual({ [what]: model });
    this.#asked = this.#asked.filter(({ model }) => model.is === WAITS);
    for (const s of sessions) expect(this.#shown(s)).toEqual(this.#modelled(s));
    const paused = sessions.filter(({ holds }) => holds).map(({ key }) => key);
    expect({
      hanging: this.#desk.hangingPollCount,
      timers: this.#time.timerCount,
      paused: [...this.#desk.paused()].map(([key]) => key).sort(),
      heard: listeners.map(({ heard }) => heard),
    }).toEqual({
      hanging: waiters.length,
      timers: events.length,
      paused: paused.sort(),
      heard: listeners.map(({ said }) => said),
    });
  }

  #shown(s: Session): object {
    const { key } = s;
    const desk = this.#desk;
    const row = this.#store.rows.get(key);
    const isOf = (one: { tenant_id: string; session_id: string | null }) =>
      one.tenant_id === s.tenant && one.session_id === s.name;
    return {
      key,
      view: desk.view(key),
      pending: desk.pendingDirectives(key).map(told),
      answer: shownAnswer(desk.answerFor(key)),
      call: callText(desk.answerForCall(key)),
      held: this.#store.steps.filter((step) => step.held && isOf(step)).map(({ trace_id }) => trace_id),
      published: this.#harness.published.filter((trace) => trace.startsWith(`${key} `)),
      disk: row && { ...row, directives: row.directives.map(told) },
      audit: this.#store.audit
        .filter(isOf)
        .map(
          ({ at_ms, operator_id, action, before_state, after_state, outcome }) =>
            `${at_ms} ${operator_id} ${action} ${before_state}>${after_state} ${outcome}`,
        ),
      unexpectedWrites: this.#store.outcomes.get(key),
    };
  }

  #modelled(s: Session): object {
    // As often as the desk is asked: who looks keeps it in memory.
    for (let look = 0; look < 4; look += 1) this.#model.peek(s);
    const { row, disk } = s;
    return {
      key: s.key,
      view: {
        ...viewed(row),
        mode: row.isProxied ? 'enforced' : row.isCooperative ? 'cooperative' : 'observe_only',
        held_count: s.shelf === null ? 0 : s.held.length,
        pending_directive_count: s.pending.length,
      },
      pending: s.pending.map(brief),
      answer: answerText(s),
      call: this.#model.callText(s),
      held: s.held,
      published: s.published,
      disk: disk === null ? undefined : written(s, disk),
      audit: s.audit,
      unexpectedWrites: [],
    };
  }
}

const shownAnswer = ({ state, directives }: AgentControl): string =>
  JSON.stringify([state, directives.map(told)]);
const pollText = ({ state, cursor, directives }: ControlPollAnswer): string =>
  JSON.stringify([state, cursor, directives.map(told)]);
/** A call of a session that has ended is given nothing. */
const callText = ({ state, directives }: AgentControl): string => {
  const words = directives.filter(({ type }) => type === 'inject' && state !== 'terminated');
  return JSON.stringify([state, words.map(told)]);
};
const viewed = ({ state, by, reason, askedBy, sinceMs, expiresAtMs }: Row) => ({
  state,
  operator_id: by,
  reason,
  asked_by: askedBy,
  since_ms: sinceMs,
  expires_at_ms: expiresAtMs,
});
const written = ({ tenant, name }: Session, row: Row) => ({
  ...viewed(row),
  tenant_id: tenant,
  session_id: name,
  cooperative: row.isCooperative,
  proxied: row.isProxied,
  directive_seq: row.seq,
  directives: row.words.map(brief),
});

async function settle(): Promise<void> {
  for (let n = 0; n < 3; n += 1) await turn();
}

/** One of them has most to go through. */
const at = fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4);
const nth = fc.nat({ max: 3 });
const command = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Command>('pause', 'pause', 'resume') },
  { weight: 5, arbitrary: fc.constant<Command>('inject') },
  { weight: 2, arbitrary: fc.constant<Command>('rewrite') },
  { weight: 1, arbitrary: fc.constant<Command>('terminate') },
);
const kinds = {
  step: [12, { at, count: fc.constantFrom(1, 1, 1, 4) }],
  order: [16, { at, by: fc.constantFrom('ada', 'ben'), command, nth }],
  ask: [5, { at, agent: fc.constantFrom('a', 'b') }],
  poll: [
    8,
    {
      at,
      after: fc.constantFrom('none' as const, 'zero' as const, 0, 0, 0, 3),
      waitMs: fc.constantFrom(0, 5_000, 30_000),
      isAgent: fc.constantFrom(true, true, false),
    },
  ],
  call: [8, { at, waitMs: fc.constantFrom(0, 5_000, 30_000, 30_000), isHeard: fc.boolean() }],
  'hang up': [2, { nth }],
  ack: [3, { at, ahead: fc.constantFrom(0, 0, 0, 1, 3) }],
  'ack one': [3, { at, nth }],
  listen: [3, { at }],
  leave: [2, { nth }],
  wait: [
    16,
    {
      ms: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(100, 1_000, 3_000, 5_000, 9_999, 10_000, 30_000) },
        { weight: 2, arbitrary: fc.constantFrom(60_000, 2 * HOUR_MS) },
      ),
    },
  ],
  clock: [3, { ms: fc.constantFrom(-HOUR_MS, -4_000, 4_000, HOUR_MS) }],
  set: [
    3,
    {
      settings: fc.oneof(
        fc.record({ hitl_pause_ttl_ms: fc.constantFrom<unknown>(0, 10_000, 10_000, 60_000, 'soon') }),
        fc.record({ hitl_expiry_action: fc.constantFrom<unknown>('resume', 'resume', 'terminate') }),
      ),
    },
  ],
  store: [
    4,
    { isRefusing: fc.constantFrom(true, false, false), isBlind: fc.constantFrom(true, false, false) },
  ],
  refuse: [4, { inWrites: fc.nat({ max: 2 }) }],
  die: [2, { inWrites: fc.nat({ max: 4 }), isDone: fc.boolean() }],
  kill: [2, { downMs: fc.constantFrom(0, 500, 12_000, HOUR_MS) }],
  end: [2, { downMs: fc.constantFrom(0, 500, 12_000) }],
} as const;
type Given<Record> = {
  -readonly [Name in keyof Record]: Record[Name] extends fc.Arbitrary<infer Value> ? Value : never;
};
type ActOf<Do extends keyof typeof kinds> = { do: Do } & Given<(typeof kinds)[Do][1]>;
type Act = { [Do in keyof typeof kinds]: ActOf<Do> }[keyof typeof kinds];
const act = fc.oneof(
  ...Object.entries(kinds).map(([name, [weight, given]]) => ({
    weight,
    arbitrary: fc.record({ do: fc.constant(name), ...(given as object) }),
  })),
) as unknown as fc.Arbitrary<Act>;

const { pollsHangingMax, directivesPerSessionMax } = LIMITS;
beforeAll(
  () => void Object.assign(LIMITS, { pollsHangingMax: POLLS_MAX, directivesPerSessionMax: WORDS_MAX }),
);
afterAll(() => void Object.assign(LIMITS, { pollsHangingMax, directivesPerSessionMax }));

it(
  'control is kept, told, confirmed and ended as it is to be, and when, whatever anybody does',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(SMALL, CONTROL_BOUNDS),
        fc.array(act, { maxLength: 60, size: 'max' }),
        async (bounds, acts) => {
          const run = new Run(bounds);
          try {
            await run.start(0);
            for (const one of acts) await run.apply(one);
          } catch (error) {
            (error as Error).message += `\n${run.trail.join('\n')}`;
            throw error;
          }
        },
      ),
      modelRuns(30),
    );
  },
  RACES_MS,
);
