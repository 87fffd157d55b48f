import { describe, expect, it } from 'vitest';
import type { SemanticLoopEvent, StepView } from '#contracts';
import {
  leavesGap,
  markOf,
  splitAtMark,
  type TimelineEntry,
  timelineEntries,
  timelineSteps,
} from './timeline-entries';

const step = (seq: number, received_at_ms = seq * 10) =>
  ({ meta: { trace_id: `call-${seq}` }, gateway: { seq, received_at_ms } }) as StepView;
const loop = (event_id: string, at_ms: number, seq = 0, call_id = event_id) =>
  ({ event_id, at_ms, seq, call_id }) as SemanticLoopEvent;
const keys = (entries: readonly TimelineEntry[]) => entries.map(({ key }) => key).join(' ');

describe('timelineSteps', () => {
  it('joins what was loaded and what is live, newest first, each step once and as it is now', () => {
    const live = step(2, 99);
    const steps = timelineSteps([step(1), step(2)], [live, step(3)]);
    expect(steps.map(({ gateway }) => gateway.seq)).toEqual([3, 2, 1]);
    expect(steps[1]).toBe(live);
  });
});

describe('leavesGap', () => {
  it('is true where the live steps begin after the latest of the earlier ones', () => {
    expect(leavesGap([step(2), step(1)], [step(4), step(5)])).toBe(true);
    expect(leavesGap([step(4), step(1)], [step(4), step(5)])).toBe(false);
    expect(leavesGap([step(5)], [step(4)])).toBe(false);
  });

  it('is false while nothing earlier was loaded, and where nothing is live', () => {
    expect(leavesGap([], [step(4)])).toBe(false);
    expect(leavesGap([step(2)], [])).toBe(false);
  });
});

describe('timelineEntries', () => {
  const steps = [step(3), step(2), step(1)];

  it('puts a loop right below the step of its own call, however late the steps were recorded', () => {
    const late = [step(3, 900), step(2, 900), step(1, 900)];
    const loops = [loop('b', 30, 2, 'call-3'), loop('a', 20, 1, 'call-2')];
    expect(keys(timelineEntries(late, loops, true))).toBe('3 b 2 a 1');
  });

  it('puts a loop whose step is not there where it happened: above the latest step received before it', () => {
    const loops = [loop('old', 15), loop('newest', 90), loop('late', 25)];
    expect(keys(timelineEntries(steps, loops, true))).toBe('newest 3 late 2 old 1');
  });

  it('puts a loop of the same millisecond above its step', () => {
    expect(keys(timelineEntries(steps, [loop('same', 20)], true))).toBe('3 same 2 1');
  });

  it('keeps the order of steps, whatever their clocks say', () => {
    const skewed = [step(3, 5), step(2, 50), step(1, 1)];
    expect(keys(timelineEntries(skewed, [loop('a', 20)], true))).toBe('a 3 2 1');
  });

  it('holds back loops from before the oldest step until the session’s beginning is loaded', () => {
    expect(keys(timelineEntries(steps, [loop('older', 1)], false))).toBe('3 2 1');
    expect(keys(timelineEntries(steps, [loop('older', 1)], true))).toBe('3 2 1 older');
  });

  it('shows the loops of a session without steps', () => {
    expect(keys(timelineEntries([], [loop('a', 1), loop('b', 2)], true))).toBe('b a');
  });
});

describe('splitAtMark', () => {
  it('lets what came after the mark wait, and counts it', () => {
    const before = timelineEntries([step(1)], [loop('first', 15, 7)], true);
    const mark = markOf(before);
    const after = timelineEntries([step(2), step(1)], [loop('first', 15, 7), loop('second', 16, 8)], true);
    const { shown, waitingCount } = splitAtMark(after, mark);
    expect(keys(shown)).toBe(keys(before));
    expect(waitingCount).toBe(2);
  });

  it('shows a loop that could not be stored, and so has no number, at once', () => {
    const entries = timelineEntries([step(1)], [loop('unstored', 15)], true);
    expect(splitAtMark(entries, { stepSeq: 1, loopSeq: 0 }).waitingCount).toBe(0);
  });
});
