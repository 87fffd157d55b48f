import { describe, expect, it } from 'vitest';
import { liveOverHistory, splitNewer } from './live-over-history';

interface Thing {
  id: string;
  at: number;
  note?: string;
}
const shape = { idOf: ({ id }: Thing) => id, atOf: ({ at }: Thing) => at };

describe('liveOverHistory', () => {
  it('holds each thing once, newest first, and believes the live copy', () => {
    const live = [
      { id: 'a', at: 3, note: 'live' },
      { id: 'b', at: 5 },
    ];
    const history = [
      { id: 'a', at: 3, note: 'old' },
      { id: 'c', at: 1 },
    ];
    expect(liveOverHistory(live, history, shape)).toEqual([
      { id: 'b', at: 5 },
      { id: 'a', at: 3, note: 'live' },
      { id: 'c', at: 1 },
    ]);
  });
});

describe('splitNewer', () => {
  const things = [5, 4, 3].map((at) => ({ id: String(at), at }));

  it('keeps back what came after the list was held', () => {
    expect(splitNewer(things, 4, shape.atOf)).toEqual({ shown: things.slice(1), waitingCount: 1 });
  });

  it('gives the same list back when nothing waits', () => {
    expect(splitNewer(things, 5, shape.atOf).shown).toBe(things);
  });

  it('shows nothing when everything is newer', () => {
    expect(splitNewer(things, 0, shape.atOf)).toEqual({ shown: [], waitingCount: 3 });
  });
});
