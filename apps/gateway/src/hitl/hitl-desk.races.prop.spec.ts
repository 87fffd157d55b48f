/**
 * Operators, the agent, its proxied calls, another gateway and the clock at once in one session; what they wait for comes in any order.
 * Whatever the order: a stop that was answered holds, nobody waits for ever, no word is lost, and memory is what the disk has.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AuditEntry,
  type Command,
  type ControlPollAnswer,
  type ControlState,
  type ControlView,
  type ControlWord,
  type ControlWrite,
  type Directive,
  ObservatoryError,
  type SessionAct,
  type SessionKey,
  sessionKey,
} from '#contracts';
import { Interrupt } from '#kernel';
import { checkRaces, FakeTime, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import { HeldCalls } from '../llm-proxy/calls/held-calls.js';
import { WaitingCalls } from '../llm-proxy/calls/waiting-calls.js';
import { buildProxyCall } from '../llm-proxy/proxy-call.fixture.js';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import { holdAgainStep, holdStep } from '../llm-proxy/steps/hold.step.js';
import { CONTROL_BOUNDS } from './control-bounds.js';
import { DeskHarness, FakeStore, operator, TENANT } from './desk.fixture.js';

const SESSIONS = ['s-1', 's-2'] as const;
type Session = (typeof SESSIONS)[number];
const keyOf = (session: Session): SessionKey => sessionKey(TENANT, session);
const PAUSE_TTL_MS = 60_000;
const EVE = { tenant_id: TENANT, operator_id: 'eve', role: 'operator', gateway_id: 'there' } as const;

type Said = Exclude<Command, 'rewrite'>;
type Acts = {
  [who in 'ada' | 'ben' | 'eve']: { at: Session; command: Said }[];
} & {
  agent: ({ at: Session } & ({ do: 'step' | 'ask' | 'listen' | 'ack' } | { do: 'poll'; isNew: boolean }))[];
  calls: { at: Session; isAnswered: boolean }[][];
  clock: { ms: number }[];
  leaving: { nth: number }[];
  /** Of the store's writes, those that it refuses. */
  refused: readonly number[];
  isExpiryEnd: boolean;
  /** Terminated sessions that memory keeps. */
  endedMax: number;
  /** How many writes it commits in one turn. */
  commits: number[];
  /** How many answers come in one turn. */
  together: number[];
};

/** Commits in order, when the scheduler says; what it reads is as it was at some moment in between. */
class RaceStore extends FakeStore {
  override isManual = true;
  override releasedMax = 2;
  readonly states = new Map<SessionKey, ControlState[]>();
  readonly appended: { key: SessionKey; traceId: string; isHeld: boolean; atTick: number }[] = [];
  isFree = false;
  refusedCount = 0;
  #nth = 0;

  constructor(readonly race: Race) {
    super();
    const set = this.rows.set.bind(this.rows);
    this.rows.set = (key, row) => {
      this.states.set(key, [...(this.states.get(key) ?? []), row.state]);
      return set(key, row);
    };
  }

  override commitControl(write: ControlWrite) {
    return this.#write('write', () => super.commitControl(write));
  }
  override appendStep(key: SessionKey, traceId: string, isHeld: boolean) {
    this.appended.push({ key, traceId, isHeld, atTick: this.race.tick() });
    return this.#write('step', () => super.appendStep(key, traceId, isHeld));
  }
  override async control(tenantId: string, sessionId: string) {
    await this.race.port('look');
    const row = await super.control(tenantId, sessionId);
    await this.race.port('seen');
    return row;
  }
  override async heldStep(tenantId: string, sessionId: string, traceId: string) {
    await this.race.port('look');
    return super.heldStep(tenantId, sessionId, traceId);
  }

