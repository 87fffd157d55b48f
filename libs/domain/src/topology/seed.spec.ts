import { expect, it } from 'vitest';
import { textDigest } from '#kernel';
import { FakeClock } from '#testing';
import { Topology } from './index.js';

/** Their digests meet in a session `s` of a map whose seed is 0. */
function meeting(count: number): string[] {
  const seed = textDigest('s', 0);
  const ids: string[] = [];
  for (let n = 0; ids.length < count; n += 1)
    if ((textDigest(`t${n}`, seed) & 0xffff) === 0) ids.push(`t${n}`);
  return ids;
}

it('has steps found whose names were made to meet for another seed', () => {
  const ids = meeting(70);
  const digests = (seed: number) => new Set(ids.map((id) => textDigest(id, textDigest('s', seed)) & 0xff));
  expect(digests(0).size).toBe(1);
  const topology = new Topology({ clock: new FakeClock(0), seed: 12_345 });
  const record = (agent_id: string, trace_id: string, parent_step_id: string | null) =>
    topology.recordStep({
      ...{ session_id: 's', agent_type: 'x', intent: 'x', status: 'success' },
      ...{ agent_id, trace_id, parent_step_id, at_ms: 0, received_at_ms: 0 },
    });
  record('first', ids[0] as string, null);
  for (const id of ids.slice(1)) record('other', id, null);
  record('child', 'last', ids[0] as string);
  expect(topology.snapshot().edges).toContainEqual(
    expect.objectContaining({ from: 's/first', to: 's/child' }),
  );
});
