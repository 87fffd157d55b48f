/** How many live violations are newer than the newest row on the page. Pure. */
import type { ViolationEvent } from '#contracts';

/**
 * By their order: two may come in one moment, and a clock may be set back. By the clock where the row is not among them, be it
 * since more came than are live or since it is still on its way.
 * @param live newest last, only the latest
 * @param newest undefined: the page has no row
 */
export function newViolationCount(
  live: readonly ViolationEvent[],
  newest: ViolationEvent | undefined,
): number {
  if (newest === undefined) return live.length;
  const { timestamp, raw_payload_hash } = newest;
  const index = live.findLastIndex(
    (event) => event.timestamp === timestamp && event.raw_payload_hash === raw_payload_hash,
  );
  return index >= 0 ? live.length - 1 - index : live.filter((event) => event.timestamp > timestamp).length;
}
