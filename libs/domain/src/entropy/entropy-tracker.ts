/**
 * Labels a session by how much it repeats itself: the single owner and only writer of entropy windows. Imported
 * through `#domain/entropy/writer` by the schema interceptor alone (a lint rule); everyone else gets an
 * `EntropyReader`. It never stops an agent: that is an operator's or the kill switch's business.
 *
 *     score   1 ........ 0.50 ........ 0.25 ........ 0        (defaults; a score equal to a threshold is milder)
 *             |  normal   |  warning    |   loop    |
 *     node      active       blocked     alert_entropy         event: with every loop, with nothing else
 *
 * @see FR-9.1 to FR-9.7, FR-9.11
 */
import {
  type EntropyTuple,
  type RuntimeConfigSource,
  type SessionKey,
  type Severity,
  splitSessionKey,
} from '#contracts';
import { type Clock, type EvictionReason, ownText, TtlLru } from '#kernel';
import { entropyAlertOf, findMissingAlertField } from './entropy-alert.js';
import type { EntropyPublisher } from './entropy-publisher.js';
import type { EntropyReader } from './entropy-reader.js';
import { decideSeverity, mostFrequent, roundScore } from './entropy-score.js';
import { EntropySettings } from './entropy-settings.js';
import { EntropyWindow } from './entropy-window.js';
import { TextPool } from './text-pool.js';
import { WindowRows, type WindowSlot } from './window-rows.js';

const SESSION_COUNT_MAX = 1_000_000;
const SESSION_IDLE_MS = 6 * 3_600_000;
/** Of all windows: a million sessions of five different lines of a hundred characters. */
const TEXT_CHARS_MAX = 512 * 1024 * 1024;

export interface EntropyTrackerOptions {
  clock: Clock;
  /** Read on each call, never cached. */
  config: RuntimeConfigSource;
  publisher: EntropyPublisher;
  /** One line per misconfiguration, refused event or session without an agent. */
  warn: (message: string) => void;
  /** Called for each window that a bound pushed out, so that it can be counted. */
  onEvicted?: (key: SessionKey, reason: EvictionReason) => void;
  /** Windows held at once, `SESSION_COUNT_MAX` unless told otherwise; the least recently used leaves first. */
  sessionCountMax?: number;
  /** A window unused for this long is gone, `SESSION_IDLE_MS` unless told otherwise. */
  sessionIdleMs?: number;
  /** Characters of all windows' texts, `TEXT_CHARS_MAX` unless told otherwise; the least recently used leave first. */
  textCharsMax?: number;
}

export type RecordResult =
  | {
      ok: true;
      /** 0..1, rounded to 4 decimals. */
      score: number;
      severity: Severity;
      /** Tuples the score was taken over, this one included. */
      window_size: number;
    }
  | { ok: false; error: 'missing_agent_id' };

/** A used window moves to the young end of the eviction order at most this often; the move costs cache misses. */
const USE_NOTED_EVERY_MS_MAX = 60_000;
/** So many times in the idle time at least: a window in use would otherwise count as idle where that time is short. */
const USES_NOTED_IN_IDLE_TIME = 60;

export class EntropyTracker implements EntropyReader {
  /** Order of eviction is by last use, to `#useNotedEveryMs`. */
  readonly #slots: TtlLru<SessionKey, WindowSlot>;
  readonly #rows = new WindowRows();
  readonly #pool = new TextPool();
  /** Shows the window that is being written; what a publisher makes of it comes last, and may write another. */
  readonly #window = new EntropyWindow(this.#rows, this.#pool);
  /** Shows what is looked at while that one is in use: bounds weigh other windows, and readers ask at any time. */
  readonly #other = new EntropyWindow(this.#rows, this.#pool);
  /** Read once per call and lent to `#slots`. */
  #steadyMs = 0;
  readonly #useNotedEveryMs: number;
  readonly #settings: EntropySettings;
  readonly #options: EntropyTrackerOptions;

