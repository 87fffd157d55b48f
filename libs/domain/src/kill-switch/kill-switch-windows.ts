/**
 * Decides, before a request is forwarded, whether its agent is only repeating itself. Owns the windows, bounded in
 * number, idle time and memory; acts on nothing: deactivating the agent and telling people is the caller's business. Where
 * there is no room the tenant that has most forgets its least recently used: no flood of one tenant's sessions, whose names are
 * its agents' own, takes the windows of another's.
 *
 *     observe(key, ...)       -> forward: the request is in the window      -> block: it is not
 *     recordAnswer(key, id)   the answer belongs to that request, whatever came in between; of several at once it is the first
 *     drop(key, id)           the upstream failed, or the client left before any word came: it never happened
 *
 * Keys are the caller's: tenant and agent, and for windows per session the session too, with NUL behind the tenant.
 *
 * @see seed 001, decisions 2 to 4
 */
import type { KillSwitchSettings, LlmAnswer, ScoreBreakdown } from '#contracts';
import { type Clock, FairLru, HOUR_MS } from '#kernel';
import { type KillSwitchDecision, KillSwitchWindow, type ObservedRequest } from './kill-switch-window.js';

const WINDOW_COUNT_MAX = 20_000;
const WINDOW_IDLE_MS = 6 * HOUR_MS;
/** Characters of prompts and answers kept for evidence, and prints of results and calls, over all windows: 64 MB of ASCII, twice that of other text. */
const WINDOW_CHARS_MAX = 64 * 1024 * 1024;

export interface KillSwitchWindowsOptions {
  clock: Clock;
  /** Windows held at once, `WINDOW_COUNT_MAX` unless told otherwise. */
  countMax?: number;
  /** A window unused for this long is gone, `WINDOW_IDLE_MS` unless told otherwise. */
  idleMs?: number;
  /** `WINDOW_CHARS_MAX` unless told otherwise. */
  charsMax?: number;
}

/** For metrics; all but the first two only ever grow. */
export interface KillSwitchCounts {
  windows: number;
  /** Of all windows, as `WINDOW_CHARS_MAX` counts them. */
  chars: number;
  /** Windows that left for want of room. */
  evicted_capacity: number;
  evicted_memory: number;
}

const NO_SCORE: ScoreBreakdown = {
  similar_prompts: 0,
  similar_responses: 0,
  repeated_tool_calls: 0,
  score: 0,
};

export class KillSwitchWindows {
  readonly #windows: FairLru<string, KillSwitchWindow>;

  constructor({
    clock,
    countMax = WINDOW_COUNT_MAX,
    idleMs = WINDOW_IDLE_MS,
    charsMax = WINDOW_CHARS_MAX,
  }: KillSwitchWindowsOptions) {
    this.#windows = new FairLru({
      countMax,
      idleMs,
      clock,
      weight: { max: charsMax, of: (window) => window.chars },
    });
  }

  /**
   * Scores the request against the earlier ones of its window, and remembers it unless it is stopped. Synchronous;
   * its cost is that of the fingerprint, see bench/kill-switch.mjs. Nothing is scored or remembered while disabled.
   */
  observe(
    key: string,
    settings: Readonly<KillSwitchSettings>,
    observed: ObservedRequest,
  ): KillSwitchDecision {
    if (!settings.enabled) return { kind: 'forward', breakdown: NO_SCORE };
    const tenantId = tenantOf(key);
    let window = this.#windows.get(tenantId, key);
    if (window === undefined) {
      window = new KillSwitchWindow();
      this.#windows.set(tenantId, key, window);
    }
    return this.#change(key, window, (one) => one.decide(observed, settings.window_size, settings.threshold));
  }

  /** Attaches the answer to its own request. A failed answer is none: the request is dropped. A late one goes nowhere. */
  recordAnswer(key: string, callId: string, answer: LlmAnswer): void {
    if (answer.failed) {
      this.drop(key, callId);
      return;
    }
    this.#changeKnown(key, (one) => one.recordAnswer(callId, answer));
  }

  /** The call got no answer: a client that tries again does the right thing, so it must not add up. */
  drop(key: string, callId: string): void {
    this.#changeKnown(key, (one) => one.drop(callId));
  }

  /**
   * Highest score of the live windows of each group, in one pass over all windows.
   *
   * @param groupOf such as the agent's part of the key; null leaves the window out
   */
  highestScores(groupOf: (key: string) => string | null): Map<string, number> {
    this.#windows.evictIdle();
    const highest = new Map<string, number>();
    for (const [key, window] of this.#windows.entries()) {
      const group = groupOf(key);
      if (group !== null) highest.set(group, Math.max(highest.get(group) ?? 0, window.score));
    }
    return highest;
  }

  /** Clears a window; answers still under way are then late. */
  forget(key: string): boolean {
    return this.#windows.delete(tenantOf(key), key);
  }

  /** Clears all windows whose key passes: those of an agent that is reactivated. @returns how many there were */
  forgetWhere(matches: (key: string) => boolean): number {
    this.#windows.evictIdle();
    const keys = [...this.#windows.entries()].map(([key]) => key).filter(matches);
    for (const key of keys) this.forget(key);
    return keys.length;
  }

  counts(): KillSwitchCounts {
    return {
      windows: this.#windows.size,
      chars: this.#windows.weight,
      evicted_capacity: this.#windows.evicted.capacity,
      evicted_memory: this.#windows.evicted.memory,
    };
  }

  #changeKnown<Result>(key: string, change: (window: KillSwitchWindow) => Result): Result | undefined {
    const window = this.#windows.get(tenantOf(key), key);
    return window && this.#change(key, window, change);
  }

  /** Keeps the sum of characters, and its bound. */
  #change<Result>(
    key: string,
    window: KillSwitchWindow,
    change: (window: KillSwitchWindow) => Result,
  ): Result {
    const charsBefore = window.chars;
    const result = change(window);
    this.#windows.reweigh(tenantOf(key), key, window, window.chars - charsBefore);
    return result;
  }
}

const tenantOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('\0')));
