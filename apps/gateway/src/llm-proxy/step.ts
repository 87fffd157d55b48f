/** What a step of the pipeline is. */
import type { ProxyCall, Verdict } from './proxy-call.js';

export interface Step {
  readonly name: string;
  /**
   * What its own failure means: `open` = counted and logged, and the call goes on; `closed` = the call is refused.
   */
  readonly onFailure: 'open' | 'closed';
  /** `run` looks at all of the request: where that takes long, everybody else has a turn first. */
  readonly readsAll?: true;
  /**
   * Nothing: the next step. A verdict: the answer, and no further step runs. What else is worth a word in the waterfall
   * goes into `call.finding`.
   */
  run?(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined>;
  /** After the answer has ended, whoever gave it, in reverse order and only if `run` was reached. Its failure is always open. */
  settle?(call: ProxyCall): void;
}

/** Their `run`s as one: the first verdict is its own. */
export const inOrder = (steps: readonly Step[]): Required<Pick<Step, 'run'>> => ({
  async run(call: ProxyCall): Promise<Verdict | undefined> {
    for (const step of steps) {
      const verdict = await step.run?.(call);
      if (verdict !== undefined || call.isGone) return verdict;
    }
    return undefined;
  },
});