  async #write<Result>(what: string, write: () => Promise<Result>): Promise<Result> {
    const { refused, commits } = this.race.acts;
    this.#nth += 1;
    if (!this.isFree && refused.includes(this.#nth)) {
      this.refusedCount += 1;
      await this.race.port(`refusal of a ${what}`);
      throw new ObservatoryError('store_busy');
    }
    const count = commits[this.#nth % commits.length] ?? 1;
    const written = write();
    void this.race.port(what).then(() => this.commit(count));
    return written;
  }
}

/** What somebody did, and when it began and was over. */
interface Deed {
  by: string;
  at: Session;
  command: Said;
  text: string;
  begin: number;
  beginMs: number;
  end: number;
  /** `ok`, a note, or why it was refused; null: it is under way. */
  outcome: string | null;
}

class Race extends RaceOfActors {
  readonly store: RaceStore;
  readonly time = new FakeTime();
  harness!: DeskHarness;
  readonly deeds: Deed[] = [];
  readonly sent: {
    id: string;
    at: Session;
    atTick: number;
    atMs: number;
    words: readonly string[];
    isAnswered: boolean;
  }[] = [];
  /** By the agent, from answers to its steps and polls. */
  readonly toldAgent = new Set<string>();
  readonly tellings: ControlWord[] = [];
  readonly heard: { at: Session; answers: ControlPollAnswer[] }[] = [];
  readonly held = new HeldCalls();
  readonly #waits = new Set<{ what: string; at: Session; after?: number | undefined; leave: () => void }>();
  #ticks = 0;
  #serial = 0;
  #steps!: { hold: ReturnType<typeof holdStep>; again: ReturnType<typeof holdAgainStep> };
  readonly #cursors = new Map<Session, number>();

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    this.store = new RaceStore(this);
  }

  tick(): number {
    this.#ticks += 1;
    return this.#ticks;
  }

  /** Of a session that may have left memory. */
  async view(at: Session): Promise<ControlView> {
    const { isFree } = this.store;
    this.store.isFree = true;
    await this.desk.poll(keyOf(at), { waitMs: 0, isAgent: false });
    this.store.isFree = isFree;
    return this.desk.view(keyOf(at));
  }

  override async port(what: string): Promise<void> {
    if (this.store.isFree) return;
    await this.scheduler.schedule(Promise.resolve(), what);
  }

  get desk() {
    return this.harness.desk;
  }

  async begin(): Promise<void> {
    this.store.isFree = true;
    this.harness = await DeskHarness.start(this.store, this.time, {
      ...CONTROL_BOUNDS,
      terminatedKeptMax: this.acts.endedMax,
    });
    const { port } = this;
    this.harness.config.hitl_expiry_action = this.acts.isExpiryEnd ? 'terminate' : 'resume';
    Object.defineProperty(this.harness, 'showing', { get: () => port.call(this, 'show') });
    this.harness.config.hitl_pause_ttl_ms = PAUSE_TTL_MS;
    for (const session of SESSIONS) await this.harness.session(session);
    this.desk.tell = (word) => void this.tellings.push(word);
    this.store.isFree = false;
    const hold = holdStep({
      desk: this.desk,
      held: this.held,
      waiting: new WaitingCalls(),
      standing: () => undefined,
      holdMs: 1e9,
      streamHoldMs: 1e9,
      onChanged: () => {},
      onTakeFailed: () => {},
    });
    this.#steps = { hold, again: holdAgainStep(hold) };
  }

  override note(what: string): void {
    this.trail.push(`${this.tick()} ${what}`);
  }

