/** Which agents an incident still holds down. Pure. */
import type { Incident } from '#contracts';

/** Nobody has reactivated its agent since. */
export const isOpenIncident = (incident: Pick<Incident, 'reactivated_at_ms'>): boolean =>
  incident.reactivated_at_ms === null;

/** Agents whose latest incident is open. @param incidents newest first */
export function stoppedAgentCount(
  incidents: readonly Pick<Incident, 'agent_id' | 'reactivated_at_ms'>[],
): number {
  const seen = new Set<string>();
  let count = 0;
  for (const incident of incidents) {
    if (seen.has(incident.agent_id)) continue;
    seen.add(incident.agent_id);
    if (isOpenIncident(incident)) count += 1;
  }
  return count;
}
