/** The sessions of one agent that are in a loop, and what was heard of each last. By the steady clock: who sets the wall clock ends no loop. */

/** Sessions listed; a further one is listed, and told, when there is room. A notice says that they may be more. */
export const LOOPING_SESSIONS_PER_AGENT_MAX = 100;
/**
 * A session unheard of for this long gives its place to another; in a loop of steps it is no more: an agent that was
 * killed in the middle of one says no goodbye, and what it left must not stand for its later loops.
 */
export const LOOP_IDLE_MS_MAX = 10 * 60_000;

export class LoopingSessions<Loop extends { readonly steadyMs: number }> {
  /** In the order in which they went into a loop. */
  readonly #loops = new Map<string, Loop>();

  /** Those heard of within that time, in the order in which they went into a loop. */
  heardWithin(idleMs: number, nowSteadyMs: number): ReadonlyMap<string, Loop> {
    return new Map([...this.#loops].filter(([, { steadyMs }]) => nowSteadyMs - steadyMs < idleMs));
  }

  /** @returns false where it is listed already, or there is no room for it */
  note(sessionId: string, loop: Loop): boolean {
    const known = this.#loops.get(sessionId);
    if (known !== undefined && loop.steadyMs - known.steadyMs < LOOP_IDLE_MS_MAX) {
      if (loop.steadyMs >= known.steadyMs) this.#loops.set(sessionId, loop);
      return false;
    }
    this.#loops.delete(sessionId);
    // Who is listed stays: if the newest took the place of the oldest, each would be news again with its next step.
    const isFull = () => this.#loops.size >= LOOPING_SESSIONS_PER_AGENT_MAX;
    if (isFull()) this.forgetIdle(loop.steadyMs);
    if (isFull()) return false;
    this.#loops.set(sessionId, loop);
    return true;
  }

  /** @returns false where it was not listed */
  delete(sessionId: string): boolean {
    // Asked with every step, of agents of which most are in no loop.
    return this.#loops.size > 0 && this.#loops.delete(sessionId);
  }

  forgetIdle(nowSteadyMs: number): void {
    for (const [sessionId, { steadyMs }] of this.#loops)
      if (nowSteadyMs - steadyMs >= LOOP_IDLE_MS_MAX) this.#loops.delete(sessionId);
  }
}
