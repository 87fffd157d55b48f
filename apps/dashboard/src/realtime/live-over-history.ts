/**
 * One list out of two sources: what a live topic holds, and pages of the same read by REST. The live copy of a thing
 * wins, since it is the newer one. Pure.
 */
export interface ListShape<T> {
  idOf: (thing: T) => string;
  /** Orders the list, largest first; equal times keep live before history. */
  atOf: (thing: T) => number;
}

/** Newest first, each thing once. */
export function liveOverHistory<T>(
  live: readonly T[],
  history: readonly T[],
  { idOf, atOf }: ListShape<T>,
): T[] {
  const byId = new Map<string, T>();
  for (const thing of live) byId.set(idOf(thing), thing);
  for (const thing of history) if (!byId.has(idOf(thing))) byId.set(idOf(thing), thing);
  return [...byId.values()].sort((a, b) => atOf(b) - atOf(a));
}

/** While a list is held, what is newer than `heldAt` waits. @param things newest first */
export function splitNewer<T>(
  things: readonly T[],
  heldAt: number,
  atOf: (thing: T) => number,
): { shown: readonly T[]; waitingCount: number } {
  const first = things.findIndex((thing) => atOf(thing) <= heldAt);
  const waitingCount = first === -1 ? things.length : first;
  return { shown: waitingCount === 0 ? things : things.slice(waitingCount), waitingCount };
}
