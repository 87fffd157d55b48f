import { describe, expect, it } from 'vitest';
import { HistoryMark, spanOf } from './history-mark';

const reach = (startCount: number, oldestAt: number, newestAt: number) => ({
  startCount,
  span: { oldestAt, newestAt },
});

describe('spanOf', () => {
  it('says when the oldest and the newest thing were, in whichever order they come', () => {
    const span = { oldestAt: 3, newestAt: 9 };
    expect(spanOf([3, 5, 9], (at) => at)).toEqual(span);
    expect(spanOf([9, 5, 3], (at) => at)).toEqual(span);
  });

  it('is null where there is none', () => {
    expect(spanOf<number>([], (at) => at)).toBeNull();
    expect(spanOf<number>(null, (at) => at)).toBeNull();
  });
});

describe('HistoryMark', () => {
  it('holds as long as the topic begins before the history ended', () => {
    const mark = new HistoryMark();
    mark.isTornBy(reach(1, 10, 20));
    mark.noteReading();
    expect(mark.isTornBy(reach(1, 15, 90))).toBe(false);
    expect(mark.isTornBy(reach(1, 20, 95))).toBe(false);
  });

  it('is torn once the topic begins later, and whole again once the history was read anew', () => {
    const mark = new HistoryMark();
    mark.isTornBy(reach(1, 10, 20));
    mark.noteReading();
    expect(mark.isTornBy(reach(1, 21, 95))).toBe(true);
    mark.noteReading();
    expect(mark.isTornBy(reach(1, 21, 95))).toBe(false);
  });

  it('is torn by a reset, whatever the topic holds since', () => {
    const mark = new HistoryMark();
    mark.isTornBy(reach(1, 10, 20));
    mark.noteReading();
    expect(mark.isTornBy({ startCount: 2, span: null })).toBe(true);
    mark.noteReading();
    expect(mark.isTornBy({ startCount: 2, span: null })).toBe(false);
    expect(mark.isTornBy(reach(2, 100, 110))).toBe(false);
  });

  it('takes the first that it hears of the topic as what the history met', () => {
    const mark = new HistoryMark();
    mark.noteReading();
    expect(mark.isTornBy({ startCount: 0, span: null })).toBe(false);
    expect(mark.isTornBy(reach(1, 50, 60))).toBe(false);
    expect(mark.isTornBy(reach(1, 61, 70))).toBe(true);
  });
});
