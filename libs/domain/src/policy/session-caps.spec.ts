import { describe, expect, it } from 'vitest';
import { NO_LIMITS, sessionKey } from '#contracts';
import { FakeClock } from '#testing';
import { SessionCaps } from './session-caps.js';

const SESSION = sessionKey('default', 'session-1');
const OTHER = sessionKey('default', 'session-2');
const CALLS = { ...NO_LIMITS, session_calls_max: 2 };
const COST = { ...NO_LIMITS, session_cost_usd_max: 0.01 };
const TIME = { ...NO_LIMITS, session_minutes_max: 5 };

describe('the caps of a session', () => {
  it('refuse the call after the last, and leave other sessions alone', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    for (let call = 0; call < 2; call += 1) {
      expect(caps.decide(SESSION, CALLS, null)).toEqual({ allowed: true });
      caps.record(SESSION, null);
    }
    expect(caps.decide(SESSION, CALLS, null)).toEqual({ allowed: false, cap: 'session_calls_max' });
    expect(caps.decide(OTHER, CALLS, null)).toEqual({ allowed: true });
    expect(caps.decide(SESSION, NO_LIMITS, 1e12)).toEqual({ allowed: true });
  });

  it('hold an estimate that would exceed the money, and allow one that just fits', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    caps.record(SESSION, 6_000);
    expect(caps.decide(SESSION, COST, 4_000)).toEqual({ allowed: true });
    expect(caps.decide(SESSION, COST, 4_001)).toEqual({ allowed: false, cap: 'session_cost_usd_max' });
    expect(caps.decide(SESSION, COST, null)).toEqual({ allowed: true });
    caps.record(SESSION, 4_000);
    expect(caps.decide(SESSION, COST, 0)).toEqual({ allowed: true });
    expect(caps.decide(SESSION, COST, null)).toEqual({ allowed: false, cap: 'session_cost_usd_max' });
  });

  it('hold the first call of a session, too, where it alone costs more than the money', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    expect(caps.decide(SESSION, COST, 10_001)).toEqual({ allowed: false, cap: 'session_cost_usd_max' });
    expect(caps.decide(SESSION, COST, 10_000)).toEqual({ allowed: true });
  });

  it('count no money for calls of unknown cost, until it is known', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    for (let call = 0; call < 2; call += 1) caps.record(SESSION, null);
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: 0 });
    caps.settle(SESSION, null, { calls: 1, costMicroUsd: 5 });
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: 5 });
  });

  it('hold nothing back that costs nothing, however far the money is overspent', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    caps.record(SESSION, 20_000);
    expect(caps.decide(SESSION, COST, 0)).toEqual({ allowed: true });
    expect(caps.decide(SESSION, COST, 1)).toEqual({ allowed: false, cap: 'session_cost_usd_max' });
  });

  it('count time from the first call, and to the last millisecond', () => {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock });
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: true });
    caps.record(SESSION, null);
    clock.advance(5 * 60_000 - 1);
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: true });
    caps.record(SESSION, null);
    clock.advance(1);
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: false, cap: 'session_minutes_max' });
  });

  it('begin anew for no wall clock that is set, be it forward by days, and count no minute by it', () => {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock });
    for (let call = 0; call < 2; call += 1) caps.record(SESSION, null);
    clock.set(clock.nowMs() + 2 * 24 * 3_600_000);
    expect(caps.decide(SESSION, CALLS, null)).toEqual({ allowed: false, cap: 'session_calls_max' });
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: true });
    clock.set(0);
    clock.advance(5 * 60_000);
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: false, cap: 'session_minutes_max' });
  });

  it('brought back count the time since their first call, and one that is to come as now', () => {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock });
    const used = { callCount: 1, costMicroUsd: 0 };
    caps.restore(SESSION, { ...used, firstCallMs: clock.nowMs() - 4 * 60_000 });
    caps.restore(OTHER, { ...used, firstCallMs: clock.nowMs() + 60 * 60_000 });
    clock.advance(60_000);
    expect(caps.decide(SESSION, TIME, null)).toEqual({ allowed: false, cap: 'session_minutes_max' });
    clock.advance(4 * 60_000);
    expect(caps.decide(OTHER, TIME, null)).toEqual({ allowed: false, cap: 'session_minutes_max' });
  });

  it('are settled with what was really used, given back, and never below zero', () => {
    const caps = new SessionCaps({ clock: new FakeClock() });
    caps.record(SESSION, 6_000);
    caps.settle(SESSION, 6_000, { calls: 1, costMicroUsd: 9_000 });
    expect(caps.look(SESSION)).toMatchObject({ callCount: 1, costMicroUsd: 9_000 });
    caps.record(SESSION, 5_000);
    caps.settle(SESSION, 5_000, { calls: 0, costMicroUsd: 0 });
    expect(caps.look(SESSION)).toMatchObject({ callCount: 1, costMicroUsd: 9_000 });
    caps.record(SESSION, 500);
    caps.settle(SESSION, 500, { calls: 1, costMicroUsd: null });
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2, costMicroUsd: 9_000 });
    caps.settle(SESSION, 50_000, { calls: 0, costMicroUsd: 0 });
    expect(caps.look(SESSION)).toMatchObject({ callCount: 1, costMicroUsd: 0 });
  });

  it('of one tenant stay, however many sessions another has', () => {
    const caps = new SessionCaps({ clock: new FakeClock(), sessionCountMax: 100 });
    for (let n = 0; n < 2; n += 1) caps.record(SESSION, null);
    for (let n = 0; n < 1_000; n += 1) caps.record(sessionKey('noisy', `${n}`), null);
    expect(caps.decide(SESSION, CALLS, null)).toEqual({ allowed: false, cap: 'session_calls_max' });
    expect([caps.sessionCount, caps.evictedCount]).toEqual([100, 901]);
  });

  it('are bounded in number, and say how many they had to forget', () => {
    const clock = new FakeClock();
    const caps = new SessionCaps({ clock, sessionCountMax: 2, idleMs: 1_000 });
    for (const id of ['a', 'b', 'c']) caps.record(sessionKey('default', id), null);
    expect(caps.sessionCount).toBe(2);
    expect(caps.evictedCount).toBe(1);
    expect(caps.look(sessionKey('default', 'a'))).toBeNull();
    clock.advance(1_001);
    expect(caps.look(sessionKey('default', 'c'))).toBeNull();
    caps.settle(sessionKey('default', 'c'), 5, { calls: 1, costMicroUsd: 5 });
    expect(caps.evictedCount).toBe(1);
  });
});
