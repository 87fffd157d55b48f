/** The live map: one node per agent in a session, one shape for snapshots and deltas. */
import { z } from 'zod';

export const NODE_STATES = [
  'idle',
  'active',
  'blocked',
  'alert_entropy',
  'schema_violation',
  'dead',
] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** Anything unknown renders as idle. */
export const NODE_COLOURS: Record<NodeState, string> = {
  idle: '#6b7280',
  active: '#3b82f6',
  blocked: '#f59e0b',
  alert_entropy: '#ef4444',
  schema_violation: '#f97316',
  dead: '#374151',
};

const topologyNodeSchema = z.object({
  node_id: z.string(),
  agent_id: z.string(),
  /** "" for the ghost of an agent known only by a rejected message. */
  session_id: z.string(),
  state: z.enum(NODE_STATES),
  agent_type: z.string(),
  last_intent: z.string(),
  step_count: z.number().int(),
  last_seen_ms: z.number().int(),
  /** True for the node of an agent never seen with a valid message. */
  ghost: z.boolean(),
});
export type TopologyNode = z.infer<typeof topologyNodeSchema>;

const topologyEdgeSchema = z.object({
  /** node_id of the agent whose step caused the other's. */
  from: z.string(),
  to: z.string(),
  /** Steps that passed along this edge. */
  traffic_volume: z.number().int(),
  /** Median time from the parent step to its child, by the agents' own clocks. */
  latency_ms: z.number(),
  /** Status of the latest step that passed. */
  status: z.string(),
});
export type TopologyEdge = z.infer<typeof topologyEdgeSchema>;

/** A snapshot carries all; a delta what changed. An edge whose node is removed goes with it. */
export const topologyChangeSchema = z.object({
  nodes: z.array(topologyNodeSchema),
  edges: z.array(topologyEdgeSchema),
  /** node_ids that are gone; only in deltas. */
  removed: z.array(z.string()).optional(),
});
export type TopologyChange = z.infer<typeof topologyChangeSchema>;
