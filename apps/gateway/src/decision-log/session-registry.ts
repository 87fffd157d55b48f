/**
 * The sessions in memory, as rows of the list. Each is a fold over its published steps, saved about once a second; what the
 * store does not have after a crash is folded in again.
 */
import {
  type ControlView,
  type DecisionLog,
  type DecisionStore,
  type EntropyTuple,
  LIMITS,
  type LiveAudience,
  type LivePublisher,
  type LlmCall,
  rowsToShow,
  type SemanticLoopEvent,
  type SessionKey,
  type SessionView,
  type StoredStep,
  sessionKey,
  splitSessionKey,
  tenantIdOf,
} from '#contracts';
import { applyStep, applyUse, type CallUse } from '#domain/decision-log';
import { tupleOf } from '#domain/entropy';
import { type Clock, FairLru } from '#kernel';
import { FEED_INTERVAL_MS } from '../realtime/live-hub.js';
import { fallsSilent } from './falls-silent.js';
import { SessionFeed } from './session-feed.js';
import {
  type CallOfSession,
  forgetAnswer,
  forgetWaiting,
  isSameControl,
  rowOfCall,
  rowOfWaiting,
  rowShowingNothing,
  showControl,
  showHeld,
  showWaiting,
} from './session-row.js';
import { SessionWriter } from './session-writer.js';

const SAVE_INTERVAL_MS = 1_000;
const IDLE_CHECK_INTERVAL_MS = 5_000;
/** Sessions called idle with one frame: thousands fall silent together, and each is a row to send and to save. */
export const IDLE_PER_FRAME_MAX = 500;
const KEEP_HELD_INTERVAL_MS = 1_000;
const RECOVERY_PAGE_ROWS = 5_000;
/** Of the places in memory, for sessions that are held. */
const HELD_SHARE = 0.5;

export interface SessionRegistryOptions {
  clock: Clock;
  store: DecisionStore;
  live: LivePublisher & Pick<LiveAudience, 'isWatched'>;
  /** Sessions in memory at once; of the tenant that has most the least recently active leave, saved, those that hold messages last. */
  sessionCountMax: number;
  controlOf: (key: SessionKey) => ControlView;
  /** Sessions that hold messages: these stay in memory before others. */
  heldKeys: () => Iterable<SessionKey>;
  /** The store refused a save or a look at a row. */
  onStoreFailed: (error: unknown) => void;
}

/** Of a call that makes no step. */
export interface SteplessUse extends CallUse {
  key: SessionKey;
  agentId: string;
  callId: string;
}

/** What the calls of a session took together, by their records. */
export interface RecordedUse {
  /** Known costs only. */
  costUsd: number;
  tokens: number;
  /** Some cost nobody knows how much. */
  isUnknown: boolean;
}

