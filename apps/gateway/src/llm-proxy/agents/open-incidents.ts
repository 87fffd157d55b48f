/** The latest incident of each agent that nobody has reactivated since, and whom its stop ends. */
import type { AgentScope, Incident } from '#contracts';

interface OpenIncident extends Pick<Incident, 'incident_id'> {
  /** Null: the agent is stopped wherever it is at work, by an operator as well or since before this start. */
  session_id: string | null;
}

export class OpenIncidents {
  readonly #open = new Map<AgentScope, OpenIncident>();

  note(scope: AgentScope, { incident_id, session_id }: OpenIncident): void {
    this.#open.set(scope, { incident_id, session_id });
  }

  idOf(scope: AgentScope): string | null {
    return this.#open.get(scope)?.incident_id ?? null;
  }

  /** Undefined where there is none; else see `OpenIncident`. */
  sessionOf(scope: AgentScope): string | null | undefined {
    return this.#open.get(scope)?.session_id;
  }

  /** An operator's stop ends all calls under way; who stopped the agent first stays on record. */
  widen(scope: AgentScope): void {
    const open = this.#open.get(scope);
    if (open !== undefined) this.note(scope, { ...open, session_id: null });
  }

  delete(scope: AgentScope): void {
    this.#open.delete(scope);
  }
}
