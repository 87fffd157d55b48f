import { describe, expect, it } from 'vitest';
import { crowdSpots, nodeAt } from './crowd-spots';
import { CARD, type PlacedFleet } from './fleet-layout';
import type { FleetData, FleetNode } from './fleet-nodes';

const node = (node_id: string, more: Partial<FleetNode>) =>
  [node_id, { node_id, ...more } as FleetNode] as const;

const topology: FleetData = {
  nodes: new Map([
    node('a', { state: 'active' }),
    node('b', { state: 'active' }),
    node('loops', { state: 'alert_entropy' }),
    node('rests', { state: 'alert_entropy', rest: 'held' }),
    node('unplaced', { state: 'active' }),
  ]),
  edges: new Map(),
};
const placed: PlacedFleet = {
  points: new Map(['a', 'b', 'loops', 'rests'].map((id, index) => [id, { x: index * 216, y: 30 }])),
  clusters: [],
};

describe('crowdSpots', () => {
  it('has one entry for all that look the same, and paints a loop at rest as a frame', () => {
    const spots = crowdSpots(topology, placed, () => true);
    expect(spots.map(({ points }) => points.length)).toEqual([2, 1, 1]);
    expect(spots.map(({ edgeColour }) => edgeColour !== null)).toEqual([false, false, true]);
  });

  it('dims what is filtered out', () => {
    const spots = crowdSpots(topology, placed, ({ node_id }) => node_id !== 'b');
    expect(spots.filter(({ opacity }) => opacity < 1).map(({ points }) => points)).toEqual([
      [{ x: 216, y: 30 }],
    ]);
  });
});

describe('nodeAt', () => {
  it('finds whose card is pointed at, and nobody between two', () => {
    expect(nodeAt(placed, { x: 216 + CARD.width, y: 31 })).toBe('b');
    expect(nodeAt(placed, { x: 216 + CARD.width + 1, y: 31 })).toBeNull();
  });
});
