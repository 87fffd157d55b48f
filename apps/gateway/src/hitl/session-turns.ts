/**
 * One thing at a time in each session: commands, confirmations, expiries. A release of held messages that is not finished goes on
 * before each and after it; what the store refuses of it is tried again.
 */
import type { SessionKey } from '#contracts';
import { ChangeQueue, type Timer } from '#kernel';
import { type ControlEntry, hearsOnlyOfExpiry, isClosed } from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { ControlWriter } from './control-writer.js';
import type { HeldGate } from './held-gate.js';
import type { HitlEvents } from './hitl-events.js';

/** The rest of a release that the store refused is tried again after this. */
const RELEASE_RETRY_MS = 1_000;

interface SessionTurnsParts {
  registry: ControlRegistry;
  gate: HeldGate;
  writer: ControlWriter;
  timer: Timer;
  events: HitlEvents;
}

export class SessionTurns {
  readonly #parts: SessionTurnsParts;
  readonly #queue = new ChangeQueue<SessionKey>();
  #isStopped = false;

  constructor(parts: SessionTurnsParts) {
    this.#parts = parts;
  }

  /** Something is under way, or waits for its turn. */
  isBusy(key: SessionKey): boolean {
    return this.#queue.isBusy(key);
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.#queue.idle();
  }

  /** Begins no release from now on: what is left is found by `ControlRegistry.loadAll` at the next start. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Runs `task` alone in its session, on the durable row; an unfinished release goes on before it and after it. */
  alone<T>(key: SessionKey, task: (entry: ControlEntry) => Promise<T>): Promise<T> {
    return this.#queue.run(key, async () => {
      const entry = await this.#parts.registry.load(key);
      await this.#parts.gate.drain(entry);
      try {
        return await task(entry);
      } finally {
        if (entry.draining) this.drainLater(entry);
      }
    });
  }

  /** The command is durable already: what is left of its release must not turn its answer into a failure. */
  async drainOrDefer(entry: ControlEntry): Promise<number> {
    try {
      return await this.#parts.gate.drain(entry);
    } catch (error) {
      this.#parts.events.releaseDeferred(entry.key, error);
      this.drainLater(entry, RELEASE_RETRY_MS);
      return 0;
    }
  }

  /**
   * Word of an expired pause is durable only until what was held is out, since a start finds an unfinished release by
   * it; for agents that never come back it would make every start longer. `state: active` says the same.
   */
  async shelve(entry: ControlEntry): Promise<void> {
    if (isClosed(entry) || entry.row.directives.length === 0 || !hearsOnlyOfExpiry(entry)) return;
    try {
      await this.#parts.writer.shelve(entry);
    } catch (error) {
      this.#parts.events.shelveDeferred(entry.key, error);
    }
  }

  /** Goes on with an unfinished release, at once or after a while; tried until the store takes it. */
  drainLater(entry: ControlEntry, delayMs = 0): void {
    if (entry.drainQueued) return;
    entry.drainQueued = true;
    const attempt = async () => {
      entry.drainQueued = false;
      if (this.#isStopped) return;
      try {
        await this.alone(entry.key, (drained) => this.shelve(drained));
      } catch (error) {
        this.#parts.events.releaseDeferred(entry.key, error);
        this.drainLater(entry, RELEASE_RETRY_MS);
      }
    };
    if (delayMs === 0) void attempt();
    else this.#parts.timer.after(delayMs, () => void attempt());
  }
}
