/**
 * Operators at two gateways at once, each with its own store, on one log; what each waits for comes in any order, and of what Redis took
 * it may say so too late. Once both have heard all, both hold what was said last, what was answered was told once, a
 * termination is final, and nothing waits in vain.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Command,
  type ControlLog,
  type ControlState,
  type ControlWrite,
  controlWordSchema,
  ObservatoryError,
  type SessionAct,
  type SessionKey,
  sessionKey,
} from '#contracts';
import { agentStateOf } from '#domain/hitl';
import { Interrupt } from '#kernel';
import { checkRaces, countingIds, FakeTime, letAllCome, RACES_MS } from '#testing';
import { DeskHarness, FakeStore, operator, TENANT } from '../hitl/desk.fixture.js';
import { FakeControlLog } from './control-log.fixture.js';
import { SharedControl } from './shared-control.js';

const GATEWAYS = ['here', 'there'] as const;
const SESSIONS = ['s-1', 's-2'] as const;
type Session = (typeof SESSIONS)[number];
const keyOf = (session: Session): SessionKey => sessionKey(TENANT, session);

/** Of what is sent to Redis: what becomes of it. */
type Fate = 'answered' | 'unsent' | 'unheard';
interface GatewayActs {
  operators: { at: Session; command: Exclude<Command, 'rewrite'> }[][];
  agent: { at: Session; does: 'step' | 'ask' | 'call' }[];
  looks: { do: 'look' }[];
  fates: Fate[];
  /** Of the store's writes, those that it refuses. */
  refused: readonly number[];
}
interface Acts {
  gateways: readonly [GatewayActs, GatewayActs];
  /** How many answers come in one turn. */
  together: number[];
}

/** Commits in order, when the scheduler says. */
class SlowStore extends FakeStore {
  override isManual = true;
  override releasedMax = 2;
  readonly states: [SessionKey, ControlState][] = [];
  #nth = 0;

  constructor(readonly gateway: Gateway) {
    super();
    const set = this.rows.set.bind(this.rows);
    this.rows.set = (key, row) => {
      this.states.push([key, row.state]);
      return set(key, row);
    };
  }

  override commitControl(write: ControlWrite) {
    return this.#write(() => super.commitControl(write));
  }
  override appendStep(key: SessionKey, traceId: string, isHeld: boolean) {
    return this.#write(() => super.appendStep(key, traceId, isHeld));
  }

  async #write<Result>(write: () => Promise<Result>): Promise<Result> {
    this.#nth += 1;
    if (this.gateway.acts.refused.includes(this.#nth) && !this.gateway.race.isFree) {
      await this.gateway.port('refusal');
      throw new ObservatoryError('store_busy');
    }
    const written = write();
    void this.gateway.port('write').then(() => this.commit(1));
    return written;
  }
}

/** One connection: what is sent arrives in order. */
class SlowLog implements ControlLog {
  readonly #sent: (() => void)[] = [];
  #nth = 0;

  constructor(readonly gateway: Gateway) {}

  append(text: string) {
    return this.#send('append', () => this.gateway.race.log.append(text));
  }
  readAfter(cursor: string | null, countMax: number) {
    return this.#send('read', () => this.gateway.race.log.readAfter(cursor, countMax));
  }

  async #send<Reply>(what: string, apply: () => Promise<Reply>): Promise<Reply> {
    const { fates } = this.gateway.acts;
    const fate = this.gateway.race.isFree ? 'answered' : fates[this.#nth % fates.length];
    this.#nth += 1;
    if (fate === 'unsent') {
      await this.gateway.port(`no ${what}`);
      throw new Error('away');
    }
    return new Promise((resolve, reject) => {
      this.#sent.push(() => {
        const reply = apply();
        void this.gateway.port(`answer to ${what}`).then(() => resolve(reply));
      });
      if (fate === 'unheard')
        void this.gateway.port(`timeout of ${what}`).then(() => reject(new Error('timeout')));
      void this.gateway.port(what).then(() => this.#sent.shift()?.());
    });
  }
}

