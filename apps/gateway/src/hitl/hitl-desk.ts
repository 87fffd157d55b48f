/**
 * The control of all sessions: what operators command and what agents are told. Composes the parts of this folder;
 * each is a file. What counts as what:
 *
 *     told            an ingest answer, a poll's answer or a push carried the directive: at least once
 *     taken           the agent's next step (for what an ingest answer carried; a step that the proxy made of a call carries
 *                     nothing), a poll's `after`, an acknowledgement; guidance, a model's answer to the call that carried it
 *     acknowledged    a poll's answer with the pause left for a client that was still connected, or a socket or
 *                     POST .../control/ack confirmed it. An ingest answer merely informs.
 *
 * Operators may look at the poll too; they take and acknowledge nothing.
 */
import {
  type AgentControl,
  type Command,
  type CommandAnswer,
  type ControlPollAnswer,
  type ControlView,
  type DecisionStore,
  type Directive,
  type LivePublisher,
  type OperatorPrincipal,
  type RuntimeConfigSource,
  type SessionAct,
  type SessionKey,
  sessionKey,
  splitSessionKey,
  type TellGateways,
} from '#contracts';
import { agentStateOf, type Confirmation } from '#domain/hitl';
import { type Clock, type IdSource, type Interrupt, type Timer, UnderWay } from '#kernel';
import type { SessionDirectory } from '../decision-log/session-directory.js';
import type { Relayed } from '../shared-control/shared-control.js';
import { storedInTime } from '../stored-in-time.js';
import { CommandRunner, SYSTEM_ACTOR } from './command-runner.js';
import { Confirmations, type ConfirmedVia } from './confirmations.js';
import type { ControlBounds } from './control-bounds.js';
import { ControlDelivery, type ControlListener } from './control-delivery.js';
import type { ControlDesk } from './control-desk.js';
import {
  agentControl,
  type ControlEntry,
  callControl,
  controlView,
  newEntry,
  pauseLeftMs,
  pending,
  pollAnswer,
  waiting,
} from './control-entry.js';
import { ControlRegistry } from './control-registry.js';
import { ControlWriter } from './control-writer.js';
import { ExpiryTimer } from './expiry-timer.js';
import { HeldGate } from './held-gate.js';
import type { HitlEvents } from './hitl-events.js';
import { SessionTurns } from './session-turns.js';

export interface HitlPorts {
  store: Pick<DecisionStore, 'controls' | 'control' | 'heldCounts' | 'heldStep' | 'commitControl'>;
  live: LivePublisher;
  clock: Clock;
  timer: Timer;
  ids: IdSource;
  config: RuntimeConfigSource;
  events: HitlEvents;
  bounds?: ControlBounds | undefined;
}

export interface ControlPoll {
  /** Cursor of the last answer; what is up to here is taken. Absent: everything that waits. */
  after?: number | undefined;
  /** 0 = answer at once. */
  waitMs: number;
  /** An agent takes, acknowledges and becomes cooperative by polling; an operator only looks. */
  isAgent: boolean;
  /** Aborts when the client hangs up: its place is free again. */
  interrupt?: Interrupt | undefined;
}

/** A listener that could not be told of what the store knows is told after this. */
const LOOK_RETRY_MS = 1_000;

export class HitlDesk implements ControlDesk {
  readonly #ports: HitlPorts;
  readonly #registry: ControlRegistry;
  readonly #delivery: ControlDelivery;
  readonly #writer: ControlWriter;
  readonly #gate: HeldGate;
  readonly #runner: CommandRunner;
  readonly #turns: SessionTurns;
  readonly #confirmations: Confirmations;
  readonly #expiry: ExpiryTimer;
  /** Operators' pauses and terminations that are not written yet: a call that comes meanwhile waits for what comes of them. */
  readonly #stops = new UnderWay<SessionKey>();
  #isDraining = false;
  /** To be set where other gateways are to hear what is commanded here. */
  tell: TellGateways = () => {};
  /** With it: until what they have commanded is in force here, as far as can be known. Never rejects. */
  hearOthers: () => Promise<void> = async () => {};

