/**
 * Which calls hang on an operator right now, and how they hear that they may hang no longer. Bounded by the desk, which
 * refuses a call beyond its places.
 */
import { type AgentScope, agentScope, type HeldCall } from '#contracts';

interface Held {
  tenantId: string;
  /** Has the call look again whether its agent and its key still stand. Never throws. */
  lookAgain: () => void;
}

export class HeldCalls {
  readonly #calls = new Map<HeldCall, Held>();

  /** Returns the function that ends it. */
  enter(tenantId: string, call: HeldCall, lookAgain: () => void): () => void {
    this.#calls.set(call, { tenantId, lookAgain });
    return () => {
      this.#calls.delete(call);
    };
  }

  get count(): number {
    return this.#calls.size;
  }

  /**
   * After a change of what an agent may do, or of whose keys are in force. In the turn of the change: what is undone right
   * behind it was in force for a moment, and who was stopped in it stays stopped.
   *
   * @param scope absent: all agents
   */
  lookAgain(scope?: AgentScope): void {
    for (const [{ agent_id }, { tenantId, lookAgain }] of [...this.#calls])
      if (scope === undefined || scope === agentScope(tenantId, agent_id)) lookAgain();
  }

  /** Longest held first. */
  of(
    tenantId: string,
    filter: { agentId?: string | undefined; sessionId?: string | undefined } = {},
  ): HeldCall[] {
    const found: HeldCall[] = [];
    for (const [call, held] of this.#calls) {
      if (held.tenantId !== tenantId) continue;
      if (filter.agentId !== undefined && call.agent_id !== filter.agentId) continue;
      if (filter.sessionId !== undefined && call.session_id !== filter.sessionId) continue;
      found.push(call);
    }
    return found;
  }
}