  async run(): Promise<void> {
    const { acts } = this;
    for (const by of ['ada', 'ben'] as const)
      void this.actor(by, acts[by], ({ at, command }) => this.#command(by, at, command));
    void this.actor('eve', acts.eve, ({ at, command }) => this.#hear(at, command));
    void this.actor('agent', acts.agent, (act) => this.#agent(act));
    for (const [nth, calls] of acts.calls.entries())
      void this.actor(`client ${nth}`, calls, (act) => this.#call(act));
    void this.actor('clock', acts.clock, ({ ms }) => this.time.pass(ms));
    void this.actor('leaving', acts.leaving, async ({ nth }) => [...this.#waits][nth]?.leave());
    await this.idle();
    for (let round = 0; this.busyCount > 0; round += 1) {
      expect(round, 'somebody waits for ever').toBeLessThan(30);
      await this.#nobodyWaitsInVain();
      for (const at of SESSIONS) {
        const { state } = await this.view(at);
        if (state !== 'active' && state !== 'terminated') {
          void this.#command('end', at, 'resume');
          await this.idle();
        }
      }
      await this.#nobodyWaitsInVain();
      for (const wait of [...this.#waits]) if (wait.what === 'poll') wait.leave();
      await this.idle();
    }
  }

  async idle(): Promise<void> {
    await letAllCome(this.scheduler, this.acts.together);
  }

  async #nobodyWaitsInVain(): Promise<void> {
    for (const { what, at, after } of this.#waits) {
      const { state } = await this.view(at);
      if (what === 'call')
        expect([what, at, state]).toEqual([what, at, expect.stringMatching(/pause|expired/)]);
      else {
        this.store.isFree = true;
        const { cursor } = await this.desk.poll(keyOf(at), { waitMs: 0, isAgent: false });
        this.store.isFree = false;
        if (after !== undefined) expect([what, at, cursor]).toEqual([what, at, after]);
      }
    }
  }

  async #deed(
    by: string,
    at: Session,
    command: Said,
    text: string,
    doing: () => Promise<string>,
  ): Promise<void> {
    const begin = this.tick();
    const deed: Deed = {
      by,
      at,
      command,
      text,
      begin,
      beginMs: this.time.steadyMs(),
      end: Infinity,
      outcome: null,
    };
    this.deeds.push(deed);
    deed.outcome = await doing().catch((error: unknown) => {
      if (!(error instanceof ObservatoryError)) throw error;
      return error.detail?.includes('takes its time') ? 'late' : error.code;
    });
    deed.end = this.tick();
    this.note(`${by} ${command} ${text} was answered ${deed.outcome}`);
  }

  #text(prefix: string): string {
    this.#serial += 1;
    return `${prefix}-${this.#serial}`;
  }

  #command(by: string, at: Session, command: Said): Promise<void> {
    const text = this.#text(command);
    const body = command === 'inject' ? { prompt: text } : { reason: text };
    return this.#deed(by, at, command, text, async () => {
      const { note = 'ok' } = await this.desk.execute(operator(by), at, command, body);
      return note;
    });
  }

  #hear(at: Session, command: Said): Promise<void> {
    const text = this.#text(command);
    const said = command === 'inject' ? { command, prompt: text } : { command, reason: text };
    const act = { kind: 'command', session_id: at, command: said, directive_id: text } as SessionAct;
    return this.#deed('eve', at, command, text, async () => {
      await this.desk.hear(EVE, act, 0, () => true);
      return 'heard';
    });
  }

  #isTold({ directives }: { directives: Directive[] }): void {
    for (const { prompt } of directives) if (prompt !== undefined) this.toldAgent.add(prompt);
  }

  async #agent(act: Acts['agent'][number]): Promise<void> {
    const { at } = act;
    const key = keyOf(at);
    if (act.do === 'poll') await this.#poll(at, act.isNew);
    else if (act.do === 'step') {
      const begin = this.tick();
      const answer = await this.harness.step(key, this.#text(`${at} step`)).catch(() => null);
      if (answer === null) return;
      this.#isTold(answer);
      this.#mustAgree(`a step answered ${answer.state}`, at, answer.state, begin);
    } else if (act.do === 'ask')
      await this.#deed('agent', at, 'pause', '', async () => {
        await this.desk.askForPerson(key, 'a-1');
        return 'heard';
      });
    else if (act.do === 'listen') {
      const answers: ControlPollAnswer[] = [];
      this.heard.push({ at, answers });
      this.desk.attachListener(key, (answer) => {
        answers.push(answer);
        this.#isTold(answer);
      });
    } else await this.desk.acknowledge(key, this.#cursors.get(at) ?? 0).catch(() => {});
  }

  async #poll(at: Session, isNew: boolean): Promise<void> {
    const key = keyOf(at);
    const interrupt = new Interrupt();
    const after = isNew ? undefined : this.#cursors.get(at);
    const wait = { what: 'poll', at, after, leave: () => interrupt.raise() };
    this.#waits.add(wait);
    const begin = this.tick();
    try {
      const answer = await this.desk.poll(key, { after, waitMs: 1e9, isAgent: true, interrupt });
      if (interrupt.isRaised) return;
      this.desk.noteDelivered(key, answer);
      this.#isTold(answer);
      expect(answer.cursor).toBeGreaterThanOrEqual(this.#cursors.get(at) ?? 0);
      this.#cursors.set(at, answer.cursor);
      this.#mustAgree(`a poll answered ${answer.state}`, at, answer.state, begin);
    } catch (error) {
      if (!(error instanceof ObservatoryError)) throw error;
    } finally {
      this.#waits.delete(wait);
    }
  }

  /** As the proxy's pipeline does: held, then other steps that may wait, and each time asked once more. */
  async #call({ at, isAnswered }: Acts['calls'][number][number]): Promise<void> {
    const id = this.#text('call');
    const body = { model: 'm', messages: [{ role: 'user', content: 'Go on' }] };
    const call = buildProxyCall({ id, sessionId: at, tenantId: TENANT, body });
    const wait = { what: 'call', at, leave: () => call.leave() };
    this.#waits.add(wait);
    try {
      if (await this.#isLetThrough(call)) await this.#forward(call, at, isAnswered);
    } finally {
      this.#waits.delete(wait);
    }
    this.#steps.hold.settle?.(call);
  }

  async #isLetThrough(call: ProxyCall): Promise<boolean> {
    const { hold, again } = this.#steps;
    for (const step of [hold, again, again]) {
      const result = step.run?.(call);
      // Which no call pays a turn for where there is nothing to wait for.
      const verdict = result instanceof Promise ? await result.catch(() => 'refused') : result;
      if (verdict !== undefined || call.isGone) return false;
      if (step !== hold) continue;
      await this.port('embedding');
      if (call.isGone) return false;
    }
    return true;
  }

  async #forward(call: ProxyCall, at: Session, isAnswered: boolean): Promise<void> {
    const words = call.injections;
    const sending = {
      id: call.id,
      at,
      atTick: this.tick(),
      atMs: this.time.steadyMs(),
      words,
      isAnswered: false,
    };
    this.sent.push(sending);
    this.note(`${call.id} is sent with ${words.join()}`);
    let isCut = false;
    const look = () => {
      isCut ||= this.desk.answerFor(keyOf(at)).state === 'terminated';
    };
    const unwatch = this.desk.onChanged(keyOf(at), look);
    look();
    if (isCut) this.sent.pop();
    await this.port('upstream');
    unwatch();
    call.isAnswered = sending.isAnswered = isAnswered && !isCut && !call.isGone;
    this.note(`${call.id} ends${call.isAnswered ? '' : ' without an answer'}`);
  }

  /** A stop that was answered before `atTick` is in force then, unless something that lets go was under way since it began. */
  stopped(at: Session, atTick: number, atMs: number, endTick = atTick): Deed | undefined {
    const here = this.deeds.filter((deed) => deed.at === at);
    const answered = here.filter(({ end, outcome }) => end < atTick && outcome !== null);
    const ended = answered.find(
      ({ command, outcome }) => command === 'terminate' && /ok|already|heard/.test(outcome ?? ''),
    );
    if (ended !== undefined) return ended;
    return answered
      .filter(({ command, outcome }) => command === 'pause' && /^(ok|already_paused)$/.test(outcome ?? ''))
      .find((stop) => {
        const isExpired = atMs - (stop.outcome === 'ok' ? stop.beginMs : 0) >= PAUSE_TTL_MS;
        const isLetGo = here.some(
          ({ command, begin, end }) => command === 'resume' && begin < endTick && end > stop.begin,
        );
        return !isExpired && !isLetGo;
      });
  }

  #mustAgree(what: string, at: Session, state: string, beginTick: number): void {
    const stop = this.stopped(at, beginTick, this.time.steadyMs(), this.tick());
    // One that was used since it began left memory: with more places than one, thousands would have to be used in between.
    if (stop?.command === 'terminate' && this.acts.endedMax === 1) return;
    if (stop !== undefined && state === 'active') expect([what, 'behind', stop]).toEqual([]);
    if (stop?.command === 'terminate')
      expect([what, at]).toEqual([`${what.split(' answered')[0]} answered terminated`, at]);
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    for (const { id, at, atTick, atMs } of this.sent)
      expect([id, this.stopped(at, atTick, atMs)]).toEqual([id, undefined]);
    for (const { key, traceId, isHeld, atTick } of this.store.appended) {
      const at = SESSIONS.find((one) => keyOf(one) === key) as Session;
      const stop = this.stopped(at, atTick, 0);
      if (stop?.command === 'pause' && this.time.steadyMs() < PAUSE_TTL_MS && !isHeld)
        expect([traceId, stop]).toEqual([]);
    }
    this.#checkAudit();
    await this.#checkWords();
    // What the store has refused is tried again.
    this.store.isFree = true;
    for (let nth = 0; nth < 10; nth += 1) await this.#passFree(1_000);
    await this.desk.settled();
    for (const at of SESSIONS) await this.#checkSession(at);
    expect([this.desk.hangingPollCount, this.held.count]).toEqual([0, 0]);
    await this.#checkDisk();
  }

  async #passFree(ms: number): Promise<void> {
    await this.time.pass(ms);
    this.store.commit();
    for (let nth = 0; nth < 3; nth += 1) {
      await turn();
      this.store.commit();
    }
  }

  #auditOf({ text }: Deed): AuditEntry[] {
    return this.store.audit.filter(
      ({ detail }) => text !== '' && (detail.reason === text || detail.prompt === text),
    );
  }

  #checkAudit(): void {
    for (const deed of this.deeds) {
      if (deed.text === '') continue;
      const outcomes = this.#auditOf(deed).map(({ outcome }) => outcome);
      const { by, command, text, outcome } = deed;
      // How one ends that the disk takes its time for, nobody is told.
      if (by === 'eve' || outcome === 'late')
        expect([text, outcomes.length]).toEqual([text, Math.min(1, outcomes.length)]);
      else
        expect([by, command, text, outcomes]).toEqual([
          by,
          command,
          text,
          outcome === 'store_busy' ? [] : [outcome],
        ]);
    }
    for (const at of SESSIONS) {
      let before = 'active';
      for (const entry of this.store.audit.filter(({ session_id }) => session_id === at)) {
        expect([entry.action, entry.before_state]).toEqual([entry.action, before]);
        before = entry.after_state as string;
      }
      const audited = this.store.audit.filter(
        ({ session_id, outcome, operator_id, action }) =>
          session_id === at &&
          /ok|already|not_paused/.test(outcome) &&
          operator_id !== 'eve' &&
          operator_id !== 'system' &&
          !action.startsWith('hitl'),
      );
      const told = this.tellings.flatMap(({ act, operator_id }) =>
        act.kind === 'command' && act.session_id === at && operator_id !== 'system'
          ? [`${operator_id} ${act.command.command}`]
          : [],
      );
      expect(told).toEqual(audited.map(({ operator_id, action }) => `${operator_id} ${action}`));
    }
  }

  async #checkWords(): Promise<void> {
    for (const { text, at, command, outcome } of this.deeds) {
      if (command !== 'inject') continue;
      const key = keyOf(at);
      const given = this.sent.filter(({ words }) => words.includes(text));
      const heard = given.filter(({ isAnswered }) => isAnswered);
      if (this.store.refusedCount === 0) expect([text, heard.length <= 1]).toEqual([text, true]);
      if (outcome !== 'ok' || (await this.view(at)).state === 'terminated') continue;
      const waits = this.desk.pendingDirectives(key).some(({ prompt }) => prompt === text);
      expect([text, waits || heard.length > 0 || this.toldAgent.has(text)]).toEqual([text, true]);
      if (this.store.refusedCount === 0)
        expect([text, 'heard and waits', waits && heard.length > 0]).toEqual([
          text,
          'heard and waits',
          false,
        ]);
    }
  }

  async #checkSession(at: Session): Promise<void> {
    const key = keyOf(at);
    const steps = this.store.steps.filter(({ session_id }) => session_id === at);
    const traces = steps.filter(({ held }) => !held).map(({ trace_id }) => trace_id);
    expect(this.harness.published.filter((trace) => trace.startsWith(at))).toEqual(traces);
    const view = await this.view(at);
    expect(steps.some(({ held }) => held) && /active|terminated/.test(view.state)).toBe(false);
    const last = this.harness.views.get(key);
    // What its agent showed may be forgotten with a session that has ended.
    if (last !== undefined) {
      const { mode, pending_directive_count } = view;
      // So may the word of an expired pause; and what was taken is counted where the store refuses to hear of it.
      const isOther = view.operator_id === 'system' || this.store.refusedCount > 0;
      expect({ ...last, mode, ...(isOther && { pending_directive_count }) }).toEqual(view);
    }
    for (const { answers } of this.heard.filter((one) => one.at === at)) {
      const cursors = answers.map(({ cursor }) => cursor);
      expect(cursors).toEqual([...cursors].sort((one, other) => one - other));
      const end = answers.findIndex(({ state }) => state === 'terminated');
      if (end !== -1) expect(answers.slice(end).every(({ state }) => state === 'terminated')).toBe(true);
    }
    const states = this.store.states.get(key) ?? [];
    const end = states.indexOf('terminated');
    if (end !== -1) expect(states.slice(end).every((state) => state === 'terminated')).toBe(true);
  }

  /** What a start reads is what was in force. */
  async #checkDisk(): Promise<void> {
    const again = await DeskHarness.start(this.store, new FakeTime(this.time.nowMs()));
    for (const at of SESSIONS) {
      const key = keyOf(at);
      await again.desk.recall(key);
      const of = async (harness: DeskHarness) => {
        const { state, cursor } = await harness.desk.poll(key, { waitMs: 0, isAgent: false });
        const { mode: _, pending_directive_count: __, ...view } = harness.desk.view(key);
        return { at, state, cursor, view };
      };
      expect(await of(again)).toEqual(await of(this.harness));
      const pending = (harness: DeskHarness) =>
        harness.desk
          .pendingDirectives(key)
          .filter(({ type }) => type !== 'resume')
          .map(({ seq, type }) => `${seq} ${type}`);
      if (this.store.refusedCount === 0) expect([at, pending(again)]).toEqual([at, pending(this.harness)]);
      else expect(pending(again)).toEqual(expect.arrayContaining(pending(this.harness)));
    }
  }
}

