import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api';
import { type Failure, failureStill } from './failure';
import { failureOf } from './use-command';

const refused: Failure = { command: 'pause', message: 'The disk is full.', wasAnswered: true, atMs: 1_000 };
const unanswered = { ...refused, wasAnswered: false };

describe('failureStill', () => {
  it('stands as long as what was asked for is not so', () => {
    for (const failure of [refused, unanswered]) {
      expect(failureStill(failure, { state: 'active', since_ms: 2_000 })).toBe(failure);
      expect(failureStill(failure, undefined)).toBe(failure);
    }
    const resume: Failure = { ...refused, command: 'resume' };
    expect(failureStill(resume, { state: 'paused', since_ms: 500 })).toBe(resume);
  });

  it('is over where only the answer was lost', () => {
    expect(failureStill(unanswered, { state: 'paused', since_ms: 900 })).toBe(null);
  });

  it('is over once somebody has done it since, and not for what was so before', () => {
    expect(failureStill(refused, { state: 'paused', since_ms: 900 })).toBe(refused);
    expect(failureStill(refused, { state: 'paused', since_ms: 1_001 })).toBe(null);
    expect(failureStill({ ...refused, command: 'resume' }, { state: 'active', since_ms: 1_001 })).toBe(null);
  });

  it('is over once the session is ended for good, and not where that is why it was refused', () => {
    for (const command of ['pause', 'resume', 'inject'] as const) {
      const failure: Failure = { ...refused, command };
      expect(failureStill(failure, { state: 'terminated', since_ms: 1_001 })).toBe(null);
      expect(failureStill(failure, { state: 'terminated', since_ms: 900 })).toBe(failure);
    }
  });

  it('is of no other command', () => {
    const guidance: Failure = { ...refused, command: 'inject' };
    expect(failureStill(guidance, { state: 'paused', since_ms: 2_000 })).toBe(guidance);
  });
});

describe('failureOf', () => {
  it('is over once the disk has taken a pause that was told as late, which counts from the click', () => {
    const late = failureOf('pause', new ApiError('store_busy', 'The disk takes its time.', 503));
    expect(failureStill(late, { state: 'active', since_ms: null })).toBe(late);
    expect(failureStill(late, { state: 'pause_requested', since_ms: late.atMs - 3_000 })).toBe(null);
  });

  it('stands where it was a refusal', () => {
    const refused = failureOf('pause', new ApiError('forbidden', 'You may look, not command.', 403));
    expect(failureStill(refused, { state: 'paused', since_ms: refused.atMs - 3_000 })).toBe(refused);
  });
});
