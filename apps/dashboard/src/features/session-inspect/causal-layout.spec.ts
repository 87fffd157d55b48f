import { describe, expect, it } from 'vitest';
import type { StepView } from '#contracts';
import { layoutCauses } from './causal-layout';
import { splitAtSeq, timelineSteps } from './timeline-steps';

const step = (trace_id: string, parent_step_id: string | null = null, seq = 0) =>
  ({ meta: { trace_id, parent_step_id }, gateway: { seq } }) as StepView;

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

describe('timelineSteps', () => {
  it('shows each step once, newest first; the later part wins', () => {
    const live = step('live', null, 2);
    const steps = timelineSteps([step('old', null, 1), step('loaded', null, 2)], [live]);
    expect(steps.map((known) => known.meta.trace_id)).toEqual(['live', 'old']);
  });

  it('lets newer steps wait', () => {
    const steps = timelineSteps([step('a', null, 1), step('b', null, 2), step('c', null, 3)]);
    expect(splitAtSeq(steps, 1)).toMatchObject({ waitingCount: 2 });
    expect(splitAtSeq(steps, 1).shown).toHaveLength(1);
    expect(splitAtSeq(steps, 9).waitingCount).toBe(0);
  });
});
