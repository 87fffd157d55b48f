import { describe, expect, it } from 'vitest';
import type { StepView } from '#contracts';
import { layoutCauses } from './causal-layout';

const step = (trace_id: string, parent_step_id: string | null = null) =>
  ({ meta: { trace_id, parent_step_id } }) as StepView;

describe('layoutCauses', () => {
  it('draws a chain as one lane', () => {
    const { rows, laneCount } = layoutCauses([step('a'), step('b', 'a'), step('c', 'b')]);
    expect(laneCount).toBe(1);
    expect(rows.map((row) => row.parentRow)).toEqual([null, 0, 1]);
  });

  it('opens a lane for a second child and keeps the chain in its own', () => {
    const { rows } = layoutCauses([step('a'), step('b', 'a'), step('c', 'a'), step('d', 'b')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 0, 1, 0]);
  });

  it('takes a free lane again', () => {
    const { laneCount } = layoutCauses([step('a'), step('b'), step('c')]);
    expect(laneCount).toBe(1);
  });

  it('marks a parent that is not here, and accepts neither itself nor a later step as cause', () => {
    const { rows } = layoutCauses([step('a', 'elsewhere'), step('b', 'b'), step('c', 'd'), step('d')]);
    expect(rows.map((row) => row.parentRow)).toEqual([null, null, null, null]);
    expect(rows[0]?.hasForeignParent).toBe(true);
  });
});
