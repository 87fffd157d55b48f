/**
 * Which sessions wait for a person their agent asked for (`hitl_required`), and which agent did: several may work in one
 * session. No more than there are sessions under control.
 */
import {
  type ControlView,
  type DecisionStore,
  type SessionKey,
  type StoredStep,
  SYSTEM_OPERATOR,
  splitSessionKey,
} from '#contracts';

/** Of a pause that the gateway began because a step asked for a person. */
const REASON = 'hitl_required';
/** Looked at of what a session holds, oldest first: what its agent asked with, but for what came at that very moment. */
const HELD_LOOKED_AT = 20;
/** Sessions looked at at once. */
const LOOK_PARALLEL_COUNT = 64;

const isHeld = ({ state }: ControlView): boolean => state === 'pause_requested' || state === 'paused';

/** Its agent asked, and nobody came yet. */
export const waitsForPerson = (control: ControlView): boolean =>
  isHeld(control) && control.operator_id === SYSTEM_OPERATOR && control.reason === REASON;

const asksForPerson = ({ log }: StoredStep): boolean => log.control?.hitl_required === true;

/**
 * After a restart: the agent that asked, for each session of which the store knows it. Its row names the one seen last.
 * Rejects as the store does.
 */
export async function findAskers(
  store: Pick<DecisionStore, 'heldSteps'>,
  waiting: readonly SessionKey[],
): Promise<ReadonlyMap<SessionKey, string>> {
  const askers = new Map<SessionKey, string>();
  const look = async (key: SessionKey) => {
    const { tenantId, sessionId } = splitSessionKey(key);
    const asking = (await store.heldSteps(tenantId, sessionId, HELD_LOOKED_AT)).find(asksForPerson);
    if (asking !== undefined) askers.set(key, asking.agent_id);
  };
  for (let from = 0; from < waiting.length; from += LOOK_PARALLEL_COUNT)
    await Promise.all(waiting.slice(from, from + LOOK_PARALLEL_COUNT).map(look));
  return askers;
}

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
    return asksForPerson(step) && waitsForPerson(control) && this.begin(key, step.agent_id);
  }

  /** @returns the agent whose wait this ends; null: none */
  noteControl(key: SessionKey, control: ControlView): string | null {
    const agentId = this.#agentIds.get(key);
    if (agentId === undefined || isHeld(control)) return null;
    this.#agentIds.delete(key);
    return agentId;
  }
}
