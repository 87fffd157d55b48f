/**
 * Which sessions wait for a person their agent asked for (`hitl_required`), and which agent did: several may work in one
 * session. No more than there are sessions under control.
 */
import { type ControlView, type SessionKey, type StoredStep, SYSTEM_OPERATOR } from '#contracts';

/** Of a pause that the gateway began because a step asked for a person. */
const REASON = 'hitl_required';

const isHeld = ({ state }: ControlView): boolean => state === 'pause_requested' || state === 'paused';

/** Its agent asked, and nobody came yet. */
export const waitsForPerson = (control: ControlView): boolean =>
  isHeld(control) && control.operator_id === SYSTEM_OPERATOR && control.reason === REASON;

export class PersonWaits {
  /** Session -> the agent that asked. */
  readonly #agentIds = new Map<SessionKey, string>();

  /** @returns false where the session waits already */
  begin(key: SessionKey, agentId: string): boolean {
    if (this.#agentIds.has(key)) return false;
    this.#agentIds.set(key, agentId);
    return true;
  }

  /** A step was held. @returns true if the session waits from now on */
  noteHeld(key: SessionKey, step: StoredStep, control: ControlView): boolean {
    const asks = step.log.control?.hitl_required === true && waitsForPerson(control);
    return asks && this.begin(key, step.agent_id);
  }

  /** @returns the agent whose wait this ends; null: none */
  noteControl(key: SessionKey, control: ControlView): string | null {
    const agentId = this.#agentIds.get(key);
    if (agentId === undefined || isHeld(control)) return null;
    this.#agentIds.delete(key);
    return agentId;
  }
}
