/**
 * Whether messages of a session are stored as held, and the way back to publishing without losing or overtaking one.
 *
 *     message:  isHolding? yes -> append(held)                                   both in one turn of the event loop
 *     resume:   commit(active + release) -> look -> release -> look ... -> quiet: gate opens
 *
 * Why nothing is stranded: the store writes first in, first out, so a release takes every held append handed over
 * before it, a piece at a time. `isHolding` counts its yeses. When the release of a last piece has committed and the count is what it was when that release
 * was handed over, nobody was told "hold" since, so no held append can follow it; the gate opens in that same turn.
 * Otherwise another release runs, behind these appends. Why nothing is overtaken: while the gate is closed every new
 * message becomes a held one behind the earlier ones, and it opens only after all of them were published.
 * A session that floods faster than the store commits keeps this going, its messages late by one commit but complete
 * and in order. So the rounds are bounded, and end at once for an operator's command: the gate stays closed, commands get their
 * turn, and the rest follows, or stays held if it was a pause.
 * A caller that breaks the one-turn rule is caught by `noteHeld`: a held message noted at an open gate drains again.
 */
import { RELEASED_STEPS_MAX, type SessionKey } from '#contracts';
import { UnderWay } from '#kernel';
import { type ControlEntry, isClosed, NOT_SWEPT } from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { ControlWriter } from './control-writer.js';

/** Releases in one go, besides those that what is held already takes. */
const ROUNDS_MAX = 10;

export class HeldGate {
  readonly #registry: ControlRegistry;
  readonly #writer: ControlWriter;
  /** Operators' commands that wait for their turn. */
  readonly #commands = new UnderWay<SessionKey>();

  constructor(registry: ControlRegistry, writer: ControlWriter) {
    this.#registry = registry;
    this.#writer = writer;
  }

  /** An operator's command waits for its turn: a release stops behind one piece. @returns ends that; twice does no harm */
  standAside(key: SessionKey): () => void {
    return this.#commands.begin(key);
  }

  /** O(1). The caller that stores the message must hand it to the store in the same turn. */
  isHolding(key: SessionKey): boolean {
    const entry = this.#registry.bound(key);
    if (entry === undefined || !isClosed(entry)) return false;
    entry.holdAnswerCount += 1;
    return true;
  }

  /** Counts one more held message. Returns true if the gate was open and so must be drained again. */
  noteHeld(key: SessionKey): boolean {
    const entry = this.#registry.open(key);
    entry.heldBalance += 1;
    const isStranded = !isClosed(entry) && entry.heldBalance > 0;
    if (isStranded) {
      entry.draining = true;
      entry.sweptAnswerCount = NOT_SWEPT;
      this.#registry.settle(entry);
    }
    return isStranded;
  }

  /**
   * Releases until nothing is held, then opens the gate; at once if it is not draining. Returns how many messages
   * were published; `entry.draining` is still set if the rounds did not suffice, or a command waits. Rejects as the store does: the gate
   * stays closed. In both cases calling again goes on.
   */
  async drain(entry: ControlEntry): Promise<number> {
    let releasedCount = 0;
    const roundsMax = ROUNDS_MAX + Math.ceil(Math.max(0, entry.heldBalance) / RELEASED_STEPS_MAX);
    for (let round = 1; entry.draining && !this.#openIfQuiet(entry) && round <= roundsMax; round += 1) {
      if (round > 1 && this.#commands.has(entry.key)) break;
      releasedCount += await this.#release(entry);
    }
    return releasedCount;
  }

  /** The look and the opening are one turn. */
  #openIfQuiet(entry: ControlEntry): boolean {
    if (entry.holdAnswerCount !== entry.sweptAnswerCount) return false;
    entry.draining = false;
    this.#registry.settle(entry);
    return true;
  }

  async #release(entry: ControlEntry): Promise<number> {
    try {
      const releasedCount = await this.#writer.release(entry);
      if (releasedCount > 0) this.#writer.publishControl(entry);
      return releasedCount;
    } catch (error) {
      entry.sweptAnswerCount = NOT_SWEPT;
      throw error;
    }
  }
}
