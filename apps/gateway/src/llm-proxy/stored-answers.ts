/**
 * What is known of answers that their vendors keep, by agent and answer: an agent may come back to one after a restart, so it is stored,
 * too. Who names another agent's answer finds nothing. Of all tenants the one that has most gives way.
 */
import { type AgentScope, type DocumentKind, type ProxyStore, splitAgentScope } from '#contracts';
import { type Clock, FairLru } from '#kernel';

export interface AnswerStoreParts {
  clock: Clock;
  store: Pick<ProxyStore, 'documents' | 'saveDocument' | 'deleteDocument'>;
  /** The store refused one: it is not known after a restart. */
  onSaveFailed: (error: unknown) => void;
}

export interface StoredAnswersOptions {
  kind: DocumentKind;
  /** Over all tenants. */
  countMax: number;
  idleMs: number;
}

/** Several times what a vendor's id takes; what is longer is not remembered. */
const ID_CHARS_MAX = 256;

interface Kept<Known> {
  tenantId: string;
  known: Known;
}

export class StoredAnswers<Known> {
  readonly #parts: AnswerStoreParts;
  readonly #options: StoredAnswersOptions;
  /** By agent and answer, as the documents are. */
  readonly #answers: FairLru<string, Kept<Known>>;

  constructor(parts: AnswerStoreParts, options: StoredAnswersOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#answers = new FairLru({
      countMax: options.countMax,
      idleMs: options.idleMs,
      clock: parts.clock,
      onEvict: (id, { tenantId }) => this.#forget(tenantId, id),
    });
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    const { clock, store } = this.#parts;
    const { kind, idleMs } = this.#options;
    for (const { tenant_id, id, body, updated_at_ms } of await store.documents(kind)) {
      if (clock.nowMs() - updated_at_ms > idleMs) this.#forget(tenant_id, id);
      else this.#answers.set(tenant_id, id, { tenantId: tenant_id, known: body as Known });
    }
  }

  note(agent: AgentScope, answerId: string, known: Known): void {
    if (answerId.length > ID_CHARS_MAX) return;
    const { clock, store, onSaveFailed } = this.#parts;
    const { tenantId, id } = placeOf(agent, answerId);
    this.#answers.set(tenantId, id, { tenantId, known });
    store
      .saveDocument({
        tenant_id: tenantId,
        kind: this.#options.kind,
        id,
        body: known,
        updated_at_ms: clock.nowMs(),
      })
      .catch(onSaveFailed);
  }

  /** Null: of an answer that nobody saw here, or that was forgotten. */
  find(agent: AgentScope, answerId: string): Known | null {
    const { tenantId, id } = placeOf(agent, answerId);
    return this.#answers.get(tenantId, id)?.known ?? null;
  }

  /** @returns false: it was not known, or no more */
  remove(agent: AgentScope, answerId: string): boolean {
    const { tenantId, id } = placeOf(agent, answerId);
    const wasKnown = this.#answers.delete(tenantId, id);
    if (wasKnown) this.#forget(tenantId, id);
    return wasKnown;
  }

  #forget(tenantId: string, id: string): void {
    const { store, onSaveFailed } = this.#parts;
    store.deleteDocument(tenantId, this.#options.kind, id).catch(onSaveFailed);
  }
}

function placeOf(agent: AgentScope, answerId: string): { tenantId: string; id: string } {
  const { tenantId, agentId } = splitAgentScope(agent);
  return { tenantId, id: JSON.stringify([agentId, answerId]) };
}