class Gateway {
  readonly time = new FakeTime();
  readonly store = new SlowStore(this);
  readonly control: SharedControl;
  readonly calls: { at: Session; isOver: boolean }[] = [];
  /** Commands that an operator was told are in force. */
  readonly answered: string[] = [];
  harness!: DeskHarness;
  #serial = 0;

  constructor(
    readonly race: Race,
    readonly id: (typeof GATEWAYS)[number],
    readonly acts: GatewayActs,
  ) {
    this.control = new SharedControl({
      isStored: () => true,
      log: new SlowLog(this),
      gatewayId: id,
      store: { settings: async () => new Map(), saveSettings: async () => {} },
      obey: async ({ by, ageMs, left }) => {
        await this.port('obey');
        const act = left();
        if (act !== null) await this.desk.hear(by, act as SessionAct, ageMs, () => left() !== null);
      },
      events: {
        told: () => {},
        obeyed: () => {},
        notObeyed: () => {},
        unreachable: () => {},
        missed: () => expect.unreachable(),
      } as never,
      ids: countingIds(),
      clock: this.time,
      timer: this.time,
    });
  }

  get desk() {
    return this.harness.desk;
  }

  port(what: string): Promise<void> {
    return this.race.isFree ? Promise.resolve() : this.race.port(`${this.id}: ${what}`);
  }

  async begin(): Promise<void> {
    this.harness = await DeskHarness.start(this.store, this.time);
    this.harness.config.hitl_pause_ttl_ms = 0;
    for (const session of SESSIONS) await this.harness.session(session);
    this.desk.tell = (word) => this.control.tell(word);
  }

  run(): void {
    const { operators, agent, looks } = this.acts;
    for (const [nth, commands] of operators.entries())
      this.#actor(commands, async ({ at, command }) => {
        const text = `${this.id}-${nth}-${this.#serial++}`;
        const body = command === 'inject' ? { prompt: text } : { reason: text };
        const { note } = await this.desk.execute(operator(), at, command, body);
        this.race.note(`${this.id} answered ${command} of ${at}: ${note ?? 'ok'}`);
        this.answered.push(`${command} ${at}`);
        if (command === 'terminate') this.race.ended.add(at);
      });
    this.#actor(agent, async ({ at, does }) => {
      const key = keyOf(at);
      if (does === 'step') await this.harness.step(key, `${this.id}-step-${this.#serial++}`);
      else if (does === 'ask') await this.desk.askForPerson(key, 'a-1');
      else void this.#call(at);
    });
    this.#actor(looks, () => this.control.look());
  }

  async #call(at: Session): Promise<void> {
    const call = { at, isOver: false };
    this.calls.push(call);
    await this.desk.holdCall(keyOf(at), { waitMs: 1e9, interrupt: new Interrupt() });
    call.isOver = true;
  }

  /** One thing after the other; what is refused is no matter here. */
  #actor<Act>(acts: readonly Act[], act: (one: Act) => Promise<unknown>): void {
    void (async () => {
      for (const one of acts) {
        await this.port(JSON.stringify(one));
        this.race.note(`${this.id} ${JSON.stringify(one)}`);
        await act(one).catch((error: unknown) => {
          if (!(error instanceof ObservatoryError)) this.race.failures.push(error);
        });
      }
    })();
  }
}

class Race {
  readonly log = new FakeControlLog();
  readonly trail: string[] = [];
  readonly failures: unknown[] = [];
  /** Sessions of which an operator was told that they are terminated. */
  readonly ended = new Set<Session>();
  readonly gateways: readonly Gateway[];
  isFree = true;

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {
    this.gateways = GATEWAYS.map((id, nth) => new Gateway(this, id, acts.gateways[nth] as GatewayActs));
  }

  note(what: string): void {
    this.trail.push(what);
  }

  async port(what: string): Promise<void> {
    await this.scheduler.schedule(Promise.resolve(), what);
  }

