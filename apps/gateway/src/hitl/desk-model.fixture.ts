/**
 * What a desk is to do: the reference of hitl-desk.model.prop.spec.ts. Without queues and locks, for it is told of one thing after the
 * other; it hears from the store which writes came through, and says which there must have been.
 *
 *     a word    waits      in every answer to its agent
 *               informed   a step's answer carried it, and another step came: only for a poll that is behind, and for a model
 */
import {
  type AgentControl,
  type Command,
  type ControlRow,
  type ControlState,
  type ControlWrite,
  type Directive,
  ObservatoryError,
  RELEASED_STEPS_MAX,
  RUNTIME_CONFIG_DEFAULTS,
  type SessionKey,
  type StepCommit,
  sessionKey,
  splitSessionKey,
} from '#contracts';
import { HOUR_MS, type Interrupt } from '#kernel';
import type { ControlBounds } from './control-bounds.js';
import { FakeStore } from './desk.fixture.js';

export const KEYS = [
  sessionKey('red', 'one'),
  sessionKey('red', 'two'),
  sessionKey('red', 'three'),
  sessionKey('blue', 'one'),
  sessionKey('blue', 'two'),
];
/** So few that they are met. */
export const POLLS_MAX = 6;
export const WORDS_MAX = 5;
const PIECE = 2;
export const SMALL: ControlBounds = {
  controlsMax: 4,
  controlsReservedForOperators: 1,
  controlsPerTenantMax: 3,
  systemPausesPerTenantMax: 2,
  terminatedKeptMax: 2,
};
/** In one go, and besides those that what is held takes. */
const ROUNDS_MAX = 10;
const IDLE_MS = HOUR_MS;
const RELEASE_AGAIN_MS = 1_000;
const LOOK_AGAIN_MS = 1_000;
const EXPIRE_AGAIN_MS = 5_000;

type Outcome = 'done' | 'refused' | 'dead' | 'done, and dead';
/** The process was gone before it could go on. */
export const DEAD = new Error('dead');

/** Refuses when told to, and dies with the process in a write; who looks may be refused, too. */
export class ModelStore extends FakeStore {
  readonly outcomes = new Map<SessionKey, Outcome[]>(KEYS.map((key) => [key, []]));
  override releasedMax = PIECE;
  isRefusing = false;
  isBlind = false;
  /** The write after so many is refused; null: none is. */
  refusedIn: number | null = null;
  dying: { inWrites: number; isDone: boolean } | null = null;
  isDead = false;

  revive(): void {
    Object.assign(this, { isDead: false, dying: null, refusedIn: null, isRefusing: false, isBlind: false });
    for (const outcomes of this.outcomes.values()) outcomes.length = 0;
  }
  override commitControl(write: ControlWrite) {
    const { tenant_id, session_id } = (write.control ??
      write.release ??
      (write.audit ?? [])[0]) as ControlRow;
    return this.#live(sessionKey(tenant_id, session_id), () => super.commitControl(write));
  }
  override appendStep(key: SessionKey, traceId: string, isHeld: boolean): Promise<StepCommit> {
    return this.#live(key, () => super.appendStep(key, traceId, isHeld));
  }
  override async control(tenantId: string, sessionId: string): Promise<ControlRow | null> {
    if (this.isBlind) throw new ObservatoryError('store_busy');
    return super.control(tenantId, sessionId);
  }
  #live<Result>(key: SessionKey, write: () => Promise<Result>): Promise<Result> {
    const outcome = this.#next();
    this.outcomes.get(key)?.push(outcome);
    if (outcome === 'refused') return Promise.reject(new ObservatoryError('store_busy'));
    if (outcome === 'dead') return new Promise(() => {});
    const written = write();
    return outcome === 'done' ? written : new Promise(() => {});
  }
  #next(): Outcome {
    if (this.isDead) return 'dead';
    if (this.dying !== null && this.dying.inWrites-- === 0) {
      this.isDead = true;
      return this.dying.isDone ? 'done, and dead' : 'dead';
    }
    const isRefused = this.isRefusing || (this.refusedIn !== null && this.refusedIn-- === 0);
    return isRefused ? 'refused' : 'done';
  }
}

