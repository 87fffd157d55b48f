import { describe, expect, it } from 'vitest';
import { type KeyPress, matchKeys, SEQUENCE_MS_MAX } from './match-keys';

const press = (key: string, atMs = 0, mod = false): KeyPress => ({ key, mod, atMs });

describe('matchKeys', () => {
  it('matches single keys, combinations and sequences', () => {
    expect(matchKeys(null, press('j'))).toBe('next');
    expect(matchKeys(null, press('k', 0, true))).toBe('palette');
    expect(matchKeys(null, press('Escape'))).toBe('back');
    expect(matchKeys(press('g'), press('s', 200))).toBe('goSessions');
    expect(matchKeys(press('g'), press(',', 200))).toBe('goSettings');
  });

  it('prefers the sequence to the single key', () => {
    expect(matchKeys(press('g'), press('f', 100))).toBe('goFleet');
    expect(matchKeys(null, press('f'))).toBe('freeze');
  });

  it('forgets a sequence that takes too long', () => {
    expect(matchKeys(press('g'), press('s', SEQUENCE_MS_MAX + 1))).toBeNull();
  });
});
