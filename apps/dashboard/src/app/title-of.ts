/** What a page is called in its tab. */
import { PLACES } from './navigation';

export const PRODUCT = 'Observatory';

/** @param params of the route: what the page is about, if it is about one thing */
export function titleOf(
  path: string,
  {
    sessionId,
    agentId,
    callId,
    incidentId,
  }: Partial<Record<'sessionId' | 'agentId' | 'callId' | 'incidentId', string>>,
): string {
  if (sessionId !== undefined) return `${sessionId} · ${PRODUCT}`;
  if (agentId !== undefined) return `${agentId} · ${PRODUCT}`;
  if (callId !== undefined) return `Call ${callId} · ${PRODUCT}`;
  if (incidentId !== undefined) return `Incident ${incidentId} · ${PRODUCT}`;
  if (path === '/all-agents') return `All agents · ${PRODUCT}`;
  const place = PLACES.find(({ to }) => to === path);
  return place === undefined ? PRODUCT : `${place.label} · ${PRODUCT}`;
}
