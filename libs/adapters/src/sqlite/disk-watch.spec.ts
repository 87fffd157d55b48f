import { describe, expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { DiskWatch } from './disk-watch.js';

describe('DiskWatch', () => {
  it('lets one attempt a second through while the disk is full', () => {
    const clock = new FakeClock(10_000);
    const watch = new DiskWatch(clock);
    expect(watch.noteRefused()).toBe(true);
    expect(watch.noteRefused()).toBe(false);
    expect(watch.claimAttempt()).toBe(false);
    clock.advance(1_000);
    expect(watch.claimAttempt()).toBe(true);
    expect(watch.claimAttempt()).toBe(false);
    expect(watch.isFull).toBe(true);
    expect(watch.noteTaken()).toBe(true);
    expect(watch.isFull).toBe(false);
    expect(watch.noteTaken()).toBe(false);
  });

  it('tries as often where somebody sets the clock', () => {
    const clock = new FakeClock(10_000);
    const watch = new DiskWatch(clock);
    watch.noteRefused();
    clock.set(86_400_000);
    expect(watch.claimAttempt()).toBe(false);
    clock.set(5);
    clock.advance(1_000);
    expect(watch.claimAttempt()).toBe(true);
  });
});
