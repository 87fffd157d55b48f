import { describe, expect, it } from 'vitest';
import { CELL } from './fleet-layout';
import { loopName, namedLoops, zoomStep } from './loop-names';

const loop = (node_id: string, column: number, row: number, name = 'price-watcher') => ({
  node_id,
  name: loopName(name),
  at: { x: column * CELL.width, y: row * CELL.height },
});
const named = (zoom: number, ...loops: ReturnType<typeof loop>[]) => [...namedLoops(loops, zoom)];

describe('namedLoops', () => {
  it('names every loop where there is room', () => {
    expect(named(0.2, loop('a', 0, 1), loop('b', 4, 1), loop('c', 0, 4))).toEqual(['a', 'b', 'c']);
  });

  it('leaves out a name that would cover its neighbour’s, the later one', () => {
    expect(named(0.2, loop('a', 0, 1), loop('b', 1, 1), loop('c', 3, 1))).toEqual(['a', 'c']);
  });

  it('leaves out a name that would cover a card that loops', () => {
    expect(named(0.2, loop('above', 0, 1), loop('below', 0, 2))).toEqual(['above']);
  });

  it('names more of them from nearer, and never another instead', () => {
    const row = Array.from({ length: 12 }, (_, column) => loop(`n${column}`, column, 1, 'bot'));
    const [far, near] = [named(0.1, ...row), named(0.3, ...row)];
    expect(far.length).toBeLessThan(near.length);
    expect(near[0]).toBe(far[0]);
  });

  it('gives up on a wall of loops instead of comparing all with all', () => {
    const wall = Array.from({ length: 3_000 }, (_, at) => loop(`n${at}`, at * 5, 1));
    expect(named(0.2, ...wall)).toHaveLength(200);
  });
});

describe('zoomStep', () => {
  it('is at most the zoom, and at least five sixths of it', () => {
    for (let zoom = 0.04; zoom < 0.34; zoom += 0.003) {
      expect(zoomStep(zoom)).toBeLessThanOrEqual(zoom);
      expect(zoomStep(zoom)).toBeGreaterThan(zoom * 0.83);
    }
  });
});