  constructor(ports: HitlPorts) {
    this.#ports = ports;
    this.#registry = new ControlRegistry(ports);
    this.#delivery = new ControlDelivery(ports);
    const registry = this.#registry;
    const writer = new ControlWriter({ ...ports, registry, delivery: this.#delivery });
    const gate = new HeldGate(registry, writer);
    const tell: TellGateways = (word) => this.tell(word);
    const runner = new CommandRunner({ ...ports, registry, writer, tell });
    const turns = new SessionTurns({ ...ports, registry, gate, writer });
    this.#writer = writer;
    this.#gate = gate;
    this.#runner = runner;
    this.#turns = turns;
    this.#confirmations = new Confirmations({ ...ports, registry, runner, turns, writer, tell });
    this.#expiry = new ExpiryTimer({
      ...ports,
      expiring: () => this.#expiring(),
      beforehand: () => this.hearOthers(),
      expire: (key) =>
        turns.alone(key, async (entry) => {
          await runner.expire(entry);
          await turns.drainOrDefer(entry);
          await turns.shelve(entry);
        }),
    });
  }

  /** Reads every session under control. Before the gateway listens; rejects as the store does. */
  async load(): Promise<void> {
    await this.#registry.loadAll();
  }

  /** Ties the session directory in, and finishes releases a crash cut short. After `load`. */
  connect(sessions: SessionDirectory): void {
    this.#writer.connect(sessions);
    for (const entry of [...this.#registry.boundEntries()]) if (entry.draining) this.#turns.drainLater(entry);
  }

  /** Starts the clock on pauses. Once what other gateways said is heard: they may have ended them, and are told what expires here. */
  startClock(): void {
    this.#expiry.start();
  }

  /** Answers every hanging poll, stops expiring, and waits for the commands that are under way. Never rejects. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#expiry.stop();
    this.#turns.stop();
    this.#delivery.drain();
    await this.settled();
  }

  /** Resolves when no command, acknowledgement or release is under way. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  get hangingPollCount(): number {
    return this.#delivery.hangingCount;
  }

  // ---- operators

  /**
   * One command by an operator. Throws the catalogue's refusals; 503 when the store refuses, and nothing changed. A stop that the store
   * takes its time for is told as that, and goes on.
   */
  execute(
    operator: OperatorPrincipal,
    sessionId: string,
    command: Command,
    body: unknown,
  ): Promise<CommandAnswer> {
    const key = sessionKey(operator.tenant_id, sessionId);
    const carryOut = (entry: ControlEntry) => this.#runner.execute(entry, operator, command, body);
    const done = this.#command(key, command, carryOut);
    return STOPS.has(command) ? storedInTime(done, this.#ports.timer, NOT_STORED_YET) : done;
  }

  /**
   * What happened at another gateway is in force here, too. Throws the catalogue's refusals; rejects as the store does.
   * @param ageMs since it was told: its pause expires as if it had been given here then
   * @param isLeft asked when its turn has come: it may be too late by then
   */
  async hear(by: Relayed, act: SessionAct, ageMs: number, isLeft: () => boolean): Promise<void> {
    const key = sessionKey(by.tenant_id, act.session_id);
    if (act.kind === 'command') {
      const { command, directive_id: directiveId } = act;
      const atMs = this.#ports.clock.nowMs() - ageMs;
      await this.#command(key, command.command, async (entry) => {
        const isMeant = isLeft() && (command.command !== 'inject' || (await this.#runner.isSeen(entry)));
        return isMeant ? this.#runner.run(entry, by, command, { directiveId, atMs }) : { status: 'ok' };
      });
    } else if (act.kind === 'guided') {
      await this.confirm(key, { kind: 'taken_ids', directiveIds: act.directive_ids }, 'gateway');
    } else {
      const { directive_seq: upToSeq } = (await this.#registry.load(key)).row;
      await this.confirm(key, { kind: 'shown', upToSeq }, 'gateway');
    }
  }

  #command(
    key: SessionKey,
    command: Command,
    carryOut: (entry: ControlEntry) => Promise<CommandAnswer>,
  ): Promise<CommandAnswer> {
    const beginTurn = this.#gate.standAside(key);
    const endStop = STOPS.has(command) ? this.#stops.begin(key) : () => {};
    return this.#turns
      .alone(key, async (entry) => {
        beginTurn();
        const answer = await carryOut(entry);
        this.#watch(entry);
        // Nobody waits for what another command lets go: it follows.
        if (answer.flushed_count === undefined) return answer;
        const flushedCount = await this.#turns.drainOrDefer(entry);
        return { ...answer, flushed_count: answer.flushed_count + flushedCount };
      })
      .finally(() => {
        beginTurn();
        endStop();
        this.#delivery.wakeCalls(key);
      });
  }

  async pauseBySystem(key: SessionKey, reason: string): Promise<boolean> {
    if (this.#pausedAtRest(key) !== undefined) return true;
    return this.#turns.alone(key, async (entry) => {
      if (!isPaused(entry)) await this.#pauseAsSystem(entry, reason);
      return isPaused(entry);
    });
  }

  async askForPerson(key: SessionKey, agentId: string): Promise<void> {
    if (this.#pausedAtRest(key)?.row.asked_by.includes(agentId)) return;
    await this.#turns.alone(key, async (entry) => {
      if (isPaused(entry)) await this.#runner.noteAsker(entry, agentId);
      else await this.#pauseAsSystem(entry, 'hitl_required', agentId);
    });
  }

  /** Already durable, and nothing under way that could end it: the ingest path need not queue. */
  #pausedAtRest(key: SessionKey): ControlEntry | undefined {
    const entry = this.#registry.bound(key);
    return entry !== undefined && isPaused(entry) && !this.#turns.isBusy(key) ? entry : undefined;
  }

