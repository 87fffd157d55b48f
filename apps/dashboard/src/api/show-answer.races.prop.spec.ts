/**
 * Settings that are changed here and elsewhere and read anew meanwhile, in any order in which the gateway does it and its answers come.
 * Whatever the order: once all has come, the latest that was ever shown is.
 */
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkRaces, letAllCome, RACES_MS, turn } from '#testing';
import { showAnswer } from './show-answer';

const KEY: readonly unknown[] = ['settings'];

interface Acts {
  /** One after the other, as a form does. */
  here: 'change'[];
  elsewhere: ('change' | 'look')[];
  together: number[];
}

class Race {
  isFree = false;
  readonly trail: string[] = [];
  #inForce = 0;
  /** What the page has shown so far. */
  readonly #told: number[] = [];
  readonly #client = new QueryClient();
  readonly #settings: QueryObserver<number>;
  readonly #close: () => void;

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {
    this.#settings = new QueryObserver(this.#client, {
      queryKey: KEY,
      queryFn: () => this.#ask('read', () => this.#inForce),
      staleTime: 0,
    });
    this.#close = this.#settings.subscribe(({ data }) => {
      this.trail.push(`shown ${data}`);
      if (data !== undefined) this.#told.push(data);
    });
  }

  async #port(what: string): Promise<void> {
    if (!this.isFree) await this.scheduler.schedule(Promise.resolve(), what);
  }

  async #ask(what: string, act: () => number): Promise<number> {
    await this.#port(`ask ${what}`);
    const answer = act();
    this.trail.push(`${what} ${answer}`);
    await this.#port(`answer ${what} ${answer}`);
    return answer;
  }

  #change(): number {
    this.#inForce += 1;
    return this.#inForce;
  }

  async #here(): Promise<void> {
    for (const act of this.acts.here) {
      await this.#port(act);
      showAnswer(this.#client, KEY, await this.#ask(act, () => this.#change()));
    }
  }

  async #elsewhere(): Promise<void> {
    for (const act of this.acts.elsewhere) {
      await this.#port(act);
      if (act === 'change') this.trail.push(`elsewhere ${this.#change()}`);
      // As one comes back to the tab.
      else void this.#settings.refetch({ cancelRefetch: false });
    }
  }

  async run(): Promise<void> {
    void this.#here();
    void this.#elsewhere();
    await letAllCome(this.scheduler, this.acts.together);
  }

  async check(): Promise<void> {
    await turn();
    this.#close();
    this.#client.clear();
    // Of what somebody else does later nobody tells the page.
    expect(this.#settings.getCurrentResult().data).toBe(Math.max(...this.#told));
  }
}

const acts: fc.Arbitrary<Acts> = fc.record({
  here: fc.array(fc.constant('change'), { maxLength: 3 }),
  elsewhere: fc.array(fc.constantFrom('change', 'look', 'look'), { maxLength: 5 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'what was saved does not go back to what was before, however late the answer to a change or a reading comes',
  {
    timeout: RACES_MS,
  },
  () => checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 200),
);
