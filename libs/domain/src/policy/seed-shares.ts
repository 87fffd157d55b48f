import type { BucketChange } from '#contracts';
import { bucketStart, type Counted, reachMsOf, slotMsOf } from './slot-arithmetic.js';

/**
 * What a sliding counter lacks of a seed: slots and what to add to each, the latest first. Of what was spent in the stretch of a
 * window's length only the sum is known, and so it counts as spent evenly, until now where the stretch goes on. Once it is added
 * nothing is lacking, whatever the time.
 * @param counted as of `nowMs`
 */
export function seedShares(
  counted: Counted,
  { windowMs, amount, takenAtMs }: BucketChange,
  nowMs: number,
): [startMs: number, amount: number][] {
  const slotMs = slotMsOf(windowMs);
  const fromMs = bucketStart(takenAtMs ?? nowMs, windowMs);
  const toMs = Math.max(fromMs + 1, Math.min(fromMs + windowMs, nowMs));
  const lastMs = bucketStart(toMs - 1, slotMs);
  const firstMs = Math.min(lastMs, Math.ceil(fromMs / slotMs) * slotMs);
  const oldestMs = Math.max(firstMs, bucketStart(nowMs, slotMs) - reachMsOf(windowMs));
  const count = (lastMs - oldestMs) / slotMs + 1;
  const slotCount = (lastMs - firstMs) / slotMs + 1;
  // Where the stretch goes on, also what was taken in a slot that has just begun, or by a clock that was ahead.
  const takenToMs = toMs === nowMs ? Number.POSITIVE_INFINITY : lastMs;
  // As even as whole numbers are: the latest have what is left over.
  let missing = Math.floor(amount / slotCount) * count + Math.min(amount % slotCount, count);
  for (let at = 0; at < counted.slots.length; at += 2) {
    const startMs = counted.slots[at] as number;
    if (startMs >= oldestMs && startMs <= takenToMs) missing -= counted.slots[at + 1] as number;
  }
  const shares: [number, number][] = [];
  for (let index = 0; index < count && missing > 0; index += 1) {
    const share = Math.ceil(missing / (count - index));
    shares.push([lastMs - index * slotMs, share]);
    missing -= share;
  }
  return shares;
}
