import { describe, expect, it } from 'vitest';
import { DiskWatch } from './disk-watch.js';

describe('DiskWatch', () => {
  it('lets one attempt a second through while the disk is full', () => {
    let nowMs = 10_000;
    const watch = new DiskWatch({ nowMs: () => nowMs });
    expect(watch.noteRefused()).toBe(true);
    expect(watch.noteRefused()).toBe(false);
    expect(watch.claimAttempt()).toBe(false);
    nowMs += 1_000;
    expect(watch.claimAttempt()).toBe(true);
    expect(watch.claimAttempt()).toBe(false);
    expect(watch.isFull).toBe(true);
    expect(watch.noteTaken()).toBe(true);
    expect(watch.isFull).toBe(false);
    expect(watch.noteTaken()).toBe(false);
  });

  it('goes on trying after the clock was set back', () => {
    let nowMs = 10_000;
    const watch = new DiskWatch({ nowMs: () => nowMs });
    watch.noteRefused();
    nowMs = 5;
    expect(watch.claimAttempt()).toBe(true);
  });
});
