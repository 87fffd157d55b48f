/**
 * Which agents wait for a person (`hitl_required`), as their sessions' control says: several may work in one session, and it
 * may have been paused for something else. No more than there are sessions under control.
 */
import type { ControlView, SessionKey } from '#contracts';

export class PersonWaits {
  /** In the order in which they asked. No empty ones. */
  readonly #askers = new Map<SessionKey, readonly string[]>();

  /** @returns the agents that wait from now on, and those whose wait is over */
  note(key: SessionKey, { asked_by }: ControlView): { began: readonly string[]; ended: readonly string[] } {
    const before = this.#askers.get(key) ?? NOBODY;
    if (before === asked_by) return NO_CHANGE;
    if (asked_by.length > 0) this.#askers.set(key, asked_by);
    else this.#askers.delete(key);
    return {
      began: asked_by.filter((agentId) => !before.includes(agentId)),
      ended: before.filter((agentId) => !asked_by.includes(agentId)),
    };
  }
}

const NOBODY: readonly string[] = [];
const NO_CHANGE = { began: NOBODY, ended: NOBODY };