  constructor(options: EntropyTrackerOptions) {
    this.#options = options;
    this.#settings = new EntropySettings(options.config, options.warn);
    const idleMs = options.sessionIdleMs ?? SESSION_IDLE_MS;
    this.#useNotedEveryMs = Math.min(USE_NOTED_EVERY_MS_MAX, idleMs / USES_NOTED_IN_IDLE_TIME);
    this.#slots = new TtlLru({
      countMax: options.sessionCountMax ?? SESSION_COUNT_MAX,
      idleMs,
      clock: { steadyMs: () => this.#steadyMs },
      weight: {
        max: options.textCharsMax ?? TEXT_CHARS_MAX,
        of: (slot) => this.#other.at(slot).textChars,
      },
      onEvict: (key, slot, reason) => {
        this.#close(slot);
        options.onEvicted?.(key, reason);
      },
    });
  }

  get size(): number {
    return this.#slots.size;
  }

  /**
   * Names the agent of the step about to be recorded. Called before each `recordAndScore`: a session may have
   * several agents, and alerts and node states name the one whose step it was. O(1).
   *
   * @returns the session's window, to hand to `recordAndScore` and its readers in the same turn: the look-up is what
   *   costs. Afterwards it may be another session's.
   */
  bindAgent(key: SessionKey, agentId: string): WindowSlot {
    const slot = this.#slotOf(key);
    this.#window.at(slot).agentId = agentId;
    return slot;
  }

  /**
   * Adds one tuple to the session's window and scores what is then in it. Everything that follows from the score
   * (alert, node state) is published before this returns. Synchronous, never throws; a few cache misses, see
   * bench/entropy.mjs.
   *
   * @param session its key, or what `bindAgent` returned for it this turn, which saves finding it again
   * @returns `missing_agent_id` when no `bindAgent` came first: then nothing is recorded or published
   * @see FR-9.3 to FR-9.7, FR-9.9
   */
  recordAndScore(session: SessionKey | WindowSlot, tuple: EntropyTuple): RecordResult {
    const slot = typeof session === 'string' ? this.#use(session) : session;
    const window = slot === undefined ? undefined : this.#window.at(slot);
    if (slot === undefined || !window?.isBound) {
      const key = typeof session === 'string' ? session : this.keyOf(session);
      this.#options.warn(
        `entropy not computed, no agent_id known for session ${splitSessionKey(key).sessionId}`,
      );
      return { ok: false, error: 'missing_agent_id' };
    }
    const charsBefore = window.textChars;
    window.push(tuple);
    const charsMore = window.textChars - charsBefore;
    if (charsMore !== 0) this.#slots.reweigh(slot, charsMore);

    const ratio = window.uniqueCount / window.size;
    const score = roundScore(ratio);
    const severity = this.#severityOf(ratio);
    const severityBefore = window.severity;
    window.severity = severity;
    const window_size = window.size;
    if (severity !== 'normal') this.#publishTrouble(window, score, severity);
    else if (severityBefore !== 'normal') this.#publishRecovery(window);
    return { ok: true, score, severity, window_size };
  }

  /** The session of a window that `bindAgent` returned this turn: the very text that its owner keeps. */
  keyOf(slot: WindowSlot): SessionKey {
    return this.#other.at(slot).key;
  }

  /**
   * True when the session's window is complete as far as anyone knows: recorded into, or restored. A session only
   * bound to an agent is not: its history may still be in the store.
   */
  has(key: SessionKey): boolean {
    const slot = this.#peek(key);
    if (slot === undefined) return false;
    const { size, isRestored } = this.#other.at(slot);
    return size > 0 || isRestored;
  }

  /**
   * Rebuilds a window after a restart or an eviction, from the session's last steps. Publishes nothing: whoever had
   * to know was told when these steps came in.
   *
   * @param tuples oldest first; more than a window are welcome, the newest count
   * @returns false, and nothing changes, where the window `has` content already: what is live is newer
   */
  restore(key: SessionKey, agentId: string, tuples: readonly EntropyTuple[]): boolean {
    if (this.has(key)) return false;
    const slot = this.#slotOf(key);
    const window = this.#window.at(slot);
    const charsBefore = window.textChars;
    for (const tuple of tuples.slice(-window.capacity)) window.push(tuple);
    this.#slots.reweigh(slot, window.textChars - charsBefore);
    window.markRestored();
    window.agentId = agentId;
    if (window.size > 0) window.severity = this.#severityOf(window.uniqueCount / window.size);
    if (window.severity !== 'normal' && agentId !== '') window.flagAgent();
    return true;
  }

  /** @param session its key, or what `bindAgent` returned for it this turn */
  snapshot(session: SessionKey | WindowSlot): readonly EntropyTuple[] {
    const slot = typeof session === 'string' ? this.#peek(session) : session;
    return slot === undefined ? [] : this.#other.at(slot).toArray();
  }

  /** Drops the session's window; a later step starts a new one. Not counted as an eviction. */
  forget(key: SessionKey): boolean {
    this.#steadyMs = this.#options.clock.steadyMs();
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#close(slot);
    return true;
  }

  #peek(key: SessionKey): WindowSlot | undefined {
    this.#steadyMs = this.#options.clock.steadyMs();
    return this.#slots.peek(key);
  }

  /** The session's live window, of the size it should have, marked as used. */
  #use(key: SessionKey): WindowSlot | undefined {
    const slot = this.#peek(key);
    if (slot === undefined) return undefined;
    const window = this.#window.at(slot);
    const period = this.#period();
    if (window.usedPeriod !== period) {
      window.usedPeriod = period;
      this.#slots.get(key);
    }
    return window.capacity === this.#settings.windowSize ? slot : this.#resize(slot);
  }

  #slotOf(key: SessionKey): WindowSlot {
    const existing = this.#use(key);
    if (existing !== undefined) return existing;
    // An idle window under this key would otherwise be replaced without being counted.
    this.#slots.get(key);
    const slot = this.#rows.open(this.#settings.windowSize);
    const window = this.#window.at(slot);
    // Held a million times, and compared at each look-up.
    window.key = ownText(key);
    window.usedPeriod = this.#period();
    this.#slots.set(window.key, slot);
    return slot;
  }

  /** Of now, cut to the 32 bits that a row has for it. */
  #period(): number {
    return Math.floor(this.#steadyMs / this.#useNotedEveryMs) | 0;
  }

  /** Moves the window to a row of the size it should have. Keeps the newest tuples. */
  #resize(slot: WindowSlot): WindowSlot {
    const moved = this.#rows.open(this.#settings.windowSize);
    const old = this.#other.at(slot);
    const window = this.#window.at(moved);
    window.takeOver(old);
    this.#slots.set(window.key, moved);
    this.#close(slot);
    return moved;
  }

  #close(slot: WindowSlot): void {
    this.#other.at(slot).releaseTexts();
    this.#rows.close(slot);
  }

  #severityOf(ratio: number): Severity {
    return decideSeverity(ratio, this.#settings.loopWhenScoreBelow, this.#settings.warningWhenScoreBelow);
  }

  /** Also when nothing changed since the last step: every loop alerts, and no earlier warning mutes it. */
  #publishTrouble(window: EntropyWindow, score: number, severity: Exclude<Severity, 'normal'>): void {
    const { key, agentId } = window;
    const gaveWay = window.flagAgent();
    if (severity === 'loop') this.#publishAlert(window, score);
    const state = severity === 'loop' ? 'alert_entropy' : 'blocked';
    this.#options.publisher.publishNodeState(key, agentId, state);
    // Nobody would know later that its node is to be cleared.
    if (gaveWay !== undefined) this.#options.publisher.publishNodeState(key, gaveWay, 'active');
  }

  #publishAlert(window: EntropyWindow, score: number): void {
    const { key } = window;
    const { sessionId } = splitSessionKey(key);
    const repeated = mostFrequent(window.toArray());
    if (repeated === undefined) return;
    const event = entropyAlertOf(
      { sessionId, agentId: window.agentId },
      { score, windowSize: window.size, repeated },
      this.#options.clock.nowMs(),
    );
    const missing = findMissingAlertField(event);
    if (missing === null) this.#options.publisher.publishAlert(key, event);
    else this.#options.warn(`entropy alert of session ${sessionId} not published, it lacks ${missing}`);
  }

  /** Every agent coloured during the trouble is cleared, or the one whose step ended it where nobody knows them. */
  #publishRecovery(window: EntropyWindow): void {
    const { key, agentId, flaggedAgentIds } = window;
    window.unflagAgents();
    for (const flagged of flaggedAgentIds.length > 0 ? flaggedAgentIds : [agentId]) {
      this.#options.publisher.publishNodeState(key, flagged, 'active');
    }
  }
}
