import { describe, expect, it } from 'vitest';
import { nextNode } from './next-node';

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

  it('start somewhere when the node is gone', () => {
    expect(nextNode(points, 'gone', 'ArrowLeft')).toBe('a');
  });
});
