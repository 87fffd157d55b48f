/**
 * All nodes of one agent, split by whether a refused message shows on them, so that a flood of bad messages from an
 * agent with thousands of sessions colours each node once and not again with every message.
 */
import type { Node } from './node.js';

export class AgentNodes {
  readonly calm = new Set<Node>();
  readonly violating = new Set<Node>();
  /** When `violating` calms down, by the steady clock. */
  violationEndsMs = 0;

  get size(): number {
    return this.calm.size + this.violating.size;
  }

  delete(node: Node): void {
    this.calm.delete(node);
    this.violating.delete(node);
  }

  /** Colours every calm node. @returns those it coloured */
  violate(untilMs: number): Node[] {
    this.violationEndsMs = Math.max(this.violationEndsMs, untilMs);
    const coloured = [...this.calm];
    for (const node of coloured) {
      node.isViolating = true;
      this.violating.add(node);
    }
    this.calm.clear();
    return coloured;
  }

  /** @returns whether the node was coloured */
  calmDown(node: Node): boolean {
    if (!this.violating.delete(node)) return false;
    node.isViolating = false;
    this.calm.add(node);
    return true;
  }
}