export interface Word {
  seq: number;
  type: Directive['type'];
  by: string;
  text: string;
  isInformed: boolean;
}
export interface Row {
  state: ControlState;
  by: string | null;
  reason: string | null;
  askedBy: string[];
  sinceMs: number | null;
  expiresAtMs: number | null;
  isCooperative: boolean;
  isProxied: boolean;
  seq: number;
  words: Word[];
}
const FRESH: Row = {
  state: 'active',
  by: null,
  reason: null,
  askedBy: [],
  sinceMs: null,
  expiresAtMs: null,
  isCooperative: false,
  isProxied: false,
  seq: 0,
  words: [],
};

export class Session {
  readonly tenant: string;
  readonly name: string;
  row = structuredClone(FRESH);
  disk: Row | null = null;
  /** The words that the row had when it was written or read last. */
  listed: number[] = [];
  /** Null: not in memory. */
  shelf: 'bound' | 'ended' | 'resting' | null = null;
  isKnown = false;
  /** When it was touched last, and before or after which others. */
  touched = { atMs: 0, nth: 0 };
  offeredSeq = 0;
  isDraining = false;
  isDrainQueued = false;
  /** A release took all that was held. */
  isSwept = false;
  dueMs: number | null = null;
  /** It waits for a write that died. */
  isStuck = false;
  held: string[] = [];
  exists = false;
  /** Since the latest start. */
  published: string[] = [];
  audit: string[] = [];
  /** The cursor that its agent has. */
  cursor: number | undefined = undefined;
  steps = 0;

  constructor(readonly key: SessionKey) {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.tenant = tenantId;
    this.name = sessionId;
  }

  get holds(): boolean {
    return ['pause_requested', 'paused', 'expired'].includes(this.row.state);
  }
  get isClosed(): boolean {
    return this.isDraining || this.holds;
  }
  get agentState(): AgentControl['state'] {
    return this.holds ? 'paused' : (this.row.state as 'active' | 'terminated');
  }
  get waiting(): Word[] {
    return this.row.words.filter(({ isInformed }) => !isInformed);
  }
  get pending(): Word[] {
    return pendingIn(this.row);
  }
  get hasUnwritten(): boolean {
    return this.pending.some(({ seq }) => !this.listed.includes(seq));
  }
  /** All that waits is word of an expiry, which its state tells as well. */
  get hearsOnlyOfExpiry(): boolean {
    return this.row.by === 'system' && this.pending.every(({ type }) => type === 'resume');
  }
}

export interface Waiter {
  s: Session;
  /** Of a poll; null: a call that is held. */
  poll: { after: number | undefined; isAgent: boolean } | null;
  interrupt: Interrupt;
  untilMs: number;
  /** Its client is there. */
  isThere: boolean;
  /** A model takes what it is given. */
  isHeard: boolean;
  /** Word up to which a call has acknowledged a pause. */
  shownSeq: number;
  answer: Said;
  cancel: () => void;
}
/** What became of something that was asked of the desk. */
export interface Said {
  is: unknown;
  atMs?: number;
}
export interface Listener {
  s: Session;
  heard: string[];
  said: string[];
  leave: () => void;
  cancel: () => void;
}

export const WAITS = 'waits';
/** Commands whose text is told with them. */
const SAYS: Partial<Record<Command, boolean>> = { pause: true, inject: true, terminate: true };
export const brief = ({ seq, type, by, text }: Word): string => `${seq} ${type} ${by} ${text}`;
const pendingIn = ({ words, isProxied }: Row): Word[] =>
  words.filter(({ isInformed, type }) => !isInformed || (isProxied && type === 'inject'));

/** A start has told nobody of anything. */
const onDisk = (row: Row): Row =>
  structuredClone({ ...row, words: pendingIn(row).map((word) => ({ ...word, isInformed: false })) });

/** The reference. Each act comes after the desk's own: the store says which of its writes came through. */
export class DeskModel {
  readonly sessions = KEYS.map((key) => new Session(key));
  /** Since the start of the process. */
  nowMs = 0;
  #wallMs: number;
  events: { atMs: number; run: () => void }[] = [];
  #look: { dueMs: number; cancel: () => void } | null = null;
  #isComplete = true;
  #isEnding = false;
  #touches = 0;
  /** Those that hold, in the order in which they began to. */
  readonly #paused = new Set<Session>();
  waiters: Waiter[] = [];
  listeners: Listener[] = [];
  readonly settings: { hitl_pause_ttl_ms: unknown; hitl_expiry_action: unknown } = {
    hitl_pause_ttl_ms: 60_000,
    hitl_expiry_action: 'resume',
  };

