/**
 * Which sessions wait for a person, and which of their agents asked for one (`hitl_required`): several may work in one
 * session, and it may have been paused for something else. No more than there are sessions under control.
 */
import {
  type ControlView,
  type DecisionStore,
  type SessionKey,
  type StoredStep,
  SYSTEM_OPERATOR,
  sessionKey,
  splitSessionKey,
} from '#contracts';
import type { FiringState } from '#domain/alerts';

/** Of a pause that the gateway began because a step asked for a person. */
const REASON = 'hitl_required';
/** Looked at of what a session holds, oldest first: what its agent asked with, but for what came before it or at that very moment. */
const HELD_LOOKED_AT = 20;
/** Sessions looked at at once: what each of them holds may be large. */
const LOOK_PARALLEL_COUNT = 8;
/** Of one session. Of a further agent nobody hears that it asked, but of the session they did. */
export const ASKERS_PER_SESSION_MAX = 20;

/** An operator who paused it did not come because its agent asked, and may be told that it does. */
export const isHeld = ({ state }: ControlView): boolean => state === 'pause_requested' || state === 'paused';

/** It was paused because its agent asked, whoever that is. */
export const waitsForPerson = (control: ControlView): boolean =>
  isHeld(control) && control.operator_id === SYSTEM_OPERATOR && control.reason === REASON;

const asksForPerson = ({ log }: StoredStep): boolean => log.control?.hitl_required === true;

/** Session -> the agents that asked, in the order in which they did. */
export type Askers = Map<SessionKey, Set<string>>;

/**
 * After a restart: the agents that asked, as far as the store knows them of what each session holds. Its row names the one
 * seen last. Rejects as the store does.
 */
export async function findAskers(
  store: Pick<DecisionStore, 'heldSteps'>,
  held: readonly SessionKey[],
): Promise<Askers> {
  const askers: Askers = new Map();
  const look = async (key: SessionKey) => {
    const { tenantId, sessionId } = splitSessionKey(key);
    const asking = (await store.heldSteps(tenantId, sessionId, HELD_LOOKED_AT)).filter(asksForPerson);
    if (asking.length > 0) askers.set(key, new Set(asking.map(({ agent_id }) => agent_id)));
  };
  for (let from = 0; from < held.length; from += LOOK_PARALLEL_COUNT)
    await Promise.all(held.slice(from, from + LOOK_PARALLEL_COUNT).map(look));
  return askers;
}

/** Those of which people heard: what they asked with may stand behind much else that is held. */
export function addTold(
  askers: Askers,
  held: ReadonlyMap<SessionKey, ControlView>,
  tenantId: string,
  firing: readonly FiringState[],
): void {
  for (const { agent_id, told_session_ids, last_notice_ms } of firing) {
    for (const sessionId of told_session_ids) {
      const key = sessionKey(tenantId, sessionId);
      // Paused since then, it waits for something else, or for what nobody was told.
      const isSamePause = (held.get(key)?.since_ms ?? Number.POSITIVE_INFINITY) <= (last_notice_ms ?? 0);
      if (isSamePause) askers.set(key, new Set([...(askers.get(key) ?? []), agent_id]));
    }
  }
}

export class PersonWaits {
  readonly #askers: Askers = new Map();
  readonly #onFull: () => void;

  /** @param onFull an agent asked that has no place any more */
  constructor(onFull: () => void) {
    this.#onFull = onFull;
  }

  /** @returns false where this agent waits already, or has no place */
  begin(key: SessionKey, agentId: string): boolean {
    const askers = this.#askers.get(key) ?? new Set();
    if (askers.has(agentId)) return false;
    if (askers.size >= ASKERS_PER_SESSION_MAX) {
      this.#onFull();
      return false;
    }
    this.#askers.set(key, askers.add(agentId));
    return true;
  }

  /** A step was held. @returns true if its agent waits there from now on */
  noteHeld(key: SessionKey, step: StoredStep, control: ControlView): boolean {
    return asksForPerson(step) && isHeld(control) && this.begin(key, step.agent_id);
  }

  /** @returns the agents whose wait this ends */
  noteControl(key: SessionKey, control: ControlView): Iterable<string> {
    const askers = this.#askers.get(key);
    if (askers === undefined || isHeld(control)) return NOBODY;
    this.#askers.delete(key);
    return askers;
  }
}

const NOBODY: readonly string[] = [];
