/**
 * What was counted for answers whose end nobody saw, though their vendor keeps them: one that is worked on in the background, a stream
 * that its client left. Whoever fetches such an answer later is told what it took; that is put in the estimate's place, once. They
 * are stored, for the estimate is, too: an answer may be fetched after a restart.
 */
import { type AgentScope, type DialectName, type ProxyStore, splitAgentScope } from '#contracts';
import { type Clock, FairLru } from '#kernel';
import type { TakenLimits } from './taken-limits.js';

/** Over all tenants; the one that has most gives way, and its estimate stands. */
export const ANSWER_COUNT_MAX = 20_000;
/** Vendors work on an answer for hours at most. */
const ANSWER_IDLE_MS = 24 * 3_600_000;
/** Several times what a vendor's id takes; what is longer is not remembered. */
const ID_CHARS_MAX = 256;

export interface UnsettledAnswer {
  /** In which what is fetched is read; null: its end alone is. */
  dialect: DialectName | null;
  /** As it was asked for. */
  model: string | null;
  /** When it was asked for, epoch ms: what it turns out to cost was spent then. */
  startedAtMs: number;
  /** What stands in the record and, with `tokens`, in what was taken. Null: unknown. */
  costMicroUsd: number | null;
  /** Of the policy's limits, and what is left taken of them; null: nothing. */
  taken: TakenLimits | null;
}

export interface UnsettledAnswersParts {
  clock: Clock;
  store: Pick<ProxyStore, 'documents' | 'saveDocument' | 'deleteDocument'>;
  /** The store refused one: its estimate stands after a restart. */
  onSaveFailed: (error: unknown) => void;
}

interface Kept {
  tenantId: string;
  answer: UnsettledAnswer;
}

export class UnsettledAnswers {
  readonly #parts: UnsettledAnswersParts;
  /** By agent and answer, as the documents are. */
  readonly #answers: FairLru<string, Kept>;

  constructor(parts: UnsettledAnswersParts) {
    this.#parts = parts;
    this.#answers = new FairLru({
      countMax: ANSWER_COUNT_MAX,
      idleMs: ANSWER_IDLE_MS,
      clock: parts.clock,
      onEvict: (id, { tenantId }) => this.#forget(tenantId, id),
    });
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    const { clock, store } = this.#parts;
    for (const { tenant_id, id, body, updated_at_ms } of await store.documents(KIND)) {
      if (clock.nowMs() - updated_at_ms > ANSWER_IDLE_MS) this.#forget(tenant_id, id);
      else this.#answers.set(tenant_id, id, { tenantId: tenant_id, answer: body as UnsettledAnswer });
    }
  }

  note(agent: AgentScope, answerId: string, answer: UnsettledAnswer): void {
    if (answerId.length > ID_CHARS_MAX) return;
    const { clock, store, onSaveFailed } = this.#parts;
    const { tenantId, id } = placeOf(agent, answerId);
    this.#answers.set(tenantId, id, { tenantId, answer });
    store
      .saveDocument({ tenant_id: tenantId, kind: KIND, id, body: answer, updated_at_ms: clock.nowMs() })
      .catch(onSaveFailed);
  }

  /** Null: of an answer that nobody saw here, that is settled, or that was forgotten. */
  find(agent: AgentScope, answerId: string): UnsettledAnswer | null {
    const { tenantId, id } = placeOf(agent, answerId);
    return this.#answers.peek(tenantId, id)?.answer ?? null;
  }

  /** @returns false: somebody else was faster */
  settle(agent: AgentScope, answerId: string): boolean {
    const { tenantId, id } = placeOf(agent, answerId);
    const wasFirst = this.#answers.delete(tenantId, id);
    if (wasFirst) this.#forget(tenantId, id);
    return wasFirst;
  }

  #forget(tenantId: string, id: string): void {
    this.#parts.store.deleteDocument(tenantId, KIND, id).catch(this.#parts.onSaveFailed);
  }
}

const KIND = 'unsettled_answer';

function placeOf(agent: AgentScope, answerId: string): { tenantId: string; id: string } {
  const { tenantId, agentId } = splitAgentScope(agent);
  return { tenantId, id: JSON.stringify([agentId, answerId]) };
}
