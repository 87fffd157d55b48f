import { describe, expect, it } from 'vitest';
import type { TopologyChange } from '#contracts';
import { topologyMerge } from './topology';

const change = (nodeIds: string[], edges: [string, string][] = [], removed: string[] = []) =>
  ({
    nodes: nodeIds.map((node_id) => ({ node_id })),
    edges: edges.map(([from, to]) => ({ from, to })),
    removed,
  }) as unknown as TopologyChange;

describe('topologyMerge', () => {
  it('removes a node together with its edges', () => {
    const start = topologyMerge.start(
      change(
        ['a', 'b', 'c'],
        [
          ['a', 'b'],
          ['b', 'c'],
        ],
      ),
    );
    const next = topologyMerge.apply(start, [change([], [], ['a'])]);
    expect([...next.nodes.keys()]).toEqual(['b', 'c']);
    expect([...next.edges.values()]).toEqual([{ from: 'b', to: 'c' }]);
    expect(start.nodes.size).toBe(3);
  });
});