  async begin(): Promise<void> {
    for (const gateway of this.gateways) await gateway.begin();
    this.isFree = false;
  }

  async run(): Promise<void> {
    for (const gateway of this.gateways) gateway.run();
    await letAllCome(this.scheduler, this.acts.together);
    this.isFree = true;
    for (let round = 0; round < 3; round += 1)
      for (const { control, desk, time } of this.gateways) {
        await control.look();
        await control.look();
        // A release that the store refused goes on.
        await time.pass(1_000);
        await desk.settled();
      }
    for (const failure of this.failures) throw failure;
  }

  check(): void {
    for (const { id, answered } of this.gateways) {
      const told = this.#words().flatMap(({ from, operator_id, act }) =>
        from === id && operator_id === operator().operator_id && act.kind === 'command'
          ? [`${act.command.command} ${act.session_id}`]
          : [],
      );
      expect([id, told.toSorted()]).toEqual([id, answered.toSorted()]);
    }
    for (const at of SESSIONS) {
      const last = this.#lastWordOn(at);
      for (const { id, desk, store, calls, control, harness } of this.gateways) {
        expect([id, control.waitingCount]).toEqual([id, 0]);
        const state = agentStateOf(desk.view(keyOf(at)).state);
        expect([id, at, state]).toEqual([id, at, last]);
        const ofSession = store.states.filter(([key]) => key === keyOf(at)).map(([, one]) => one);
        const end = ofSession.indexOf('terminated');
        if (end !== -1) expect(new Set(ofSession.slice(end))).toEqual(new Set(['terminated']));
        expect(store.rows.get(keyOf(at))?.state ?? 'active').toBe(desk.view(keyOf(at)).state);
        if (state === 'paused') continue;
        expect(calls.filter((call) => call.at === at && !call.isOver)).toEqual([]);
        const unseen = store.steps.filter(
          ({ session_id, trace_id }) => session_id === at && !harness.published.includes(trace_id),
        );
        expect(unseen.map(({ trace_id }) => trace_id)).toEqual([]);
      }
    }
  }

  #words() {
    return this.log.entries.map(({ text }) => {
      const json = JSON.parse(text) as { from: string };
      return { from: json.from, ...controlWordSchema.parse(json) };
    });
  }

  #lastWordOn(at: Session): string {
    const said = this.#words().flatMap(({ act }) =>
      act.kind === 'command' && act.session_id === at ? [act.command.command] : [],
    );
    if (said.includes('terminate') || this.ended.has(at)) return 'terminated';
    return said.filter((one) => one !== 'inject').at(-1) === 'pause' ? 'paused' : 'active';
  }
}

const at = fc.constantFrom(...SESSIONS);
const command = fc.constantFrom(
  'pause',
  'pause',
  'pause',
  'resume',
  'resume',
  'inject',
  'terminate',
) as fc.Arbitrary<Exclude<Command, 'rewrite'>>;
const gateway: fc.Arbitrary<GatewayActs> = fc.record({
  operators: fc.array(fc.array(fc.record({ at, command }), { maxLength: 4 }), { maxLength: 2 }),
  agent: fc.array(fc.record({ at, does: fc.constantFrom('step', 'step', 'ask', 'call') }), { maxLength: 5 }),
  looks: fc.array(fc.record({ do: fc.constant('look') }), { maxLength: 4 }) as fc.Arbitrary<{ do: 'look' }[]>,
  fates: fc.array(fc.constantFrom<Fate>('answered', 'answered', 'answered', 'unsent', 'unheard'), {
    minLength: 1,
    maxLength: 8,
  }),
  refused: fc.oneof(fc.constant([]), fc.uniqueArray(fc.integer({ min: 2, max: 12 }), { maxLength: 3 })),
}) as fc.Arbitrary<GatewayActs>;

it(
  'two desks on one log end alike, whatever crosses',
  async () => {
    const acts = fc.record({
      gateways: fc.tuple(gateway, gateway),
      together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    });
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 300);
  },
  RACES_MS,
);
