/** The event a refused message leaves behind. It names the payload by its hash and carries nothing of it. */
import type { ViolationEvent } from '#contracts';
import type { RefusedLog } from './parse-decision-log.js';

/** Exactly the members of the contract. @param rawPayloadHash from `payloadHash` @param nowMs Unix milliseconds */
export const violationOf = (
  refused: Pick<RefusedLog, 'detail' | 'agentId' | 'capabilityVersion'>,
  rawPayloadHash: string,
  nowMs: number,
): ViolationEvent => ({
  event_type: 'schema_violation',
  timestamp: new Date(nowMs).toISOString(),
  agent_id: refused.agentId ?? 'unknown',
  capability_version: refused.capabilityVersion ?? 'unknown',
  violation_reason: refused.detail,
  raw_payload_hash: rawPayloadHash,
});
