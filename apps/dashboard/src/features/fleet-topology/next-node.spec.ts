import { describe, expect, it } from 'vitest';
import { FleetLayout } from './fleet-layout';
import { ARROWS, isArrow, nextNode } from './next-node';

const points = new Map([
  ['a', { x: 0, y: 0 }],
  ['b', { x: 200, y: 0 }],
  ['c', { x: 400, y: 0 }],
  ['d', { x: 0, y: 80 }],
  ['e', { x: 200, y: 80 }],
]);

describe('arrow keys on the map', () => {
  it('go to the neighbour in that direction', () => {
    expect(nextNode(points, 'a', 'ArrowRight')).toBe('b');
    expect(nextNode(points, 'a', 'ArrowDown')).toBe('d');
    expect(nextNode(points, 'e', 'ArrowUp')).toBe('b');
    expect(nextNode(points, 'c', 'ArrowLeft')).toBe('b');
  });

  it('stay at the rim', () => {
    expect(nextNode(points, 'a', 'ArrowLeft')).toBeNull();
  });

  it('lead from any agent to every other, on narrow and on wide maps', () => {
    const nodes = Array.from({ length: 90 }, (_, index) => ({
      node_id: `agent-${index}`,
      session_id: `session-${Math.floor(Math.sqrt(index * 7))}`,
    }));
    for (const aspect of [0.75, 1.4, 2.2]) {
      const { points } = new FleetLayout(aspect).place(nodes);
      for (const start of points.keys()) {
        const reached = new Set([start]);
        for (const id of reached)
          for (const arrow of Object.keys(ARROWS).filter(isArrow))
            reached.add(nextNode(points, id, arrow) ?? id);
        expect(reached.size).toBe(90);
      }
    }
  });

  it('start somewhere when the node is gone', () => {
    expect(nextNode(points, 'gone', 'ArrowLeft')).toBe('a');
  });
});
