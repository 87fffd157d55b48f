/**
 * Runs of commands that fast-check makes up, against a model and the real gateway. A run that fails is made shorter, and printed
 * with what runs it again: FC_SEED, FC_PATH and FC_REPLAY.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { isModelSearch, modelRuns } from '#testing';

type Act<Model extends object, Real> = fc.AsyncCommand<Model, Real, false>;

const { FC_REPLAY } = process.env;
/** A busy machine makes fewer runs: none begins later than this. */
const RUNS_MS = isModelSearch ? 3_600_000 : 30_000;
/** For the way from a run that fails to the shortest. */
const SHRINKING_MS = 60_000;
/** Of one run, where the whole suite starves it. */
const RUN_MS = 180_000;
export const MODEL_TIMEOUT_MS = RUNS_MS + RUN_MS + SHRINKING_MS;

/** One kind of command: does the same on both sides, and compares the answers. */
export const command = <Model extends object, Real, Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (model: Model, real: Real, args: Args) => Promise<void>,
  check: (model: Readonly<Model>, args: Args) => boolean = () => true,
): fc.Arbitrary<Act<Model, Real>> =>
  args.map((given) => ({
    check: (model) => check(model, given),
    run: (model, real) => run(model, real, given),
    toString: () => `${name}(${fc.stringify(given)})`,
  }));

/** Kinds of command behind each of which all that is shown is compared. */
export const comparing =
  <Model extends object, Real>(compare: (model: Model, real: Real) => Promise<void> | void) =>
  <Args>(
    name: string,
    args: fc.Arbitrary<Args>,
    run: (model: Model, real: Real, args: Args) => Promise<void> | void,
    check?: (model: Readonly<Model>, args: Args) => boolean,
  ) =>
    command<Model, Real, Args>(
      name,
      args,
      async (model, real, given) => {
        await run(model, real, given);
        await compare(model, real);
      },
      check,
    );

/** So much likelier. */
export const times = <Kind>(count: number, kind: Kind): Kind[] => Array.from({ length: count }, () => kind);

/** Of a gateway: SIGTERM, or SIGKILL. */
export type Ending = 'stop' | 'kill';
const ending = fc.constantFrom<Ending>('stop', 'kill');

/**
 * @param restart ends the gateway and starts it again, in a run seldom, for it takes long, and always when one is over; then it
 *     compares all that is shown
 */
export async function runModel<Model extends object, Real>(
  kinds: fc.Arbitrary<Act<Model, Real>>[],
  numRuns: number,
  begin: () => Promise<{ model: Model; real: Real }>,
  restart: (model: Model, real: Real, how: Ending) => Promise<void>,
): Promise<void> {
  const commands = fc.commands([...times(4, kinds).flat(), command('restart', ending, restart)], {
    maxCommands: 150,
    size: 'max',
    ...(FC_REPLAY !== undefined && { replayPath: FC_REPLAY }),
  });
  let untilMs = Date.now() + RUNS_MS;
  let hasFailed = false;
  const property = fc.asyncProperty(commands, ending, async (commands, lastly) => {
    if (Date.now() > untilMs) return;
    const both = await begin();
    try {
      await fc.asyncModelRun(() => both, commands);
      await restart(both.model, both.real, lastly);
    } catch (error) {
      if (!hasFailed) untilMs = Date.now() + SHRINKING_MS;
      hasFailed = true;
      throw error;
    }
  });
  await fc.assert(property, { ...modelRuns(numRuns), unbiased: true });
}

/** What the gateway shows comes to be what the model says. */
export const soon = (seen: () => unknown) => expect.poll(seen, { interval: 3, timeout: 30_000 });
