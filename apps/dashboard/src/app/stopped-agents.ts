/** Which agents an incident still holds down. Pure. */
import type { AgentView, Incident } from '#contracts';

/** Nobody has reactivated its agent since. */
export const isOpenIncident = (incident: Pick<Incident, 'reactivated_at_ms'>): boolean =>
  incident.reactivated_at_ms === null;

/** Agents with an incident that is open, however long ago it was. */
export function stoppedAgentCount(agents: Iterable<Pick<AgentView, 'open_incident_id'>>): number {
  let count = 0;
  for (const { open_incident_id } of agents) if (open_incident_id !== null) count += 1;
  return count;
}
