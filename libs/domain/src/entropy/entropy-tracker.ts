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
import { decideSeverity, roundScore } from './entropy-score.js';
import { EntropySettings } from './entropy-settings.js';
import { EntropyWindow } from './entropy-window.js';

export const SESSION_COUNT_MAX = 1_000_000;
export const SESSION_IDLE_MS = 6 * 3_600_000;
/** Of all windows: a million sessions of five different lines of a hundred characters. */
export const TEXT_CHARS_MAX = 512 * 1024 * 1024;

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
const USE_NOTED_EVERY_MS = 60_000;

export class EntropyTracker implements EntropyReader {
  /** Order of eviction is by last use, to the minute. */
  readonly #windows: TtlLru<SessionKey, EntropyWindow>;
  /** Read once per call and lent to `#windows`. */
  #nowMs = 0;
  readonly #settings: EntropySettings;
  readonly #options: EntropyTrackerOptions;

  constructor(options: EntropyTrackerOptions) {
    this.#options = options;
    this.#settings = new EntropySettings(options.config, options.warn);
    this.#windows = new TtlLru({
      countMax: options.sessionCountMax ?? SESSION_COUNT_MAX,
      idleMs: options.sessionIdleMs ?? SESSION_IDLE_MS,
      clock: { nowMs: () => this.#nowMs },
      weight: { max: options.textCharsMax ?? TEXT_CHARS_MAX, of: (window) => window.textChars },
      onEvict: (key, _window, reason) => options.onEvicted?.(key, reason),
    });
  }

  get size(): number {
    return this.#windows.size;
  }

  /**
   * Names the agent of the step about to be recorded. Called before each `recordAndScore`: a session may have
   * several agents, and alerts and node states name the one whose step it was. O(1).
   *
   * @returns the session's window, to hand to `recordAndScore` in the same turn: the look-up is what costs
   */
  bindAgent(key: SessionKey, agentId: string): EntropyWindow {
    const window = this.#windowOf(key);
    window.agentId = agentId;
    return window;
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
  recordAndScore(session: SessionKey | EntropyWindow, tuple: EntropyTuple): RecordResult {
    const window = typeof session === 'string' ? this.#use(session) : session;
    if (window === undefined || window.agentId === '') {
      const key = typeof session === 'string' ? session : session.key;
      this.#options.warn(
        `entropy not computed, no agent_id known for session ${splitSessionKey(key).sessionId}`,
      );
      return { ok: false, error: 'missing_agent_id' };
    }
    const windowSize = this.#settings.windowSize;
    const charsBefore = window.textChars;
    if (window.capacity !== windowSize) window.resize(windowSize);
    window.push(tuple);
    const charsMore = window.textChars - charsBefore;
    if (charsMore !== 0) this.#windows.reweigh(window, charsMore);

    const ratio = window.uniqueCount / window.size;
    const score = roundScore(ratio);
    const severity = this.#severityOf(ratio);
    if (severity !== 'normal') this.#publishTrouble(window, score, severity);
    else if (window.severity !== 'normal') this.#publishRecovery(window);
    window.severity = severity;
    return { ok: true, score, severity, window_size: window.size };
  }

  /**
   * True when the session's window is complete as far as anyone knows: recorded into, or restored. A session only
   * bound to an agent is not: its history may still be in the store.
   */
  has(key: SessionKey): boolean {
    const window = this.#peek(key);
    return window !== undefined && (window.size > 0 || window.isRestored);
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
    const window = this.#windowOf(key);
    const windowSize = this.#settings.windowSize;
    const charsBefore = window.textChars;
    if (window.capacity !== windowSize) window.resize(windowSize);
    for (const tuple of tuples.slice(-windowSize)) window.push(tuple);
    this.#windows.reweigh(window, window.textChars - charsBefore);
    window.isRestored = true;
    window.agentId = agentId;
    if (window.size > 0) window.severity = this.#severityOf(window.uniqueCount / window.size);
    if (window.severity !== 'normal' && agentId !== '') window.flaggedAgentIds = [agentId];
    return true;
  }

  snapshot(key: SessionKey): readonly EntropyTuple[] {
    return this.#peek(key)?.toArray() ?? [];
  }

  /** Drops the session's window; a later step starts a new one. Not counted as an eviction. */
  forget(key: SessionKey): boolean {
    return this.#windows.delete(key);
  }

  #peek(key: SessionKey): EntropyWindow | undefined {
    this.#nowMs = this.#options.clock.nowMs();
    return this.#windows.peek(key);
  }

  /** The session's live window, marked as used. */
  #use(key: SessionKey): EntropyWindow | undefined {
    const window = this.#peek(key);
    if (window === undefined) return undefined;
    const minute = Math.floor(this.#nowMs / USE_NOTED_EVERY_MS);
    if (window.usedMinute !== minute) {
      window.usedMinute = minute;
      this.#windows.get(key);
    }
    return window;
  }

  #windowOf(key: SessionKey): EntropyWindow {
    const existing = this.#use(key);
    if (existing !== undefined) return existing;
    // Held a million times, and compared at each look-up.
    const held = ownText(key);
    const window = new EntropyWindow(held, this.#settings.windowSize);
    window.usedMinute = Math.floor(this.#nowMs / USE_NOTED_EVERY_MS);
    // An idle window under this key would otherwise be replaced without being counted.
    this.#windows.get(key);
    this.#windows.set(held, window);
    return window;
  }

  #severityOf(ratio: number): Severity {
    return decideSeverity(ratio, this.#settings.loopWhenScoreBelow, this.#settings.warningWhenScoreBelow);
  }

  /** Also when nothing changed since the last step: every loop alerts, and no earlier warning mutes it. */
  #publishTrouble(window: EntropyWindow, score: number, severity: Exclude<Severity, 'normal'>): void {
    if (severity === 'loop') this.#publishAlert(window, score);
    window.flaggedAgentIds ??= [];
    if (!window.flaggedAgentIds.includes(window.agentId)) window.flaggedAgentIds.push(window.agentId);
    this.#options.publisher.publishNodeState(
      window.key,
      window.agentId,
      severity === 'loop' ? 'alert_entropy' : 'blocked',
    );
  }

  #publishAlert(window: EntropyWindow, score: number): void {
    const { key } = window;
    const { sessionId } = splitSessionKey(key);
    const repeated = window.mostFrequent();
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

  /** Every agent coloured during the trouble is cleared, not only the one whose step ended it. */
  #publishRecovery(window: EntropyWindow): void {
    for (const agentId of window.flaggedAgentIds ?? [window.agentId]) {
      this.#options.publisher.publishNodeState(window.key, agentId, 'active');
    }
    window.flaggedAgentIds = undefined;
  }
}
