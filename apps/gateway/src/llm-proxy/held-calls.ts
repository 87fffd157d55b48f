/** Which calls hang on an operator right now. Bounded by the desk, which refuses a call beyond its places. */
import type { HeldCall } from '#contracts';

export class HeldCalls {
  /** With their tenants. */
  readonly #calls = new Map<HeldCall, string>();

  /** Returns the function that ends it. */
  enter(tenantId: string, call: HeldCall): () => void {
    this.#calls.set(call, tenantId);
    return () => {
      this.#calls.delete(call);
    };
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Longest held first. */
  of(
    tenantId: string,
    filter: { agentId?: string | undefined; sessionId?: string | undefined } = {},
  ): HeldCall[] {
    const found: HeldCall[] = [];
    for (const [call, itsTenantId] of this.#calls) {
      if (itsTenantId !== tenantId) continue;
      if (filter.agentId !== undefined && call.agent_id !== filter.agentId) continue;
      if (filter.sessionId !== undefined && call.session_id !== filter.sessionId) continue;
      found.push(call);
    }
    return found;
  }
}
