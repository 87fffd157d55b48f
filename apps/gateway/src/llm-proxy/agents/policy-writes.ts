/**
 * How policies come into the store: each with the stops of its agent that the audit does not have yet, and those whose write was refused
 * again, until the store takes them.
 */
import {
  type AgentPolicy,
  type AgentScope,
  type AuditDraft,
  type DocumentWrite,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import type { Clock, Timer } from '#kernel';
import { UnsavedWrites } from '../../unsaved-writes.js';

export interface PolicyWritesParts {
  store: Pick<ProxyStore, 'commitDocuments'>;
  clock: Clock;
  timer: Timer;
}

export class PolicyWrites {
  readonly #parts: PolicyWritesParts;
  /** Stops that the audit does not have, in their order: they go with the next policy that is written. */
  readonly #untold = new Map<AgentScope, readonly AuditDraft[]>();
  /** Those whose write was refused, or was not over when the gateway died. */
  readonly #unsaved: UnsavedWrites<AgentScope>;

  constructor(parts: PolicyWritesParts) {
    this.#parts = parts;
    this.#unsaved = new UnsavedWrites(parts.timer);
  }

  /** In one transaction. One after another for each agent. Rejects as the store does: then nothing has changed. */
  async save(
    scope: AgentScope,
    policy: AgentPolicy,
    { audit = [], reactivated }: Omit<DocumentWrite, 'saved'> = {},
  ): Promise<void> {
    const untold = this.#untoldOf(scope);
    const { tenantId, agentId } = splitAgentScope(scope);
    const { store, clock } = this.#parts;
    const key = { tenant_id: tenantId, kind: 'agent_policy' as const, id: agentId };
    await store.commitDocuments({
      saved: [{ ...key, body: policy, updated_at_ms: clock.nowMs() }],
      audit: [...untold, ...audit],
      reactivated,
    });
    const left = this.#untoldOf(scope).filter((draft) => !untold.includes(draft));
    if (left.length > 0) this.#untold.set(scope, left);
    else this.#untold.delete(scope);
    this.#unsaved.delete(scope);
  }

  /** A stop, once, with the next policy of its agent that is written. */
  tell(scope: AgentScope, stop: AuditDraft): void {
    const untold = this.#untoldOf(scope);
    if (!untold.includes(stop)) this.#untold.set(scope, [...untold, stop]);
  }

  untoldCount(scope: AgentScope): number {
    return this.#untoldOf(scope).length;
  }

  /** @param write tried until a policy of the agent is saved */
  saveLater(scope: AgentScope, write: () => Promise<void>): void {
    this.#unsaved.add(scope, write);
  }

  isUnsaved(scope: AgentScope): boolean {
    return this.#unsaved.has(scope);
  }

  get unsavedCount(): number {
    return this.#unsaved.size;
  }

  /** What was refused is tried a few times more. Never rejects. */
  stop(): Promise<void> {
    return this.#unsaved.stop();
  }

  #untoldOf(scope: AgentScope): readonly AuditDraft[] {
    return this.#untold.get(scope) ?? [];
  }
}
