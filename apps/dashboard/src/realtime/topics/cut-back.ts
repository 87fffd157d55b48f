/**
 * A page that stays open for days is told of ever more things, of which one that is opened now is given the first few thousand.
 * Cut back a tenth later than it is full, so that they are put in order once for many that come.
 */
const SLACK = 1.1;

/** @param choose at most `countMax` of them */
export function cutBack<T>(
  things: ReadonlyMap<string, T>,
  countMax: number,
  idOf: (thing: T) => string,
  choose: (things: T[]) => T[],
): ReadonlyMap<string, T> {
  if (things.size <= countMax * SLACK) return things;
  return new Map(choose([...things.values()]).map((thing) => [idOf(thing), thing]));
}
