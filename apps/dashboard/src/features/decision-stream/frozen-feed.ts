/**
 * A feed that holds still while somebody reads. While frozen it shows what it showed when it froze, and counts what
 * has arrived since; released, it shows the present.
 */
import type { StepView } from '#contracts';

export interface FrozenFeed {
  /** What was on the page when it froze, newest last; null = it runs. */
  held: readonly StepView[] | null;
}

export const RUNNING: FrozenFeed = { held: null };

/** @param feed the live feed, newest last */
export const freeze = (state: FrozenFeed, feed: readonly StepView[]): FrozenFeed =>
  state.held ? state : { held: feed };

/** Steps of the live feed that are not among the held ones. A held feed that has rolled out entirely counts all. */
export function arrivedSince(
  { held }: FrozenFeed,
  feed: readonly StepView[],
  matches: (step: StepView) => boolean,
): { count: number; isLowerBound: boolean } {
  if (held === null) return { count: 0, isLowerBound: false };
  const last = held.at(-1);
  let count = 0;
  for (let index = feed.length - 1; index >= 0; index -= 1) {
    const step = feed[index] as StepView;
    if (step === last) return { count, isLowerBound: false };
    if (matches(step)) count += 1;
  }
  return { count, isLowerBound: last !== undefined };
}