export class SessionRegistry {
  readonly #options: SessionRegistryOptions;
  readonly #views: FairLru<SessionKey, SessionView>;
  /** Looked for in the store in vain: their first step is on its way, and need not look again. */
  readonly #newcomers: FairLru<SessionKey, true>;
  readonly #writer: SessionWriter;
  readonly #feed: SessionFeed;
  /** Were silent when it was last looked for, and are not called idle yet. */
  #silent: SessionKey[] = [];
  /** False once a session may be in the store and not here. */
  #isComplete = true;
  /** A slow store may take longer than the pause until the next time. */
  #isKeepingHeld = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(options: SessionRegistryOptions) {
    this.#options = options;
    this.#feed = new SessionFeed(options.live, (key) => this.peek(key));
    this.#writer = new SessionWriter(options);
    this.#views = new FairLru({
      countMax: options.sessionCountMax,
      idleMs: Number.POSITIVE_INFINITY,
      clock: options.clock,
      onEvict: () => {
        this.#isComplete = false;
      },
    });
    this.#newcomers = new FairLru({
      countMax: options.sessionCountMax,
      idleMs: Number.POSITIVE_INFINITY,
      clock: options.clock,
    });
  }

  get size(): number {
    return this.#views.size;
  }

  /** Loads the latest rows and folds in the steps stored after them. */
  async recover(): Promise<void> {
    const { store, sessionCountMax } = this.#options;
    const { checkpointSeq, rows } = await store.recentSessions(sessionCountMax);
    this.#isComplete = rows.length < sessionCountMax;
    for (const { tenant_id, view } of rows.reverse())
      this.#views.set(tenant_id, sessionKey(tenant_id, view.session_id), view);
    this.#writer.folded(checkpointSeq);
    await eachStep(
      (afterSeq) => store.unfoldedReleases(afterSeq, RECOVERY_PAGE_ROWS),
      0,
      async (step) => {
        // The later ones come with all that is later.
        if (step.seq <= checkpointSeq) await this.#foldAgain(step);
        this.noteReleased(step);
      },
    );
    await eachStep(
      (afterSeq) => store.stepsAfter(afterSeq, RECOVERY_PAGE_ROWS),
      checkpointSeq,
      async (step) => {
        if (step.held) await this.introduceHeld(sessionKey(step.tenant_id, step.session_id), step);
        else await this.#foldAgain(step);
        this.#writer.folded(step.seq);
      },
    );
    await this.#keepHeld();
    for (const [key, view] of this.#views.entries()) {
      if (forgetWaiting(view)) this.#writer.changed(key, view);
      const saved = view.control;
      showControl(view, this.#options.controlOf(key));
      // The process died between the two, or an earlier version kept less: a list read from the store says what the row says.
      if (!isSameControl(view.control, saved)) this.#writer.changed(key, view);
    }
    this.#feed.clear();
  }

  start(): void {
    this.#timers = [
      setInterval(() => {
        this.#markIdle();
        this.#feed.publish();
      }, FEED_INTERVAL_MS),
      setInterval(() => this.save(), SAVE_INTERVAL_MS),
      setInterval(() => this.#findSilent(), IDLE_CHECK_INTERVAL_MS),
      setInterval(() => this.#keepHeld(), KEEP_HELD_INTERVAL_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#writer.stop();
  }

  /** One published step. Whoever calls this for a session that may have left has it brought back first. */
  apply(key: SessionKey, step: StoredStep, window: readonly EntropyTuple[]): void {
    const known = this.#views.get(step.tenant_id, key);
    if (known !== undefined && known.last_seen_ms > step.received_at_ms) this.#setBack(known);
    const view = applyStep(known, step, window);
    if (view === known) this.#changed(key, view);
    else this.#add(key, view);
    this.#writer.folded(step.seq);
  }

  /** What its row shows of the session's window, with this step: for whom the tracker has none, as after a restart. */
  windowWith(key: SessionKey, step: StoredStep): EntropyTuple[] {
    const window = [...(this.peek(key)?.window ?? []), tupleOf(step.log, 'name')];
    return window.slice(-step.window_size);
  }

  /** This step came out of a hold, and was applied in this turn. */
  noteReleased(step: StoredStep): void {
    this.#writer.released(step);
  }

  /** A session that holds a step: its row shows nothing of it, but what the first of a proxied one cost. @see #introduce */
  async introduceHeld(key: SessionKey, step: StoredStep): Promise<void> {
    if (this.peek(key)?.step_count) return;
    const row = rowShowingNothing(step);
    await this.#introduce(key, () => row);
    const view = this.peek(key);
    if (view !== undefined && view !== row && showHeld(view, row)) this.#changed(key, view);
  }

  /** A session with a semantic loop: where its agent reports its steps under another, its calls make none. @see #introduce */
  introduceLoop(key: SessionKey, event: SemanticLoopEvent): Promise<void> {
    return this.#introduce(key, () => rowOfCall(event, event.at_ms, null));
  }

  /** A session with a call whose step was lost with the process that made it. @see #introduce */
  introduceCall(
    key: SessionKey,
    call: CallOfSession & Pick<LlmCall, 'started_at_ms' | 'duration_ms'>,
  ): Promise<void> {
    const atMs = Math.round(call.started_at_ms + call.duration_ms);
    return this.#introduce(key, () => rowOfCall(call, atMs, 0));
  }

  /** A session whose first step waits for its answer, or what its tools come back with: minutes, maybe. @see #introduce */
  async introduceWaiting(key: SessionKey, log: DecisionLog): Promise<void> {
    if (this.peek(key)?.step_count) return;
    const row = rowOfWaiting(log, splitSessionKey(key).sessionId, this.#options.clock.nowMs());
    await this.#introduce(key, () => row);
    const view = this.peek(key);
    if (view !== undefined && view !== row && showWaiting(view, row)) this.#changed(key, view);
  }

  /**
   * The row of a session that left memory, so that its next step goes on from there; nothing if there never was one.
   * Rejects as the store does.
   */
  async bringBack(key: SessionKey): Promise<void> {
    const left = await this.#writer.latest(key);
    if (this.peek(key) !== undefined) return;
    if (left === null) this.#newcomers.set(tenantIdOf(key), key, true);
    else this.#add(key, left);
  }

  entries(): Iterable<[SessionKey, SessionView]> {
    return this.#views.entries();
  }

  peek(key: SessionKey): SessionView | undefined {
    return this.#views.peek(tenantIdOf(key), key);
  }

  async find(key: SessionKey): Promise<SessionView | null> {
    const view = this.peek(key);
    if (view !== undefined || this.#isComplete) return view ?? null;
    const left = await this.#writer.latest(key);
    if (left !== null) showControl(left, this.#options.controlOf(key));
    return left;
  }

  /** True if the store may know a session that is not in memory. */
  mayBeStored(key: SessionKey): boolean {
    return !this.#isComplete || this.peek(key) !== undefined;
  }

  /**
   * True if the session is not in memory and the store may have its row. One that is in memory is wanted: it stays there before
   * others, or its step would begin a new row where others push it out while that is stored. A look-up at most.
   */
  mayHaveLeft(key: SessionKey): boolean {
    return (
      !this.#isComplete &&
      this.#views.get(tenantIdOf(key), key) === undefined &&
      this.#newcomers.peek(tenantIdOf(key), key) === undefined
    );
  }

  /** The store deleted their rows. One that has changed meanwhile stays: it is saved again. */
  forget(keys: readonly SessionKey[]): void {
    for (const key of keys) {
      if (this.#writer.isUnsaved(key)) continue;
      const view = this.peek(key);
      this.#views.delete(tenantIdOf(key), key);
      this.#feed.deleted(key, view);
    }
  }

  setControl(key: SessionKey, control: ControlView): ControlView {
    const view = this.peek(key);
    if (view === undefined) return control;
    showControl(view, control);
    this.#changed(key, view);
    return view.control;
  }

  /**
   * A proxied call of this session ended; what it took, and its step, are told besides. Hot path: a look-up, where calls are not refused.
   *
   * @param refused null: it was not refused
   */
  noteCall(key: SessionKey, callId: string, refused: SessionView['refused_call']): void {
    const view = this.peek(key);
    if (view === undefined) return;
    const wasAwaited = forgetAnswer(view, callId);
    if (!wasAwaited && view.refused_call === refused) return;
    view.refused_call = refused;
    this.#changed(key, view);
  }

  /** A proxied call of this session took something, and no step tells of it; its row, if it has none, begins with it. Never throws. */
  noteStepless(use: SteplessUse): void {
    if (!this.mayHaveLeft(use.key)) this.#took(use);
    else void this.bringBack(use.key).then(() => this.#took(use), this.#options.onStoreFailed);
  }

  /** As much as its calls took its row says at least. */
  noteRecorded(key: SessionKey, { costUsd, tokens, isUnknown }: RecordedUse): void {
    const view = this.peek(key);
    if (view === undefined) return;
    view.cost_usd = Math.max(view.cost_usd, costUsd);
    view.tokens = Math.max(view.tokens, tokens);
    view.cost_unknown ||= isUnknown;
    this.#changed(key, view);
  }

  /** Most recently active first; of too many, what wants somebody stays. */
  snapshot(tenantId: string): SessionView[] {
    const views: SessionView[] = [];
    for (const [, view] of this.#views.entries(tenantId)) views.push({ ...view });
    return rowsToShow(views.reverse(), LIMITS.listedSessionsMax);
  }

  /** How many are not over, by tenant. One look at all of them. */
  liveCounts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [key, { ended }] of this.#views.entries()) {
      if (ended) continue;
      const tenantId = tenantIdOf(key);
      counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    }
    return counts;
  }

  /** Saves what changed. Never throws: what failed stays unsaved. */
  save(): Promise<void> {
    return this.#writer.save();
  }

  #took({ key, agentId, callId, ...use }: SteplessUse): void {
    const nowMs = this.#options.clock.nowMs();
    const known = this.#views.get(tenantIdOf(key), key);
    if (known !== undefined && known.last_seen_ms > nowMs) this.#setBack(known);
    const call = { agent_id: agentId, session_id: splitSessionKey(key).sessionId, call_id: callId };
    const view = known ?? rowOfCall(call, nowMs, 0);
    applyUse(view, use, nowMs);
    if (known === undefined) this.#add(key, view);
    else this.#changed(key, view);
  }

  /** It was seen last by a clock that was ahead: else no time would pass for it until that comes. */
  #setBack(view: SessionView): void {
    view.last_seen_ms = Math.min(view.last_seen_ms, this.#options.clock.nowMs());
  }

  async #foldAgain(step: StoredStep): Promise<void> {
    const key = sessionKey(step.tenant_id, step.session_id);
    if (this.mayHaveLeft(key)) await this.bringBack(key);
    this.apply(key, step, this.windowWith(key, step));
  }

  /**
   * A session that is at work, or wants somebody, and is not in memory: it gets a row, so that an operator can act on it. If
   * it was in memory before, it is the row of then.
   *
   * In the same turn while every session is in memory; else after one look into the store. Never rejects: a look
   * that fails gives a new row, since a session nobody can see is one nobody can stop.
   */
  async #introduce(key: SessionKey, makeRow: () => SessionView): Promise<void> {
    if (this.mayHaveLeft(key)) await this.bringBack(key).catch(this.#options.onStoreFailed);
    // A step of it may have come meanwhile, or have been released, and shown.
    if (this.peek(key) === undefined) this.#add(key, makeRow());
  }

  #add(key: SessionKey, view: SessionView): void {
    showControl(view, this.#options.controlOf(key));
    this.#views.set(tenantIdOf(key), key, view);
    this.#newcomers.delete(tenantIdOf(key), key);
    this.#changed(key, view);
  }

  #changed(key: SessionKey, view: SessionView): void {
    this.#writer.changed(key, view);
    this.#feed.changed(key);
  }

  /**
   * Touches what is held, and brings back what has left all the same: somebody has to decide on it, however quiet it is.
   * Never rejects.
   */
  async #keepHeld(): Promise<void> {
    if (this.#isKeepingHeld) return;
    this.#isKeepingHeld = true;
    let room = Math.floor(this.#options.sessionCountMax * HELD_SHARE);
    try {
      for (const key of this.#options.heldKeys()) {
        if (room === 0) return;
        room -= 1;
        if (this.#views.get(tenantIdOf(key), key) === undefined && this.mayHaveLeft(key))
          await this.bringBack(key);
      }
    } catch (error) {
      this.#options.onStoreFailed(error);
    } finally {
      this.#isKeepingHeld = false;
    }
  }

  #findSilent(): void {
    const nowMs = this.#options.clock.nowMs();
    this.#silent = [];
    for (const [key, view] of this.#views.entries()) if (fallsSilent(view, nowMs)) this.#silent.push(key);
  }

  #markIdle(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const key of this.#silent.splice(0, IDLE_PER_FRAME_MAX)) {
      const view = this.peek(key);
      if (view === undefined || !fallsSilent(view, nowMs)) continue;
      view.state = 'idle';
      this.#changed(key, view);
    }
  }
}

/** Page by page, in the order of `seq`. */
async function eachStep(
  read: (afterSeq: number) => Promise<StoredStep[]>,
  afterSeq: number,
  visit: (step: StoredStep) => Promise<void>,
): Promise<void> {
  let seq = afterSeq;
  for (;;) {
    const steps = await read(seq);
    const last = steps.at(-1);
    if (last === undefined) return;
    for (const step of steps) await visit(step);
    seq = last.seq;
  }
}
