/** The agent's own time of a step, as a number. */
import type { DecisionLog } from '#contracts';

const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Milliseconds since the Unix epoch. A timestamp without a zone is UTC: what the gateway's own zone happens to be
 * says nothing about the agent's.
 */
export function timestampMsOf(log: DecisionLog): number {
  const { timestamp } = log.meta;
  return Date.parse(HAS_ZONE.test(timestamp) ? timestamp : `${timestamp}Z`);
}
