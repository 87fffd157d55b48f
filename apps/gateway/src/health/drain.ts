/**
 * An orderly end: what is under way is finished or told, step by step, within one deadline. A step that hangs or
 * fails does not keep the later ones, of which the store's close is the last, from running.
 */
export const DRAIN = Symbol('Drain');

/** After the deadline each remaining step still gets this long. */
const GRACE_MS = 250;

export interface DrainedStep {
  name: string;
  outcome: 'done' | 'failed' | 'late';
  error?: unknown;
}

export class Drain {
  readonly #timeoutMs: number;
  readonly #steps: { name: string; run: () => void | Promise<void> }[] = [];
  #running: Promise<DrainedStep[]> | undefined;

  constructor(options: { timeoutMs: number }) {
    this.#timeoutMs = options.timeoutMs;
  }

  /** True from the first call of `start` on: new work is refused with `draining`. */
  get isDraining(): boolean {
    return this.#running !== undefined;
  }

  /** Adds a step; steps run one after another, in the order they were added. */
  onDrain(name: string, run: () => void | Promise<void>): void {
    this.#steps.push({ name, run });
  }

  /** Runs the steps. Never rejects; further calls get the first one's result. */
  start(): Promise<DrainedStep[]> {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll(): Promise<DrainedStep[]> {
    // A turn later, so that `isDraining` is true for every step and listener.
    await Promise.resolve();
    const deadline = performance.now() + this.#timeoutMs;
    const drained: DrainedStep[] = [];
    for (const { name, run } of this.#steps) {
      const remainingMs = Math.max(GRACE_MS, deadline - performance.now());
      drained.push({ name, ...(await settleWithin(run, remainingMs)) });
    }
    return drained;
  }
}

async function settleWithin(
  run: () => void | Promise<void>,
  timeoutMs: number,
): Promise<Omit<DrainedStep, 'name'>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Omit<DrainedStep, 'name'>>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, { outcome: 'late' });
  });
  const settled = (async () => run())().then(
    () => ({ outcome: 'done' as const }),
    (error: unknown) => ({ outcome: 'failed' as const, error }),
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
