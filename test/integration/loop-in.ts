import { buildDecisionLog } from '#testing';
import type { RunningGateway } from './start-gateway.js';

/** Five equal steps, one after another, stamped with the time they are sent at: the least that is a loop. */
export async function loopIn(
  gateway: RunningGateway,
  session_id: string,
  agent_id = 'agent-1',
): Promise<void> {
  for (let index = 0; index < 5; index += 1)
    await gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: `${session_id}-${index}`, session_id, timestamp: new Date().toISOString() },
        identity: { agent_id },
      } as never),
    );
}
