/** What changed on the map since the last time someone asked: many changes of one node leave as one. */
import type { TopologyChange } from '#contracts';
import type { Edge } from './edge.js';
import type { Node } from './node.js';

export class ChangeSet {
  readonly #nodes = new Set<Node>();
  readonly #edges = new Set<Edge>();
  readonly #removed = new Set<string>();

  changed(node: Node): void {
    this.#nodes.add(node);
  }

  edgeChanged(edge: Edge): void {
    this.#edges.add(edge);
  }

  edgeGone(edge: Edge): void {
    this.#edges.delete(edge);
  }

  removed(node: Node): void {
    this.#nodes.delete(node);
    this.#removed.add(node.nodeId);
  }

  /**
   * The delta, as copies; null if nothing changed. A node that was removed and came back in between leaves as removed
   * now and as new with the next delta, so that it does not matter in which order a reader applies the parts.
   */
  drain(): TopologyChange | null {
    if (this.#nodes.size + this.#edges.size + this.#removed.size === 0) return null;
    const removed = [...this.#removed];
    const nodes = [...this.#nodes].filter(({ nodeId }) => !this.#removed.has(nodeId));
    const edges = [...this.#edges].filter(
      ({ from, to }) => !this.#removed.has(from) && !this.#removed.has(to),
    );
    this.#removed.clear();
    for (const node of nodes) this.#nodes.delete(node);
    for (const edge of edges) this.#edges.delete(edge);
    return {
      nodes: nodes.map((node) => node.view()),
      edges: edges.map((edge) => edge.view()),
      ...(removed.length > 0 ? { removed } : {}),
    };
  }
}
