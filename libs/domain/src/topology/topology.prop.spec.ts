import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TopologyChange, TopologyEdge, TopologyNode } from '#contracts';
import { FakeClock } from '#testing';
import { Topology } from './index.js';

/** A reader of deltas, the order of their parts reversed to show that it does not matter. */
class Reader {
  readonly nodes = new Map<string, TopologyNode>();
  readonly edges = new Map<string, TopologyEdge>();

  apply(change: TopologyChange): void {
    for (const edge of change.edges) this.edges.set(`${edge.from} ${edge.to}`, edge);
    for (const node of change.nodes) this.nodes.set(node.node_id, node);
    for (const id of change.removed ?? []) {
      this.nodes.delete(id);
      for (const [key, edge] of this.edges) if (edge.from === id || edge.to === id) this.edges.delete(key);
    }
  }
}

const name = (prefix: string, count: number) =>
  fc.integer({ min: 1, max: count }).map((index) => `${prefix}${index}`);
const state = fc.constantFrom('active', 'blocked', 'alert_entropy', 'idle' as const);
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      session: name('s', 3),
      agent: name('a', 4),
      trace: name('t', 12),
      parent: fc.option(name('t', 12)),
      ageMs: fc.integer({ min: -1_000, max: 1_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('state' as const),
      session: name('s', 3),
      agent: name('a', 4),
      state,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('violation' as const), agent: name('a', 6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), session: name('s', 3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('sweep' as const),
      afterMs: fc.constantFrom(10, 4_000, 31_000, 61_000, 1_801_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('drain' as const) }) },
);
/** In pieces, or all at once. */
const pieces = fc.constantFrom(1, 2, 1_000);

it('makes the snapshot out of the drained deltas, within all bounds, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 120, size: 'max' }), pieces, (events, deltaCountMax) => {
      const clock = new FakeClock(1_800_000_000_000);
      const limits = {
        nodeCountMax: 8,
        edgeCountMax: 6,
        ghostCountMax: 2,
        stepCountMax: 9,
        deltaCountMax,
      };
      const topology = new Topology({ clock, limits });
      const reader = new Reader();
      for (const each of events) {
        if (each.kind === 'step') {
          topology.recordStep({
            session_id: each.session,
            agent_id: each.agent,
            agent_type: 'worker',
            trace_id: each.trace,
            parent_step_id: each.parent,
            at_ms: clock.nowMs() - each.ageMs,
            received_at_ms: clock.nowMs(),
            intent: each.trace,
            status: 'success',
          });
        } else if (each.kind === 'state') topology.setNodeState(each.session, each.agent, each.state);
        else if (each.kind === 'violation') topology.recordViolation(each.agent, clock.nowMs());
        else if (each.kind === 'end') topology.endSession(each.session);
        else if (each.kind === 'sweep') {
          clock.advance(each.afterMs);
          topology.sweep();
        } else {
          const change = topology.drainChanges();
          if (change) reader.apply(change);
        }
        expect(topology.nodeCount).toBeLessThanOrEqual(limits.nodeCountMax);
        expect(topology.edgeCount).toBeLessThanOrEqual(limits.edgeCountMax);
      }
      for (let change = topology.drainChanges(); change; change = topology.drainChanges())
        reader.apply(change);
      const { nodes, edges } = topology.snapshot();
      const byId = (one: { node_id: string }, other: { node_id: string }) =>
        one.node_id < other.node_id ? -1 : 1;
      const byEnds = (one: TopologyEdge, other: TopologyEdge) =>
        `${one.from} ${one.to}` < `${other.from} ${other.to}` ? -1 : 1;
      expect([...reader.nodes.values()].sort(byId)).toEqual(nodes.sort(byId));
      expect([...reader.edges.values()].sort(byEnds)).toEqual(edges.sort(byEnds));
      expect(topology.edgeCount).toBe(edges.length);
      const ids = new Set(nodes.map(({ node_id }) => node_id));
      for (const { from, to } of edges) expect(ids.has(from) && ids.has(to) && from !== to).toBe(true);
    }),
    { numRuns: 100 },
  );
});
