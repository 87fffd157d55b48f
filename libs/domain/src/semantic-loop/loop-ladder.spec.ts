import { describe, expect, it } from 'vitest';
import { type SemanticLoopAction, sessionKey } from '#contracts';
import { FakeClock } from '#testing';
import { LADDER_IDLE_MS, LoopLadder } from './loop-ladder.js';

const SESSION = sessionKey('default', 'session-1');

describe('LoopLadder', () => {
  it.each<[policy: 'hint' | 'alert' | 'pause', actions: SemanticLoopAction[]]>([
    ['hint', ['hinted', 'hinted', 'hinted', 'hinted']],
    ['alert', ['hinted', 'alerted', 'alerted', 'alerted']],
    ['pause', ['hinted', 'alerted', 'paused', 'paused']],
  ])('climbs under the policy %s', (policy, actions) => {
    const ladder = new LoopLadder({ clock: new FakeClock() });
    expect(ladder.occurrences(SESSION)).toBe(0);
    for (const [index, action] of actions.entries()) {
      expect(ladder.decide(policy, SESSION)).toBe(action);
      expect(ladder.occurrences(SESSION)).toBe(index + 1);
    }
  });

  it('keeps two sessions apart, and two tenants with a session of the same name', () => {
    const ladder = new LoopLadder({ clock: new FakeClock() });
    const others = [sessionKey('default', 'session-2'), sessionKey('other', 'session-1')];
    for (let count = 0; count < 3; count += 1) ladder.decide('pause', SESSION);
    for (const other of others) expect(ladder.decide('pause', other)).toBe('hinted');
    expect(ladder.decide('pause', SESSION)).toBe('paused');
  });

  it('goes on from where it is when the policy is changed', () => {
    const ladder = new LoopLadder({ clock: new FakeClock() });
    ladder.decide('hint', SESSION);
    ladder.decide('hint', SESSION);
    expect(ladder.decide('pause', SESSION)).toBe('paused');
    expect(ladder.decide('hint', SESSION)).toBe('hinted');
  });

  it('starts again after more than an hour without a loop, and not before', () => {
    const clock = new FakeClock();
    const ladder = new LoopLadder({ clock });
    ladder.decide('alert', SESSION);
    clock.advance(LADDER_IDLE_MS);
    expect(ladder.decide('alert', SESSION)).toBe('alerted');
    clock.advance(LADDER_IDLE_MS + 1);
    expect(ladder.occurrences(SESSION)).toBe(0);
    expect(ladder.decide('alert', SESSION)).toBe('hinted');
  });

  it('goes on from where an earlier process left it, unless it has begun already', () => {
    const ladder = new LoopLadder({ clock: new FakeClock() });
    ladder.restore(SESSION, 2);
    expect(ladder.occurrences(SESSION)).toBe(2);
    expect(ladder.decide('pause', SESSION)).toBe('paused');
    ladder.restore(SESSION, 1);
    expect(ladder.occurrences(SESSION)).toBe(3);
  });

  it('of one tenant stays, however many sessions of another loop', () => {
    const ladder = new LoopLadder({ clock: new FakeClock(), sessionCountMax: 100 });
    for (let count = 0; count < 2; count += 1) ladder.decide('pause', SESSION);
    for (let n = 0; n < 1_000; n += 1) ladder.decide('pause', sessionKey('noisy', `${n}`));
    expect(ladder.decide('pause', SESSION)).toBe('paused');
    expect(ladder.sessionCount).toBe(100);
  });

  it('forgets the least recent session when there are too many, and counts it', () => {
    const ladder = new LoopLadder({ clock: new FakeClock(), sessionCountMax: 2 });
    const keys = ['a', 'b', 'c'].map((id) => sessionKey('default', id));
    for (const key of keys) ladder.decide('alert', key);
    expect([ladder.sessionCount, ladder.evictedCount]).toEqual([2, 1]);
    expect(keys.map((key) => ladder.occurrences(key))).toEqual([0, 1, 1]);
  });
});
