/** What changed on the map since the last time someone asked: many changes of one node leave as one. */
import type { TopologyChange } from '#contracts';
import type { Edge } from './edge.js';
import type { Node } from './node.js';

export class ChangeSet {
  readonly #nodes = new Set<Node>();
  readonly #edges = new Set<Edge>();
  readonly #removed = new Set<string>();

  changed(node: Node): void {
    // Asked of the node, which is at hand, and not of the set: this runs for every message.
    if (node.isListed) return;
    node.isListed = true;
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
   *
   * @param countMax nodes, edges and removals, of each: what there is more of waits for the next, and an edge for both its nodes
   */
  drain(countMax: number): TopologyChange | null {
    if (this.#nodes.size + this.#edges.size + this.#removed.size === 0) return null;
    const waiting = new Set(this.#removed);
    const removed = takeFirst(this.#removed, countMax, () => true);
    const nodes = takeFirst(this.#nodes, countMax, ({ nodeId }) => !waiting.has(nodeId));
    for (const node of nodes) node.isListed = false;
    for (const { nodeId } of this.#nodes) waiting.add(nodeId);
    const edges = takeFirst(this.#edges, countMax, ({ from, to }) => !waiting.has(from) && !waiting.has(to));
    return {
      nodes: nodes.map((node) => node.view()),
      edges: edges.map((edge) => edge.view()),
      ...(removed.length > 0 ? { removed } : {}),
    };
  }
}

/** Those that have been there longest, which leave it. */
function takeFirst<T>(all: Set<T>, countMax: number, isReady: (one: T) => boolean): T[] {
  const taken: T[] = [];
  for (const one of all) {
    if (taken.length === countMax) break;
    if (!isReady(one)) continue;
    taken.push(one);
    all.delete(one);
  }
  return taken;
}
