/**
 * Requests that come in one turn of the event loop are worked on at its end, one after the other. Between two of them the
 * kernel would read from another socket, and the processor's caches would have to be filled with this work anew: a
 * durable POST took 15 % more of the thread. Nobody waits longer for it than all of them take together.
 */

/** What a piece of work holds stays in memory until then. */
export const PIECES_MAX = 64;

let pieces: (() => void)[] = [];

/** Runs `work` when what this turn has to read is read, behind what was asked for before. It must not throw. */
export function withThisTurn(work: () => void): void {
  const count = pieces.push(work);
  if (count === 1) setImmediate(workNow);
  else if (count === PIECES_MAX) workNow();
}

function workNow(): void {
  const works = pieces;
  pieces = [];
  for (const work of works) work();
}
