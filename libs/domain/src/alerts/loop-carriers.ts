/**
 * Which agents carry the loop label of a session. Several may work in one, and the step that takes the label from the
 * session, or ends it, need not be of the agent that was given it.
 */
import { type Clock, TtlLru } from '#kernel';
import type { AlertEvent } from './alert-event.js';
import { LOOP_IDLE_MS_MAX } from './looping-sessions.js';

/** Sessions of one tenant; of one forgotten, the label ages like any other. */
const LOOPING_SESSIONS_MAX = 20_000;
/** Of one session. */
const CARRIERS_MAX = 100;

export class LoopCarriers {
  readonly #agentIds: TtlLru<string, Set<string>>;

  constructor(clock: Clock) {
    this.#agentIds = new TtlLru({ countMax: LOOPING_SESSIONS_MAX, idleMs: LOOP_IDLE_MS_MAX, clock });
  }

  /** Takes note of the event. @returns the agents, other than its own, from which it takes the label */
  apply(event: AlertEvent): readonly string[] {
    if (event.kind !== 'step' && event.kind !== 'severity') return NOBODY;
    const { agent_id, session_id } = event;
    if (session_id === null) return NOBODY;
    const carriers = this.#agentIds.get(session_id);
    if (isLoop(event)) {
      if (carriers === undefined) this.#agentIds.set(session_id, new Set([agent_id]));
      else if (carriers.size < CARRIERS_MAX) carriers.add(agent_id);
      return NOBODY;
    }
    if (carriers === undefined) return NOBODY;
    this.#agentIds.delete(session_id);
    carriers.delete(agent_id);
    return [...carriers];
  }
}

const NOBODY: readonly string[] = [];

/** The session is in a loop and goes on. */
const isLoop = (event: AlertEvent & { kind: 'step' | 'severity' }): boolean =>
  event.severity === 'loop' && !(event.kind === 'step' && event.ended);