const at = fc.constantFrom<Session>('s-1', 's-1', 's-1', 's-2');
const command = fc.constantFrom<Said>(
  'pause',
  'pause',
  'pause',
  'resume',
  'resume',
  'inject',
  'inject',
  'terminate',
);
const commands = fc.array(fc.record({ at, command }), { maxLength: 4 });
const few = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
const acts: fc.Arbitrary<Acts> = fc.record({
  ada: commands,
  ben: commands,
  eve: fc.array(fc.record({ at, command }), { maxLength: 2 }),
  agent: fc.array(
    fc.oneof(
      fc.record({
        at,
        do: fc.constantFrom('step' as const, 'step' as const, 'ask' as const, 'listen' as const),
      }),
      fc.record({ at, do: fc.constant('ack' as const) }),
      fc.record({ at, do: fc.constant('poll' as const), isNew: fc.boolean() }),
    ),
    { maxLength: 6 },
  ),
  calls: fc.array(
    fc.array(fc.record({ at, isAnswered: fc.constantFrom(true, true, false) }), { maxLength: 3 }),
    {
      maxLength: 3,
    },
  ),
  clock: fc.array(fc.record({ ms: fc.constantFrom(1_000, 30_000, 61_000, 61_000, 7_300_000) }), {
    maxLength: 2,
  }),
  leaving: fc.array(fc.record({ nth: fc.nat({ max: 2 }) }), { maxLength: 2 }),
  refused: fc.oneof(fc.constant<number[]>([]), fc.array(fc.integer({ min: 3, max: 25 }), { maxLength: 3 })),
  isExpiryEnd: fc.boolean(),
  endedMax: fc.constantFrom(1, 2),
  commits: few,
  together: few,
});

it(
  'at once, in any order: a stop holds, nobody waits for ever, no word is lost, and the disk has what is in force',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 100);
  },
  RACES_MS,
);
