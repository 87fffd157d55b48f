/**
 * How many rows are read at once: senders decide how long a step or an incident's evidence is, so that a number of rows bounds no
 * memory, nor the time in which the gateway turns them into an answer and does nothing else. Rows come from statements one by one,
 * and none is read that is not given out or the sign of more.
 */

interface RowWithBody {
  body: string;
}

/** The first rows, at most `limit`, up to the one with which their bodies pass `charsMax`; and one more where there is one beyond. */
export function takeWithin<Row extends RowWithBody>(
  rows: Iterable<Row>,
  limit: number,
  charsMax: number,
): Row[] {
  const taken: Row[] = [];
  let charCount = 0;
  for (const row of rows) {
    taken.push(row);
    if (taken.length === limit || charCount >= charsMax) break;
    charCount += row.body.length;
  }
  return taken;
}

/** How many of these are given out: without the one more of `takeWithin`. */
export function countWithin(rows: readonly RowWithBody[], charsMax: number): number {
  let charCount = 0;
  for (const [index, { body }] of rows.entries()) {
    if (charCount >= charsMax) return index;
    charCount += body.length;
  }
  return rows.length;
}
