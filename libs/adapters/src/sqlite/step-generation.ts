/** Steps committed, or about to be, that `step_keys` lacks: what keeps them from being stored twice, and their keys. */
import { NO_PART } from './step-key.js';

export interface StepIdentity {
  tenant_id: string;
  session_id: string;
  trace_id: string;
  body_hash: string;
}

/** One row of `step_keys`. */
export type KeyEntry = [key: number, part: number, seq: number];

export class StepGeneration {
  readonly #seqs: number[] = [];
  /** Two to a step: of its session, of its trace. */
  readonly #keys: number[] = [];
  readonly #parts: number[] = [];
  /** By identity. May name a seq whose insert was undone: to be compared with the row. */
  readonly #seqOf = new Map<string, number>();

  get count(): number {
    return this.#seqs.length;
  }

  get lastSeq(): number | null {
    return this.#seqs.at(-1) ?? null;
  }

  find(identity: string): number | null {
    return this.#seqOf.get(identity) ?? null;
  }

  /** Adds the session key of each step that `isStored`. */
  addSessionKeys(to: Set<number>, isStored: (seq: number) => boolean): void {
    for (const [step, seq] of this.#seqs.entries()) if (isStored(seq)) to.add(this.#keys[step * 2] as number);
  }

  /** Takes the place of what an undone transaction left at this seq and beyond. */
  add(seq: number, identity: string, sessionKey: number, traceKey: number, part: number): void {
    this.cutFrom(seq);
    this.#seqs.push(seq);
    this.#keys.push(sessionKey, traceKey);
    this.#parts.push(part);
    this.#seqOf.set(identity, seq);
  }

  /** Forgets the steps from `seq` on, which were never committed. */
  cutFrom(seq: number): void {
    while ((this.#seqs.at(-1) ?? 0) >= seq) {
      this.#seqs.pop();
      this.#parts.pop();
      this.#keys.length -= 2;
    }
  }

  /** In the order of the table, so that neighbours are written together. */
  sorted(): (index: number) => KeyEntry {
    const keys = Float64Array.from(this.#keys);
    const order = Uint32Array.from(keys.keys()).sort((left, right) => (keys[left] ?? 0) - (keys[right] ?? 0));
    return (index) => {
      const at = order[index] as number;
      const step = at >>> 1;
      const isSession = at % 2 === 0;
      return [
        keys[at] as number,
        isSession ? NO_PART : (this.#parts[step] as number),
        this.#seqs[step] as number,
      ];
    };
  }
}
