import { describe, expect, it } from 'vitest';
import { type Failure, failureStill } from './failure';

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

  it('is of no other command', () => {
    const guidance: Failure = { ...refused, command: 'inject' };
    expect(failureStill(guidance, { state: 'paused', since_ms: 2_000 })).toBe(guidance);
  });
});
