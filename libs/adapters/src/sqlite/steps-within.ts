/**
 * How many steps are read at once: senders decide how long a step is, so that a number of steps bounds no memory. Rows
 * come from statements one by one, and none is read that is not given out or the sign of more.
 */
import { STEPS_READ_CHARS_MAX } from '#contracts/store';
import type { RawStep } from './protocol.js';

/**
 * The first rows, at most `limit`, up to the one with which their bodies pass STEPS_READ_CHARS_MAX; and one more where there is
 * one beyond these characters.
 */
export function takeSteps(rows: Iterable<RawStep>, limit: number): RawStep[] {
  const taken: RawStep[] = [];
  let charCount = 0;
  for (const row of rows) {
    taken.push(row);
    if (taken.length === limit || charCount >= STEPS_READ_CHARS_MAX) break;
    charCount += row.body.length;
  }
  return taken;
}

/** How many of these are given out: without the one more of `takeSteps`. */
export function countWithin(rows: readonly RawStep[]): number {
  let charCount = 0;
  for (const [index, { body }] of rows.entries()) {
    if (charCount >= STEPS_READ_CHARS_MAX) return index;
    charCount += body.length;
  }
  return rows.length;
}
