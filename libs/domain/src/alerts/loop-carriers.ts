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

interface Loop {
  carriers: Set<string>;
  heardMs: number;
}

export class LoopCarriers {
  readonly #loops: TtlLru<string, Loop>;

  constructor(clock: Clock) {
    this.#loops = new TtlLru({ countMax: LOOPING_SESSIONS_MAX, idleMs: LOOP_IDLE_MS_MAX, clock });
  }

  /** Takes note of the event. @returns the agents, other than its own, from which it takes the label */
  apply(event: AlertEvent): readonly string[] {
    if (event.kind !== 'step' && event.kind !== 'severity') return NOBODY;
    const { agent_id, session_id } = event;
    if (session_id === null) return NOBODY;
    const loop = this.#loops.get(session_id);
    if (isLoop(event)) {
      if (loop === undefined)
        this.#loops.set(session_id, { carriers: new Set([agent_id]), heardMs: event.at_ms });
      else {
        loop.heardMs = event.at_ms;
        if (loop.carriers.size < CARRIERS_MAX) loop.carriers.add(agent_id);
      }
      return NOBODY;
    }
    if (loop === undefined) return NOBODY;
    this.#loops.delete(session_id);
    loop.carriers.delete(agent_id);
    return [...loop.carriers];
  }

  /** One that carries the session's label; null: it is in no loop. */
  anyOf(sessionId: string): string | null {
    const [agentId = null] = this.#loops.peek(sessionId)?.carriers ?? NOBODY;
    return agentId;
  }

  /** When the session was heard of last; null: it is in no loop. */
  heardMs(sessionId: string): number | null {
    return this.#loops.peek(sessionId)?.heardMs ?? null;
  }
}

const NOBODY: readonly string[] = [];

/** The session is in a loop and goes on. */
const isLoop = (event: AlertEvent & { kind: 'step' | 'severity' }): boolean =>
  event.severity === 'loop' && !(event.kind === 'step' && event.ended);