  async #pauseAsSystem(entry: ControlEntry, reason: string, askedBy?: string): Promise<void> {
    if (entry.row.state === 'terminated') return;
    await this.#runner.run(entry, SYSTEM_ACTOR, { command: 'pause', reason }, { askedBy });
    this.#watch(entry);
  }

  view(key: SessionKey): ControlView {
    return controlView(this.#registry.peek(key) ?? UNKNOWN);
  }

  pendingDirectives(key: SessionKey): Directive[] {
    return pending(this.#registry.peek(key) ?? UNKNOWN);
  }

  *paused(): IterableIterator<[SessionKey, ControlView]> {
    for (const entry of this.#registry.pausedEntries()) yield [entry.key, controlView(entry)];
  }

  // ---- the ingest path

  recall(key: SessionKey): Promise<void> | null {
    return this.#registry.mayHaveLeft(key) ? this.#registry.load(key).then(() => {}) : null;
  }

  isHolding(key: SessionKey): boolean {
    return this.#gate.isHolding(key);
  }

  noteHeld(key: SessionKey): void {
    if (this.#gate.noteHeld(key)) this.#turns.drainLater(this.#registry.open(key));
    else this.#writer.sessions.setControl(key, this.view(key));
  }

  answerFor(key: SessionKey): AgentControl {
    const entry = this.#registry.peek(key);
    return entry === undefined ? NOT_COMMANDED : agentControl(entry);
  }

  answerForCall(key: SessionKey): AgentControl {
    const entry = this.#registry.peek(key);
    return this.#forCall(key, entry === undefined ? NOT_COMMANDED : callControl(entry));
  }

  noteStep(key: SessionKey): void {
    const entry = this.#registry.peek(key);
    if (entry !== undefined) this.#confirmations.noteStep(entry);
  }

  // ---- agents that listen

  /** Throws `too_many_polls`, and `draining` where it would hang; rejects as the store does. */
  async poll(
    key: SessionKey,
    { after, waitMs, isAgent, interrupt }: ControlPoll,
  ): Promise<ControlPollAnswer> {
    const entry = await this.#registry.load(key);
    if (isAgent) {
      this.#confirmations.show(entry, 'cooperative');
      if (after !== undefined && after <= entry.row.directive_seq) this.#confirmations.take(entry, after);
    }
    const { state, directive_seq } = entry.row;
    const isNews =
      after === undefined ? state !== 'active' || waiting(entry).length > 0 : directive_seq !== after;
    if (!isNews && waitMs > 0) await this.#delivery.hang(key, waitMs, interrupt);
    return pollAnswer(this.#registry.open(key), after);
  }

  /** A poll's answer left for an agent that was still connected: a pause it carries is acknowledged. Never throws. */
  noteDelivered(key: SessionKey, answer: ControlPollAnswer): void {
    if (answer.state !== 'paused' || this.#registry.bound(key)?.row.state !== 'pause_requested') return;
    this.#confirmations.confirmSoon(key, { kind: 'shown', upToSeq: answer.cursor }, 'poll');
  }

  /** @param push called at once if the session was ever commanded, then at every change; must not block. */
  attachListener(key: SessionKey, push: ControlListener): () => void {
    const entry = this.#registry.open(key);
    this.#confirmations.show(entry, 'cooperative');
    const detach = this.#delivery.listen(key, push);
    // Also where all is taken: a pause may have ended while this one was away, and another one heard of it.
    if (entry.row.directive_seq > 0) this.#delivery.push(key, push, pollAnswer(entry));
    else if (!entry.known) return this.#tellFromStore(key, push, detach);
    return detach;
  }

  /**
   * A session that was ever commanded may have ended its pause while nobody listened. Asked again until the store answers:
   * after a restart all agents come at once, and who is not told would wait for ever.
   */
  #tellFromStore(key: SessionKey, push: ControlListener, detach: () => void): () => void {
    // Not by `show`, before this is known.
    const isUnshown = this.#registry.mayHaveLeft(key);
    let isListening = true;
    let cancelRetry = () => {};
    const look = (isFirst: boolean): void => {
      this.#registry.load(key).then(
        (entry) => {
          if (isUnshown) this.#writer.publishControl(entry);
          if (isListening && entry.row.directive_seq > 0) this.#delivery.push(key, push, pollAnswer(entry));
        },
        (error: unknown) => {
          if (isFirst) this.#ports.events.lookFailed(key, error);
          if (isListening) cancelRetry = this.#ports.timer.after(LOOK_RETRY_MS, () => look(false));
        },
      );
    };
    look(true);
    return () => {
      isListening = false;
      cancelRetry();
      detach();
    };
  }

  /** @see Confirmations */
  confirm(key: SessionKey, confirmed: Confirmation, via: ConfirmedVia): Promise<boolean> {
    return this.#confirmations.confirm(key, confirmed, via);
  }

  async acknowledge(key: SessionKey, seq: number): Promise<void> {
    await this.confirm(key, { kind: 'taken', upToSeq: seq }, 'socket');
  }

  // ---- the proxy

  noteProxied(key: SessionKey): void {
    const entry = this.#registry.open(key);
    // Not held: with this call its agent does what a resume says.
    if (entry.row.state === 'active') this.#confirmations.takeObeyed(entry);
    this.#confirmations.show(entry, 'proxied');
  }

  async holdCall(
    key: SessionKey,
    { waitMs, interrupt }: { waitMs: number; interrupt: Interrupt },
  ): Promise<AgentControl> {
    const untilMs = this.#ports.clock.steadyMs() + waitMs;
    await this.#registry.load(key);
    let shownSeq = 0;
    for (;;) {
      const now = this.#registry.open(key);
      const { state, directive_seq } = now.row;
      if (state === 'pause_requested' && directive_seq > shownSeq) {
        shownSeq = directive_seq;
        this.#confirmations.confirmSoon(key, { kind: 'shown', upToSeq: directive_seq }, 'proxy');
      }
      const control = this.#forCall(key, callControl(now));
      const remainingMs = untilMs - this.#ports.clock.steadyMs();
      const isWaiting = control.state === 'paused' && !interrupt.isRaised && !this.#isDraining;
      if (!isWaiting || remainingMs <= 0) {
        this.#confirmations.takeObeyed(now);
        return control;
      }
      await this.#delivery.hang(key, remainingMs, interrupt, 'call');
    }
  }

  /** What calls while its session is being stopped has come too late to go on, and too early to be refused. */
  #forCall(key: SessionKey, control: AgentControl): AgentControl {
    return control.state === 'active' && this.#stops.has(key) ? { ...control, state: 'paused' } : control;
  }

  onChanged(key: SessionKey, changed: () => void): () => void {
    return this.#delivery.listen(key, changed);
  }

  async takeInjections(key: SessionKey, directiveIds: readonly string[]): Promise<void> {
    const ids = [...directiveIds];
    if (!(await this.confirm(key, { kind: 'taken_ids', directiveIds: ids }, 'proxy'))) return;
    const { tenantId, sessionId } = splitSessionKey(key);
    const act = { kind: 'guided', session_id: sessionId, directive_ids: ids } as const;
    this.tell({ tenant_id: tenantId, ...SYSTEM_ACTOR, act });
  }

  // ---- inside

  #watch(entry: ControlEntry): void {
    const leftMs = isPaused(entry) ? pauseLeftMs(entry, this.#ports.clock) : null;
    if (leftMs !== null) this.#expiry.note(leftMs);
  }

  *#expiring() {
    for (const entry of this.#registry.pausedEntries()) {
      const leftMs = pauseLeftMs(entry, this.#ports.clock);
      if (leftMs !== null) yield { key: entry.key, leftMs };
    }
  }
}

const STOPS: ReadonlySet<Command> = new Set(['pause', 'terminate']);

const NOT_STORED_YET =
  'The disk takes its time, but has not refused this: it is done once it is stored. Calls of the session that come meanwhile wait.';

/** What an agent is told of a session nobody has commanded. */
const NOT_COMMANDED: AgentControl = { state: 'active', directives: [] };

/** What an operator sees of one. */
const UNKNOWN: ControlEntry = newEntry(sessionKey('', ''), '', '');

const isPaused = (entry: ControlEntry): boolean =>
  agentStateOf(entry.row.state) === 'paused' && entry.row.state !== 'expired';
