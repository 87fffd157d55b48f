/**
 * What of the sessions' rows the store does not have yet. Rows are saved together with the step they are up to date with, and
 * with what was released from a hold meanwhile, so that after a crash what came later is folded in again.
 */
import {
  type DecisionStore,
  type SessionKey,
  type SessionView,
  type StoredStep,
  splitSessionKey,
  tenantIdOf,
} from '#contracts';
import { FreshReads } from '#kernel';

export interface SessionWriterParts {
  store: Pick<DecisionStore, 'saveSessions' | 'session'>;
  /** The store refused a save. */
  onStoreFailed: (error: unknown) => void;
}

export class SessionWriter {
  readonly #parts: SessionWriterParts;
  /** Changed since they were last saved. */
  readonly #unsaved = new Map<SessionKey, SessionView>();
  readonly #reads = new FreshReads<SessionKey>();
  /** Highest step folded in. */
  #foldedSeq = 0;
  /** Steps released from a hold and folded in since the last save; their numbers may lie below the checkpoint. */
  #releasedSeqs: number[] = [];
  #saving: Promise<void> | null = null;
  /** On their way to the store, as they were when that began. */
  #taken: ReadonlyMap<SessionKey, SessionView> = new Map();

  constructor(parts: SessionWriterParts) {
    this.#parts = parts;
  }

  changed(key: SessionKey, view: SessionView): void {
    this.#unsaved.set(key, view);
    this.#reads.changed(key);
  }

  /** Changed, and not known to be in the store as it is. */
  isUnsaved(key: SessionKey): boolean {
    return this.#unsaved.has(key) || this.#taken.has(key);
  }

  /** All steps up to this one are in the rows. */
  folded(seq: number): void {
    if (seq > this.#foldedSeq) this.#foldedSeq = seq;
  }

  /** This step came out of a hold, and its row holds it. */
  released({ seq }: StoredStep): void {
    this.#releasedSeqs.push(seq);
  }

  /** Saves what changed; concurrent calls share one save. Never throws: what failed stays unsaved. */
  async save(): Promise<void> {
    if (this.#saving) return this.#saving;
    if (this.#unsaved.size === 0) return;
    const rows = [...this.#unsaved].map(([key, view]) => ({ tenant_id: tenantIdOf(key), view }));
    const taken = new Map(this.#unsaved);
    this.#taken = taken;
    this.#unsaved.clear();
    const releasedSeqs = this.#releasedSeqs;
    this.#releasedSeqs = [];
    this.#saving = this.#parts.store
      .saveSessions(rows, this.#foldedSeq, releasedSeqs)
      .catch((error) => {
        this.#releasedSeqs = releasedSeqs.concat(this.#releasedSeqs);
        for (const [key, view] of taken) if (!this.#unsaved.has(key)) this.#unsaved.set(key, view);
        this.#parts.onStoreFailed(error);
      })
      .finally(() => {
        this.#saving = null;
        this.#taken = new Map();
      });
    return this.#saving;
  }

  /** After the save that is under way. */
  async stop(): Promise<void> {
    await this.#saving;
    await this.save();
  }

  /** The row as it was changed last, in the store or on its way there; null if there never was one. Rejects as the store does. */
  latest(key: SessionKey): Promise<SessionView | null> {
    return this.#reads.read(key, () => this.#latest(key));
  }

  async #latest(key: SessionKey): Promise<SessionView | null> {
    for (;;) {
      const unsaved = this.#unsaved.get(key);
      if (unsaved !== undefined) return unsaved;
      if (this.#saving === null) break;
      // It may be among these, and is unsaved again if they fail.
      await this.#saving;
    }
    const { tenantId, sessionId } = splitSessionKey(key);
    return this.#parts.store.session(tenantId, sessionId);
  }
}
