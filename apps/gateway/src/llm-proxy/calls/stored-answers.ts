/**
 * What is known of answers that their vendors keep, by agent and answer: an agent may come back to one after a restart, so it is stored,
 * too. Who names another agent's answer finds nothing. Of all tenants the one that has most gives way. What the store refuses, such as
 * on a full disk, is written again until it takes it, for as many answers as are known at most.
 */
import {
  type AgentScope,
  type DocumentChange,
  type DocumentKind,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import { BackgroundWork, type Clock, FairLru, type Timer } from '#kernel';
import { UnsavedWrites } from '../../unsaved-writes.js';

export interface AnswerStoreParts {
  clock: Clock;
  timer: Timer;
  store: Pick<ProxyStore, 'documents' | 'commitDocuments'>;
  /** The store refused one: until it has it, a restart does not know what became of it. */
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
  /** What became of an answer, by its tenant and id. */
  readonly #unsaved: UnsavedWrites<string>;
  /** On their way to the store. */
  readonly #writing = new BackgroundWork();

  constructor(parts: AnswerStoreParts, options: StoredAnswersOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#unsaved = new UnsavedWrites(parts.timer);
    this.#answers = new FairLru({
      countMax: options.countMax,
      idleMs: options.idleMs,
      clock: parts.clock,
      onEvict: (id, { tenantId }) => this.#save(tenantId, id),
    });
  }

  /** Before the first call. How old one is counts from the latest: a clock that is ahead makes none old. Rejects as the store does. */
  async load(): Promise<void> {
    const { clock, store } = this.#parts;
    const { kind, idleMs } = this.#options;
    const documents = await store.documents(kind);
    const latestMs = documents.reduce((latest, { updated_at_ms }) => Math.max(latest, updated_at_ms), 0);
    // One that was stored while the clock was ahead makes none old, either.
    const asOfMs = Math.min(latestMs, clock.nowMs());
    for (const { tenant_id, id, body, updated_at_ms } of documents) {
      if (asOfMs - updated_at_ms > idleMs) this.#save(tenant_id, id);
      else this.#answers.set(tenant_id, id, { tenantId: tenant_id, known: body as Known });
    }
  }

  get count(): number {
    return this.#answers.size;
  }

  /** @param hand takes what is to be stored, in place of its being stored by itself */
  note(agent: AgentScope, answerId: string, known: Known, hand?: (change: DocumentChange) => void): void {
    if (answerId.length > ID_CHARS_MAX) return;
    const { tenantId, id } = placeOf(agent, answerId);
    this.#answers.set(tenantId, id, { tenantId, known });
    if (hand === undefined) this.#save(tenantId, id);
    else hand(this.#changeOf(tenantId, id));
  }

  /** Null: of an answer that nobody saw here, or that was forgotten. */
  find(agent: AgentScope, answerId: string): Known | null {
    const { tenantId, id } = placeOf(agent, answerId);
    return this.#answers.get(tenantId, id)?.known ?? null;
  }

  /**
   * @param hand as of `note`
   * @returns false: it was not known, or no more
   */
  remove(agent: AgentScope, answerId: string, hand?: (change: DocumentChange) => void): boolean {
    const { tenantId, id } = placeOf(agent, answerId);
    const wasKnown = this.#answers.delete(tenantId, id);
    if (!wasKnown) return false;
    if (hand === undefined) this.#save(tenantId, id);
    else hand(this.#changeOf(tenantId, id));
    return true;
  }

  /** After the last call: what the store has refused is tried again, for the next start knows what is stored. Never rejects. */
  async stop(): Promise<void> {
    await this.#writing.settled();
    await this.#unsaved.stop();
  }

  #save(tenantId: string, id: string): void {
    const key = JSON.stringify([tenantId, id]);
    const write = async () => {
      await this.#write(tenantId, id);
      // Not one that was refused meanwhile: it writes what became of the answer since.
      this.#unsaved.delete(key, write);
    };
    const written = write().catch((error) => {
      this.#parts.onSaveFailed(error);
      if (this.#unsaved.has(key) || this.#unsaved.size < this.#options.countMax)
        this.#unsaved.add(key, write);
    });
    void this.#writing.add(written);
  }

  #write(tenantId: string, id: string): Promise<void> {
    return this.#parts.store.commitDocuments(this.#changeOf(tenantId, id));
  }

  /** As it stands at that moment. */
  #changeOf(tenantId: string, id: string): DocumentChange {
    const kept = this.#answers.peek(tenantId, id);
    const key = { tenant_id: tenantId, kind: this.#options.kind, id };
    if (kept === undefined) return { deleted: [key] };
    return { saved: [{ ...key, body: kept.known, updated_at_ms: this.#parts.clock.nowMs() }] };
  }
}

function placeOf(agent: AgentScope, answerId: string): { tenantId: string; id: string } {
  const { tenantId, agentId } = splitAgentScope(agent);
  return { tenantId, id: JSON.stringify([agentId, answerId]) };
}
