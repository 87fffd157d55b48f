import { describe, expect, it } from 'vitest';
import { CARD, CELL, FleetLayout, type PlacedFleet } from './fleet-layout';

const agents = (sessionId: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    node_id: `${sessionId}/agent-${from + index}`,
    session_id: sessionId,
  }));

function expectNoOverlap({ points }: PlacedFleet): void {
  const all = [...points.values()].map(({ x, y }) => `${x},${y}`);
  expect(new Set(all).size).toBe(all.length);
}

describe('the layout of the fleet', () => {
  it('gives every agent a place of its own, from 1 to 2,000', () => {
    for (const count of [1, 2, 7, 60, 2_000]) {
      const placed = new FleetLayout().place(
        Array.from({ length: count }, (_, index) =>
          agents(`s${index % Math.ceil(count / 3)}`, 1, index),
        ).flat(),
      );
      expect(placed.points.size).toBe(count);
      expectNoOverlap(placed);
    }
  });

  it('is about as wide as a screen, and packed', () => {
    const { points } = new FleetLayout().place(
      Array.from({ length: 2_000 }, (_, index) => agents(`s${index}`, 1)).flat(),
    );
    const width = Math.max(...[...points.values()].map(({ x }) => x)) + CARD.width;
    const height = Math.max(...[...points.values()].map(({ y }) => y)) + CARD.height;
    expect(width / height).toBeGreaterThan(1.4);
    expect(width / height).toBeLessThan(2.1);
    expect((CELL.width * CELL.height * 2_000) / (width * height)).toBeGreaterThan(0.9);
  });

  it('moves nobody when others arrive, leave, or join a session that is there', () => {
    const layout = new FleetLayout();
    let nodes = Array.from({ length: 40 }, (_, index) => agents(`s${index}`, 1 + (index % 4))).flat();
    let before = layout.place(nodes);
    for (let round = 0; round < 30; round += 1) {
      nodes = [
        ...nodes.filter((_, index) => index % 11 !== round % 11),
        ...agents(`s${round}`, 2, 100 + round * 2),
        ...agents(`late-${round}`, 3),
      ];
      const after = layout.place(nodes);
      expectNoOverlap(after);
      for (const [nodeId, point] of after.points) {
        const earlier = before.points.get(nodeId);
        if (earlier) expect(point).toBe(earlier);
      }
      before = after;
    }
  });

  it('keeps the agents of one session together, inside one frame that no other touches', () => {
    const { points, clusters } = new FleetLayout().place([
      ...agents('a', 5),
      ...agents('b', 9),
      ...agents('c', 2),
    ]);
    expect(clusters.map(({ session_id }) => session_id)).toEqual(['a', 'b', 'c']);
    for (const [nodeId, { x, y }] of points) {
      const inside = clusters.filter(
        (frame) =>
          x >= frame.x &&
          y >= frame.y &&
          x + CARD.width <= frame.x + frame.width &&
          y + CARD.height <= frame.y + frame.height,
      );
      expect(inside.map(({ session_id }) => session_id)).toEqual([nodeId.split('/')[0]]);
    }
  });

  it('draws no frame around an agent that is alone', () => {
    expect(new FleetLayout().place(agents('a', 1)).clusters).toEqual([]);
  });

  it('places equal snapshots equally', () => {
    const nodes = [...agents('a', 3), ...agents('b', 1), ...agents('c', 8)];
    expect(new FleetLayout().place(nodes)).toEqual(new FleetLayout().place(nodes));
  });

  it('lets a later session have the place of one that is gone', () => {
    const layout = new FleetLayout();
    const first = layout.place([...agents('a', 1), ...agents('b', 1)]);
    const second = layout.place([...agents('b', 1), ...agents('c', 1)]);
    expect(second.points.get('c/agent-0')).toEqual(first.points.get('a/agent-0'));
  });
});
