/**
 * Many deadlines of one length with one timer: nearly all are met within a millisecond, and a timer of its own for
 * each would cost more than reading what it guards.
 */
import { type Link, LinkedList } from '#kernel';

export interface Deadline {
  /** When it is due, by `performance.now()`. */
  dueMs: number;
  expire: () => void;
}

export class Deadlines {
  /** Earliest first, since all wait equally long. */
  readonly #due = new LinkedList<Deadline>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly timeoutMs: number) {}

  /** @param expire called once after `timeoutMs`, unless deleted before; must not throw */
  add(expire: () => void): Link<Deadline> {
    this.#timer ??= setTimeout(this.#check, this.timeoutMs).unref();
    return this.#due.add({ dueMs: performance.now() + this.timeoutMs, expire });
  }

  delete(deadline: Link<Deadline>): void {
    this.#due.delete(deadline);
  }

  readonly #check = (): void => {
    this.#timer = null;
    const nowMs = performance.now();
    for (let next = this.#due.oldest; next !== null; next = this.#due.oldest) {
      const { dueMs, expire } = next.value;
      if (dueMs > nowMs) {
        this.#timer = setTimeout(this.#check, Math.ceil(dueMs - nowMs)).unref();
        return;
      }
      this.#due.delete(next);
      expire();
    }
  };
}

const byTimeout = new Map<number, Deadlines>();

/** Shared by all who wait that long. */
export function deadlinesOf(timeoutMs: number): Deadlines {
  let deadlines = byTimeout.get(timeoutMs);
  if (deadlines === undefined) {
    deadlines = new Deadlines(timeoutMs);
    byTimeout.set(timeoutMs, deadlines);
  }
  return deadlines;
}