  constructor(
    readonly store: ModelStore,
    readonly bounds: ControlBounds,
    wallMs: number,
  ) {
    this.#wallMs = wallMs;
  }

  // ---- memory

  /** In memory and used; one that was idle too long is not. */
  peek(s: Session): boolean {
    if (s.shelf === 'resting' && this.nowMs - s.touched.atMs > IDLE_MS) this.#forget(s);
    if (s.shelf === null) return false;
    this.#touch(s);
    return true;
  }

  #touch(s: Session): void {
    this.#touches += 1;
    s.touched = { atMs: this.nowMs, nth: this.#touches };
  }

  #forget(s: Session): void {
    Object.assign(s, { row: structuredClone(FRESH), shelf: null, isKnown: false, listed: [], offeredSeq: 0 });
  }

  #open(s: Session): void {
    if (this.peek(s)) return;
    s.shelf = 'resting';
    this.#touch(s);
  }

  #load(s: Session): void {
    this.#open(s);
    if (s.isKnown) return;
    if (this.store.isBlind) throw new ObservatoryError('store_busy');
    const { isCooperative, isProxied } = s.row;
    if (s.disk !== null) {
      s.row = structuredClone(s.disk);
      s.row.isCooperative ||= isCooperative;
      s.row.isProxied ||= isProxied;
      s.listed = s.row.words.map(({ seq }) => seq);
    }
    s.isKnown = true;
    this.#settle(s);
  }

  #settle(s: Session): void {
    const hasEnded = s.row.state === 'terminated';
    const hasToHear = s.waiting.length > 0 && !s.hearsOnlyOfExpiry;
    const before = s.shelf;
    if (!s.holds) this.#paused.delete(s);
    else this.#paused.add(s);
    s.shelf = s.isClosed || (!hasEnded && hasToHear) ? 'bound' : hasEnded ? 'ended' : 'resting';
    this.#touch(s);
    if (s.shelf === 'ended' && before !== 'ended') this.#makeRoom(s);
  }

  #makeRoom(inUse: Session): void {
    const ended = this.sessions.filter(({ shelf }) => shelf === 'ended');
    if (ended.length <= this.bounds.terminatedKeptMax) return;
    const own = ended.filter(({ tenant }) => tenant === inUse.tenant);
    const others = ended.filter(({ tenant }) => tenant !== inUse.tenant);
    const largest = others.length > own.length || own.length === 1 ? others : own;
    const [oldest] = largest
      .filter((s) => s !== inUse)
      .sort((one, other) => one.touched.nth - other.touched.nth);
    this.#isComplete = false;
    this.#forget(oldest as Session);
  }

  // ---- writes

  /** What the store did with a write of this session: there must have been one. */
  #outcome(s: Session): Outcome {
    const outcome = this.store.outcomes.get(s.key)?.shift();
    must(outcome !== undefined, `${s.key} was to be written`);
    if (outcome === 'refused') throw new ObservatoryError('store_busy');
    if (outcome === 'dead') this.#die(s);
    return outcome as Outcome;
  }

  /** Nothing of it goes on. */
  #die(s: Session): never {
    s.isStuck = true;
    throw DEAD;
  }

  #write(
    s: Session,
    {
      next,
      audit,
      releases = false,
      tells = false,
    }: {
      next?: Row;
      audit?: [by: string, action: string, outcome?: string];
      releases?: boolean;
      tells?: boolean;
    },
  ): number {
    const outcome = this.#outcome(s);
    if (audit !== undefined) {
      const [by, action, came = 'ok'] = audit;
      s.audit.push(`${this.#wallMs} ${by} ${action} ${s.row.state}>${(next ?? s.row).state} ${came}`);
    }
    if (next !== undefined) s.disk = onDisk(next);
    const released = releases ? s.held.splice(0, PIECE) : [];
    if (outcome !== 'done') this.#die(s);
    s.published.push(...released);
    if (next !== undefined) {
      s.row = next;
      s.listed = s.pending.map(({ seq }) => seq);
      s.isDraining = releases || (s.isDraining && !s.holds);
      if (releases) s.isSwept = s.held.length === 0;
      this.#settle(s);
    }
    if (tells) this.#tell(s);
    return released.length;
  }

  /** Whoever hears of the session; what a call or a poll does then comes when the command is over. */
  #tell(s: Session): void {
    for (const waiter of this.waiters.filter((one) => one.s === s)) this.wake(waiter);
    for (const listener of this.listeners)
      if (listener.s === s) listener.said.push(`${this.nowMs} ${this.pollText(s, undefined)}`);
  }

  // ---- one thing after the other in each session

  #alone<Result>(s: Session, task: () => Result, isCommand = false): Result {
    if (s.isStuck) throw DEAD;
    this.#load(s);
    this.#drain(s, isCommand);
    try {
      return task();
    } finally {
      if (s.isDraining && !s.isStuck) this.#drainLater(s, 0);
    }
  }

  #drain(s: Session, isCommand = false): number {
    let count = 0;
    const roundsMax = ROUNDS_MAX + Math.ceil(s.held.length / RELEASED_STEPS_MAX);
    for (let round = 1; s.isDraining; round += 1) {
      if (s.isSwept) {
        s.isDraining = false;
        this.#settle(s);
        break;
      }
      if (round > (isCommand ? 1 : roundsMax)) break;
      s.isSwept = false;
      const outcome = this.#outcome(s);
      const released = s.held.splice(0, PIECE);
      if (outcome !== 'done') this.#die(s);
      s.published.push(...released);
      s.isSwept = s.held.length === 0;
      count += released.length;
    }
    return count;
  }

  #drainOrDefer(s: Session): number {
    try {
      return this.#drain(s);
    } catch (error) {
      if (error === DEAD) throw error;
      this.#drainLater(s, RELEASE_AGAIN_MS);
      return 0;
    }
  }

  #drainLater(s: Session, delayMs: number): void {
    if (s.isDrainQueued || this.#isEnding) return;
    s.isDrainQueued = true;
    const attempt = () => {
      s.isDrainQueued = false;
      this.#try(
        () => this.#alone(s, () => this.#shelve(s)),
        () => this.#drainLater(s, RELEASE_AGAIN_MS),
      );
    };
    if (delayMs === 0) this.#then.push(attempt);
    else this.#after(delayMs, attempt);
  }

  #shelve(s: Session): void {
    if (s.isClosed || s.listed.length === 0 || !s.hearsOnlyOfExpiry) return;
    this.#try(() => {
      const outcome = this.#outcome(s);
      s.disk = { ...structuredClone(s.row), words: [] };
      if (outcome !== 'done') this.#die(s);
    });
  }

  /** Follows when what is under way is over. */
  #then: (() => void)[] = [];

  follow(): void {
    for (let next = this.#then.shift(); next !== undefined; next = this.#then.shift()) next();
  }

  #try(act: () => void, otherwise = () => {}): void {
    try {
      act();
    } catch (error) {
      if (error === DEAD) return;
      if (!(error instanceof ObservatoryError)) throw error;
      otherwise();
    }
  }

  // ---- time

  #after(delayMs: number, run: () => void): () => void {
    const event = { atMs: this.nowMs + Math.max(0, delayMs), run };
    this.events.push(event);
    return () => {
      this.events = this.events.filter((one) => one !== event);
    };
  }

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    const advance = (toMs: number) => {
      this.#wallMs += toMs - this.nowMs;
      this.nowMs = toMs;
    };
    for (;;) {
      const [event] = this.events
        .filter(({ atMs }) => atMs <= untilMs)
        .sort((one, other) => one.atMs - other.atMs);
      if (event === undefined) break;
      this.events = this.events.filter((one) => one !== event);
      advance(event.atMs);
      event.run();
      this.follow();
    }
    advance(untilMs);
  }

  #leftMs(s: Session): number | null {
    if (s.row.state === 'expired') return 0;
    return s.holds && s.dueMs !== null ? s.dueMs - this.nowMs : null;
  }

  /** By the wall clock as it is now; whoever sets it afterwards changes nothing. */
  #watch(s: Session): void {
    const { expiresAtMs, sinceMs } = s.row;
    s.dueMs = expiresAtMs === null ? null : this.nowMs + expiresAtMs - Math.max(this.#wallMs, sinceMs ?? 0);
  }

  #note(leftMs: number): void {
    const dueMs = this.nowMs + leftMs;
    if (this.#look !== null && this.#look.dueMs <= dueMs) return;
    this.#look?.cancel();
    this.#look = { dueMs, cancel: this.#after(leftMs, () => this.#expire()) };
  }

  #noteEarliest(waitMs: number): void {
    const left = this.sessions.filter(({ holds }) => holds).map((s) => this.#leftMs(s));
    const earliestMs = Math.min(...left.map((ms) => ms ?? Number.POSITIVE_INFINITY));
    if (earliestMs !== Number.POSITIVE_INFINITY) this.#note(Math.max(earliestMs, waitMs));
  }

  #expire(): void {
    this.#look = null;
    let waitMs = 0;
    const pieces = ({ held }: Session) => Math.ceil(held.length / PIECE);
    // The first piece goes with the end of the pause.
    const writes = (s: Session) => (s.row.state === 'expired' ? 0 : 1) + Math.max(1, pieces(s));
    // Side by side: of those that are terminated together, the one with most to write is so last, and then to show.
    const due = [...this.#paused]
      .filter((s) => (this.#leftMs(s) ?? 1) <= 0)
      .sort((one, other) => writes(one) - writes(other) || pieces(one) - pieces(other));
    for (const s of due)
      this.#try(
        () => this.#alone(s, () => this.#expireOne(s)),
        () => {
          waitMs = EXPIRE_AGAIN_MS;
        },
      );
    if (!due.some(({ isStuck }) => isStuck)) this.#noteEarliest(waitMs);
  }

  #expireOne(s: Session): void {
    const policy = this.settings.hitl_expiry_action === 'terminate' ? 'terminate' : 'resume';
    if (s.row.state !== 'expired') {
      if ((this.#leftMs(s) ?? 1) > 0) return;
      const next: Row = { ...s.row, state: 'expired', by: 'system', askedBy: [] };
      this.#write(s, { next, audit: ['system', 'hitl.expire'] });
    }
    this.#obey(s, 'system', policy, 'The pause expired and nobody resumed it.');
    this.#drainOrDefer(s);
    this.#shelve(s);
  }

  // ---- commands

  order(s: Session, by: string, command: Command, text: string): object {
    return this.#alone(
      s,
      () => {
        if (!s.exists && s.row.seq === 0 && s.row.state === 'active' && !s.row.isProxied)
          throw new ObservatoryError('session_not_found');
        const answer = this.#obey(s, by, command, text);
        if (s.holds && s.row.state !== 'expired' && s.dueMs !== null) this.#note(s.dueMs - this.nowMs);
        if (answer.flushed_count === undefined) return answer;
        return { ...answer, flushed_count: answer.flushed_count + this.#drainOrDefer(s) };
      },
      true,
    );
  }

  #obey(
    s: Session,
    by: string,
    command: Command,
    text: string,
    askedBy?: string,
  ): { status: 'ok'; note?: string; flushed_count?: number } {
    if (command === 'pause' || command === 'inject') this.#requirePlace(s, by);
    const { row } = s;
    const refuse = (code: 'session_terminated' | 'held_message_not_found' | 'too_many_directives'): never => {
      this.#write(s, { audit: [by, command, code] });
      throw new ObservatoryError(code);
    };
    const leave = (note: string, flushed?: { flushed_count: number }) => {
      this.#write(s, { audit: [by, command, note] });
      return { status: 'ok' as const, note, ...flushed };
    };
    if (row.state === 'terminated')
      return command === 'terminate' ? leave('already_terminated') : refuse('session_terminated');
    if (command === 'pause' && s.holds && row.state !== 'expired') return leave('already_paused');
    if (command === 'resume' && !s.holds) return leave('not_paused', { flushed_count: 0 });
    if (command === 'rewrite' && !(s.holds && s.held.includes(text))) return refuse('held_message_not_found');
    const isSwitch = (type: Word['type']) => type === 'pause' || type === 'resume';
    const contents = s.pending.filter(({ type }) => !isSwitch(type));
    if ((command === 'inject' || command === 'rewrite') && contents.length >= WORDS_MAX - 1)
      return refuse('too_many_directives');
    const isOver = ({ type }: Word) => command === 'terminate' || (isSwitch(command) && isSwitch(type));
    const seq = row.seq + 1;
    const word = { seq, type: command, by, text: SAYS[command] ? text : '', isInformed: false };
    const next: Row = { ...row, seq, words: [...row.words.filter((one) => !isOver(one)), word] };
    const given = { by, reason: null, askedBy: [], sinceMs: this.#wallMs, expiresAtMs: null };
    if (command === 'pause') {
      const ttlMs = this.#pauseTtlMs();
      const expiresAtMs = ttlMs > 0 ? this.#wallMs + ttlMs : null;
      const asked = askedBy === undefined ? [] : [askedBy];
      Object.assign(next, given, { state: 'pause_requested', reason: text, askedBy: asked, expiresAtMs });
    }
    if (command === 'resume') Object.assign(next, given, { state: 'active' });
    if (command === 'terminate') Object.assign(next, given, { state: 'terminated', reason: text });
    const releases = s.holds && (command === 'resume' || command === 'terminate');
    const count = this.#write(s, { next, audit: [by, command], releases, tells: true });
    if (command === 'pause') this.#watch(s);
    return { status: 'ok', ...(command === 'resume' && { flushed_count: count }) };
  }

  #pauseTtlMs(): number {
    const { hitl_pause_ttl_ms: ttlMs } = this.settings;
    return typeof ttlMs === 'number' ? ttlMs : RUNTIME_CONFIG_DEFAULTS.hitl_pause_ttl_ms;
  }

  #requirePlace(s: Session, by: string): void {
    const bound = this.sessions.filter(({ shelf }) => shelf === 'bound');
    const theirs = bound.filter(({ tenant }) => tenant === s.tenant);
    const bySystem = theirs.filter(({ row }) => row.by === 'system');
    const isFull =
      (by === 'system' && bySystem.length >= this.bounds.systemPausesPerTenantMax && !bySystem.includes(s)) ||
      (!theirs.includes(s) &&
        (theirs.length >= this.bounds.controlsPerTenantMax ||
          bound.length >=
            this.bounds.controlsMax - (by === 'system' ? this.bounds.controlsReservedForOperators : 0)));
    if (isFull) throw new ObservatoryError('store_busy');
  }

  ask(s: Session, agent: string): void {
    const isPaused = () => s.holds && s.row.state !== 'expired';
    if (s.shelf === 'bound' && isPaused() && s.row.askedBy.includes(agent)) return;
    this.#alone(s, () => {
      if (isPaused()) {
        if (!s.row.askedBy.includes(agent))
          this.#write(s, { next: { ...s.row, askedBy: [...s.row.askedBy, agent] } });
      } else if (s.row.state !== 'terminated') {
        this.#obey(s, 'system', 'pause', 'hitl_required', agent);
        if (s.dueMs !== null) this.#note(s.dueMs - this.nowMs);
      }
    });
  }

  // ---- what agents confirm

  /** @returns whether it was waiting */
  confirm(
    s: Session,
    kind: 'taken' | 'shown' | 'ids',
    upTo: number,
    seqs: number[],
    isClient: boolean,
  ): boolean {
    return this.#alone(s, () => {
      if (isClient) this.#show(s, 'isCooperative');
      if (kind !== 'ids' && upTo > s.row.seq) return false;
      const isConfirmed = ({ seq }: Word) => (kind === 'ids' ? seqs.includes(seq) : seq <= upTo);
      const pauses = s.pending.filter(({ type }) => type === 'pause');
      const isHeard = kind === 'ids' ? pauses.some(isConfirmed) : pauses.every(isConfirmed);
      const acknowledges = s.row.state === 'pause_requested' && isHeard;
      const taken = kind === 'shown' ? [] : s.row.words.filter(isConfirmed);
      const isWritten = acknowledges || taken.some((word) => s.pending.includes(word));
      const left = s.row.words.filter((word) => !taken.includes(word));
      if (isWritten) {
        const state = acknowledges ? 'paused' : s.row.state;
        const next: Row = { ...s.row, state, words: left };
        this.#write(s, { next, ...(acknowledges && { audit: ['system', 'hitl.acknowledge'] }) });
      } else s.row.words = left;
      return isWritten || taken.length > 0;
    });
  }

  #show(s: Session, what: 'isCooperative' | 'isProxied'): void {
    if (s.row[what]) return;
    s.row[what] = true;
    this.#settle(s);
    // What steps had carried before a model was known is to be on disk again.
    if (s.hasUnwritten) this.#prune(s);
  }

  /** Behind: a start gives it again where the store refuses it. */
  #prune(s: Session): void {
    this.#then.push(() =>
      this.#try(() =>
        this.#alone(s, () => {
          if (!s.isDraining && (s.pending.length < s.listed.length || s.hasUnwritten))
            this.#write(s, { next: { ...s.row } });
        }),
      ),
    );
  }

  #noteStep(s: Session): void {
    if (!this.peek(s)) return;
    const passed = s.waiting.filter(({ seq }) => seq <= s.offeredSeq);
    for (const word of passed) word.isInformed = true;
    if (passed.length > 0) this.#prune(s);
    s.offeredSeq = s.row.seq;
  }

  // ---- who waits

  pollText(s: Session, after: number | undefined): string {
    const words =
      after !== undefined && after <= s.row.seq ? s.row.words.filter(({ seq }) => seq > after) : s.waiting;
    return JSON.stringify([s.agentState, s.row.seq, words.map(brief)]);
  }

  /** Of a session that is not in memory it is a guess. */
  callText(s: Session): string {
    const words = s.row.words.filter(({ type }) => type === 'inject');
    return JSON.stringify([s.agentState, words.map(brief)]);
  }

  #hang(waiter: Waiter): void {
    const places = this.waiters.filter(({ s }) => s.tenant === waiter.s.tenant).length;
    if (this.waiters.length >= POLLS_MAX || places >= POLLS_MAX / 2)
      throw new ObservatoryError('too_many_polls');
    waiter.cancel = this.#after(waiter.untilMs - this.nowMs, () => this.wake(waiter));
    this.waiters.push(waiter);
  }

  wake(waiter: Waiter): void {
    const { s, poll, answer, untilMs, isThere } = waiter;
    waiter.cancel();
    this.waiters = this.waiters.filter((one) => one !== waiter);
    this.#open(s);
    if (poll !== null) {
      Object.assign(answer, { is: this.pollText(s, poll.after), atMs: this.nowMs });
      if (poll.isAgent && isThere) this.#deliver(s);
    } else this.#holdOn(waiter, isThere && !this.#isEnding && untilMs > this.nowMs);
  }

  /** It stands still, which acknowledges a pause: once more with each word that comes, where the store has refused it. */
  #holdOn(waiter: Waiter, mayWait: boolean): void {
    const { s } = waiter;
    const { state, seq } = s.row;
    if (state === 'pause_requested' && seq > waiter.shownSeq) {
      waiter.shownSeq = seq;
      this.#then.push(() => this.#try(() => this.confirm(s, 'shown', seq, [], false)));
    }
    if (s.holds && mayWait) this.#hang(waiter);
    else {
      this.#takeObeyed(s);
      this.#letGo(waiter);
    }
  }

  /** An answer left for an agent that was there. */
  #deliver(s: Session): void {
    const { state, seq } = s.row;
    s.cursor = seq;
    if (state === 'pause_requested')
      this.#then.push(() => this.#try(() => this.confirm(s, 'shown', seq, [], true)));
  }

  /** A call that was held goes on, or gives up. */
  #letGo({ s, answer, isHeard }: Waiter): void {
    Object.assign(answer, { is: this.callText(s), atMs: this.nowMs });
    const seqs = s.row.words.filter(({ type }) => type === 'inject').map(({ seq }) => seq);
    if (s.row.state === 'active' && isHeard && seqs.length > 0)
      this.#then.push(() => this.#try(() => this.confirm(s, 'ids', 0, seqs, false)));
  }

  #takeObeyed(s: Session): void {
    const obeyed = s.waiting.filter(({ type }) => type === 'pause' || type === 'resume');
    const seqs = obeyed.map(({ seq }) => seq);
    if (s.row.isCooperative || seqs.length === 0) return;
    this.#then.push(() => this.#try(() => this.confirm(s, 'ids', 0, seqs, false)));
  }

  // ---- what else a desk is asked

  step(s: Session, trace: string): string {
    this.#recall(s);
    const isHeld = s.shelf === 'bound' && s.isClosed;
    if (isHeld) s.isSwept = false;
    const outcome = this.#outcome(s);
    s.exists = true;
    if (isHeld) s.held.push(trace);
    if (outcome !== 'done') this.#die(s);
    if (!isHeld) s.published.push(trace);
    this.#noteStep(s);
    return answerText(s);
  }

  #recall(s: Session): void {
    if (!this.#isComplete && !(this.peek(s) && s.isKnown)) this.#load(s);
  }

  poll(waiter: Waiter): string {
    const { s, poll, untilMs } = waiter;
    const { after, isAgent } = poll as NonNullable<Waiter['poll']>;
    this.#load(s);
    if (isAgent) {
      this.#show(s, 'isCooperative');
      if (after !== undefined && after <= s.row.seq) {
        const before = s.pending.length;
        s.row.words = s.row.words.filter(({ seq }) => seq > after);
        if (s.pending.length < before) this.#prune(s);
      }
    }
    const { state, seq } = s.row;
    const isNews = after === undefined ? state !== 'active' || s.waiting.length > 0 : after !== seq;
    if (!isNews && untilMs > this.nowMs) {
      this.#hang(waiter);
      return WAITS;
    }
    if (isAgent) this.#deliver(s);
    return this.pollText(s, after);
  }

  call(waiter: Waiter): string {
    const { s, answer, untilMs } = waiter;
    this.#recall(s);
    this.#open(s);
    if (s.row.state === 'active') this.#takeObeyed(s);
    this.#show(s, 'isProxied');
    if (s.holds) this.#holdOn(waiter, untilMs > this.nowMs);
    else this.#letGo(waiter);
    return answer.is as string;
  }

  listen(listener: Listener): void {
    const { s } = listener;
    this.#open(s);
    this.#show(s, 'isCooperative');
    this.listeners.push(listener);
    const say = () => listener.said.push(`${this.nowMs} ${this.pollText(s, undefined)}`);
    const look = () =>
      this.#try(
        () => {
          this.#load(s);
          if (s.row.seq > 0) say();
        },
        () => {
          listener.cancel = this.#after(LOOK_AGAIN_MS, look);
        },
      );
    if (s.row.seq > 0) say();
    else if (!s.isKnown) look();
  }

  setClock(byMs: number): void {
    this.#wallMs += byMs;
  }

  // ---- processes

  end(): void {
    this.#isEnding = true;
    this.#look?.cancel();
    for (const waiter of [...this.waiters]) this.wake(waiter);
  }

  /** Another process, which knows what is on disk. @returns its wall clock */
  begin(downMs: number): number {
    this.#wallMs += downMs;
    this.nowMs = 0;
    this.#look = null;
    this.#isEnding = false;
    this.events = [];
    this.#then = [];
    this.waiters = [];
    this.listeners = [];
    this.#paused.clear();
    for (const s of this.sessions) {
      this.#forget(s);
      Object.assign(s, { isDraining: false, isDrainQueued: false, isSwept: false, isStuck: false });
      Object.assign(s, { published: [], dueMs: null });
    }
    return this.#wallMs;
  }

  readAll(): void {
    let endedCount = 0;
    for (const key of this.store.rows.keys()) {
      const s = this.sessions.find((one) => one.key === key) as Session;
      const { state, words } = s.disk as Row;
      const hasEnded = state === 'terminated';
      if (hasEnded) endedCount += 1;
      const isRead = hasEnded
        ? endedCount <= this.bounds.terminatedKeptMax
        : state !== 'active' || words.length > 0;
      if (isRead) this.#load(s);
    }
    this.#isComplete = endedCount < this.bounds.terminatedKeptMax;
    for (const s of this.sessions) {
      if (s.held.length === 0) continue;
      this.#load(s);
      s.isDraining = !s.holds;
      this.#settle(s);
      if (s.isDraining) this.#drainLater(s, 0);
    }
    this.follow();
    for (const s of this.sessions) if (s.holds) this.#watch(s);
    this.#noteEarliest(0);
  }
}

export const answerText = ({ agentState, waiting }: Session): string =>
  JSON.stringify([agentState, waiting.map(brief)]);

function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}
