/** The agent's own time of a step, as a number. */
import type { DecisionLog } from '#contracts';

const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/;
/** An offset as ISO 8601 has it, too, but Date.parse does not: without its colon, or without its minutes. */
const SHORT_OFFSET = /(T[^+-]*[+-]\d\d)(\d\d)?$/;

/**
 * Milliseconds since the Unix epoch. A timestamp without a zone is UTC: what the gateway's own zone happens to be
 * says nothing about the agent's.
 */
export function timestampMsOf(log: DecisionLog): number {
  const { timestamp } = log.meta;
  if (HAS_ZONE.test(timestamp)) return Date.parse(timestamp);
  const spelledOut = timestamp.replace(SHORT_OFFSET, (_, before, minutes = '00') => `${before}:${minutes}`);
  return Date.parse(spelledOut === timestamp ? `${timestamp}Z` : spelledOut);
}
