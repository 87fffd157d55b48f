/** The event a refused message leaves behind. It names the payload by its hash and carries nothing of it. */
import type { ViolationEvent } from '#contracts';

export interface Violation {
  /** Unix milliseconds. */
  nowMs: number;
  /** Null where the message names none: "unknown" in the event. */
  agentId: string | null;
  capabilityVersion: string | null;
  /** The refusal's `detail`. */
  reason: string;
  /** From `payloadHash`. */
  payloadHash: string;
}

/** Exactly the members of the contract. */
export const violationOf = (violation: Violation): ViolationEvent => ({
  event_type: 'schema_violation',
  timestamp: new Date(violation.nowMs).toISOString(),
  agent_id: violation.agentId ?? 'unknown',
  capability_version: violation.capabilityVersion ?? 'unknown',
  violation_reason: violation.reason,
  raw_payload_hash: violation.payloadHash,
});
