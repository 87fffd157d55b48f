/** `gateway:topology`: nodes and edges of the live map. */
import type { TopologyChange, TopologyEdge, TopologyNode } from '#contracts';
import type { TopicMerge } from '../topic-merge';

export interface TopologyData {
  /** By node_id. */
  nodes: ReadonlyMap<string, TopologyNode>;
  /** By `edgeKey`. */
  edges: ReadonlyMap<string, TopologyEdge>;
}

/** NUL occurs in no node id. */
export const edgeKey = (edge: Pick<TopologyEdge, 'from' | 'to'>): string => `${edge.from}\0${edge.to}`;

/** An edge whose node is removed goes with it. */
export const topologyMerge: TopicMerge<TopologyData, TopologyChange, TopologyChange> = {
  start: (snapshot) => ({
    nodes: new Map(snapshot.nodes.map((node) => [node.node_id, node])),
    edges: new Map(snapshot.edges.map((edge) => [edgeKey(edge), edge])),
  }),
  apply(data, events) {
    const nodes = new Map(data.nodes);
    const edges = new Map(data.edges);
    for (const change of events) {
      for (const node of change.nodes) nodes.set(node.node_id, node);
      for (const edge of change.edges) edges.set(edgeKey(edge), edge);
      const removed = new Set(change.removed);
      for (const nodeId of removed) nodes.delete(nodeId);
      // One look at each edge, however many nodes leave together.
      if (removed.size > 0)
        for (const [key, { from, to }] of edges) if (removed.has(from) || removed.has(to)) edges.delete(key);
    }
    return { nodes, edges };
  },
};
