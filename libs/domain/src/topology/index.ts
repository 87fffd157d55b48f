import type { NodeState, TopologyChange, TopologyNode } from '#contracts';
import type { Clock } from '#kernel';
export class Topology {
  #nodes = new Map<string, TopologyNode>();
  #changed = new Set<string>();
  constructor(_options: { clock: Clock }) {}
  recordStep(step: { session_id: string; agent_id: string; agent_type: string; trace_id: string; parent_step_id: string | null; at_ms: number; received_at_ms: number; intent: string; status: string }): string | null {
    const id = `${step.session_id}/${step.agent_id}`;
    const node = this.#nodes.get(id) ?? { node_id: id, agent_id: step.agent_id, session_id: step.session_id, state: 'active' as const, agent_type: step.agent_type, last_intent: '', step_count: 0, last_seen_ms: 0, ghost: false };
    node.step_count += 1; node.last_intent = step.intent; node.last_seen_ms = step.received_at_ms;
    this.#nodes.set(id, node); this.#changed.add(id);
    return null;
  }
  setNodeState(sessionId: string, agentId: string, state: NodeState): void {
    const node = this.#nodes.get(`${sessionId}/${agentId}`);
    if (node) { node.state = state; this.#changed.add(node.node_id); }
  }
  recordViolation(_agentId: string, _nowMs: number): void {}
  endSession(_sessionId: string): void {}
  sweep(_nowMs: number): void {}
  drainChanges(): TopologyChange | null {
    if (this.#changed.size === 0) return null;
    const nodes = [...this.#changed].map((id) => ({ ...(this.#nodes.get(id) as TopologyNode) }));
    this.#changed.clear();
    return { nodes, edges: [] };
  }
  snapshot(): TopologyChange { return { nodes: [...this.#nodes.values()].map((n) => ({ ...n })), edges: [] }; }
}
