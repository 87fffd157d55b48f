/** Which calls hang on an operator right now. Bounded by the desk, which refuses a call beyond its places. */
import { type AgentScope, agentScope, type HeldCall } from '#contracts';

interface Filter {
  agentId?: string | undefined;
  sessionId?: string | undefined;
}

export class HeldCalls {
  /** With their tenants. */
  readonly #calls = new Map<HeldCall, string>();
  /** The same; nothing is kept of an agent without one. A listing asks for each of thousands of agents. */
  readonly #byAgent = new Map<AgentScope, Set<HeldCall>>();

  /** Returns the function that ends it. */
  enter(tenantId: string, call: HeldCall): () => void {
    const scope = agentScope(tenantId, call.agent_id);
    const ofAgent = this.#byAgent.get(scope) ?? new Set();
    this.#byAgent.set(scope, ofAgent.add(call));
    this.#calls.set(call, tenantId);
    return () => {
      this.#calls.delete(call);
      if (ofAgent.delete(call) && ofAgent.size === 0) this.#byAgent.delete(scope);
    };
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Longest held first. */
  of(tenantId: string, { agentId, sessionId }: Filter = {}): HeldCall[] {
    const calls =
      agentId === undefined ? this.#ofTenant(tenantId) : this.#byAgent.get(agentScope(tenantId, agentId));
    return [...(calls ?? [])].filter((call) => sessionId === undefined || call.session_id === sessionId);
  }

  *#ofTenant(tenantId: string): Generator<HeldCall> {
    for (const [call, itsTenantId] of this.#calls) if (itsTenantId === tenantId) yield call;
  }
}
