/**
 * Many deadlines of one length with one timer: nearly all are met within a millisecond, and a timer of its own for
 * each would cost more than reading what it guards.
 */
export class Deadlines {
  /** Callback -> when it is due; earliest first, since all wait equally long. */
  readonly #due = new Map<() => void, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly timeoutMs: number) {}

  /** @param expire called once after `timeoutMs`, unless deleted before; must not throw */
  add(expire: () => void): void {
    this.#due.set(expire, performance.now() + this.timeoutMs);
    this.#timer ??= setTimeout(this.#check, this.timeoutMs).unref();
  }

  delete(expire: () => void): void {
    this.#due.delete(expire);
  }

  readonly #check = (): void => {
    this.#timer = null;
    const nowMs = performance.now();
    for (const [expire, dueMs] of this.#due) {
      if (dueMs > nowMs) {
        this.#timer = setTimeout(this.#check, Math.ceil(dueMs - nowMs)).unref();
        return;
      }
      this.#due.delete(expire);
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
