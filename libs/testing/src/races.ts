/** What specs of races share: several act at once, and fast-check says in which order that comes which they wait for. */
import fc from 'fast-check';
import { turn } from './fake-time.js';
import { modelRuns } from './model-runs.js';

export interface Race {
  /** What happened, printed where the race fails. */
  readonly trail: readonly string[];
  begin?(): Promise<void>;
  run(): Promise<void>;
  check(): Promise<void> | void;
}

/** Of a search. */
export const RACES_MS = 600_000;

/** @param numRuns in the suite, see `modelRuns` */
export const checkRaces = <Acts>(
  acts: fc.Arbitrary<Acts>,
  raceOf: (acts: Acts, scheduler: fc.Scheduler) => Race,
  numRuns: number,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(acts, fc.scheduler(), async (all, scheduler) => {
      const race = raceOf(all, scheduler);
      try {
        await race.begin?.();
        await race.run();
        await race.check();
      } catch (error) {
        (error as Error).message += `\n${race.trail.join('\n')}`;
        throw error;
      }
    }),
    modelRuns(numRuns),
  );

/** Until nobody waits for anything. @param together how many of what is waited for come in one turn, in turn */
export async function letAllCome(scheduler: fc.Scheduler, together: readonly number[]): Promise<void> {
  await turn();
  for (let nth = 0; scheduler.count() > 0; nth += 1) {
    await scheduler.waitOne();
    if (nth % (together[nth % together.length] ?? 1) !== 0 && scheduler.count() > 0) continue;
    await turn();
    await turn();
  }
}

/** A race with several who act: each act begins when the scheduler says. */
export abstract class RaceOfActors implements Race {
  readonly trail: string[] = [];
  /** Nobody waits any more: what is done then is done at once. */
  isFree = false;
  protected readonly failures: unknown[] = [];
  /** Who acts still. */
  protected busyCount = 0;

  constructor(readonly scheduler: fc.Scheduler) {}

  abstract run(): Promise<void>;
  abstract check(): Promise<void> | void;

  note(what: string): void {
    this.trail.push(what);
  }

  async port(what: string): Promise<void> {
    if (!this.isFree) await this.scheduler.schedule(Promise.resolve(), what);
  }

  /** One act after the other; what one rejects with ends it, and is a failure. */
  protected async actor<Act>(name: string, acts: readonly Act[], act: (one: Act) => unknown): Promise<void> {
    this.busyCount += 1;
    try {
      for (const one of acts) {
        await this.port(`${name} ${JSON.stringify(one)}`);
        this.note(`${name} ${JSON.stringify(one)}`);
        await act(one);
      }
    } catch (error) {
      this.failures.push(error);
    }
    this.busyCount -= 1;
  }

  /** As `actor`; when what follows of an act at once has come, `mustBeTrue` throws what is not. */
  protected actorInTruth<Act>(
    name: string,
    acts: readonly Act[],
    act: (one: Act) => unknown,
    mustBeTrue: () => void,
  ): Promise<void> {
    return this.actor(name, acts, async (one: Act) => {
      await act(one);
      await turn();
      mustBeTrue();
    });
  }
}
