/** Ninety agents in fifteen sessions, one of which goes in circles: what the fleet map has to cope with. */
import { buildDecisionLog } from '#testing';
import type { RunningGateway } from '../integration/start-gateway.js';

const ROLES = ['planner', 'researcher', 'writer', 'reviewer', 'price-watcher', 'mail-sender'];
const SESSION_COUNT = 15;

export const CROWD_COUNT = ROLES.length * SESSION_COUNT;
export const LOOPING_AGENT = 'price-watcher-7';
export const LOOPING_SESSION = 'order-7';

export async function sendCrowd(gateway: RunningGateway): Promise<void> {
  let serial = 0;
  const step = (session_id: string, agent_id: string, intent: string) => {
    serial += 1;
    return buildDecisionLog({
      meta: { trace_id: `crowd-${serial}`, session_id, timestamp: new Date().toISOString() },
      identity: { agent_id },
      cognition: { intent },
    });
  };
  for (let session = 0; session < SESSION_COUNT; session += 1)
    await gateway.ingest(
      ROLES.map((role) => step(`order-${session}`, `${role}-${session}`, `Do what a ${role} does`)),
    );
  for (let count = 0; count < 6; count += 1)
    await gateway.ingest(step(LOOPING_SESSION, LOOPING_AGENT, 'Watch the price'));
}
