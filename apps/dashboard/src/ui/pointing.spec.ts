import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { POINTER_RESTS_AFTER_MS, Pointing } from './pointing';

const at = (screenX: number) => ({ screenX, screenY: 0 });

describe('Pointing', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const pointing = () => {
    const told: boolean[] = [];
    return { told, pointer: new Pointing((isPointing) => told.push(isPointing)) };
  };

  it('lasts as long as the pointer moves, and ends with its leaving', () => {
    const { told, pointer } = pointing();
    for (let count = 0; count < 10; count += 1) {
      pointer.moved(at(count));
      vi.advanceTimersByTime(POINTER_RESTS_AFTER_MS - 1);
    }
    expect(told).toEqual([true]);
    pointer.left(at(-1));
    vi.advanceTimersByTime(POINTER_RESTS_AFTER_MS);
    expect(told).toEqual([true, false]);
  });

  it('ends where the pointer merely rests, and begins anew when it moves', () => {
    const { told, pointer } = pointing();
    pointer.moved(at(0));
    vi.advanceTimersByTime(POINTER_RESTS_AFTER_MS);
    expect(told).toEqual([true, false]);
    pointer.left(at(-1));
    expect(told).toEqual([true, false]);
    pointer.moved(at(0));
    expect(told).toEqual([true, false, true]);
  });

  it('ends where the page moves below it, away and back again, and only its button or wheel is more', () => {
    const { told, pointer } = pointing();
    pointer.moved(at(0));
    vi.advanceTimersByTime(POINTER_RESTS_AFTER_MS - 1);
    pointer.moved(at(0));
    vi.advanceTimersByTime(1);
    expect(told).toEqual([true, false]);
    pointer.left(at(0));
    pointer.moved(at(0));
    expect(told).toEqual([true, false]);
    pointer.touched();
    expect(told).toEqual([true, false, true]);
  });
});
