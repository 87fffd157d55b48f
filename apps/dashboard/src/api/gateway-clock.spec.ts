import { describe, expect, it } from 'vitest';
import { GatewayClock } from './gateway-clock';

const NOON_MS = Date.parse('2026-11-22T12:00:00.000Z');
const NOON = 'Sun, 22 Nov 2026 12:00:00 GMT';
const HOUR_MS = 3_600_000;

/** A browser whose clock is wrong by so much, at noon and 400 ms at the gateway, and an answer that took 100 ms. */
function clockOffBy(wrongMs: number) {
  const ownMs = NOON_MS + 400 + wrongMs;
  const clock = new GatewayClock(() => ownMs);
  clock.learn(NOON, ownMs - 100, ownMs);
  return clock.nowMs() - NOON_MS;
}

describe('GatewayClock', () => {
  it('leaves a clock alone that is right to the second', () => {
    expect(clockOffBy(0)).toBe(400);
    expect(clockOffBy(-300)).toBe(100);
  });

  it('tells the time of the gateway, to two seconds, whatever the browser takes it to be', () => {
    for (const wrongMs of [-24 * HOUR_MS, -HOUR_MS, -5_000, 5_000, HOUR_MS, 24 * HOUR_MS]) {
      const toldMs = clockOffBy(wrongMs);
      expect(toldMs).toBeGreaterThanOrEqual(0);
      expect(toldMs).toBeLessThanOrEqual(2_100);
    }
  });

  it('goes back to a clock that somebody has set right', () => {
    let wrongMs = HOUR_MS;
    const clock = new GatewayClock(() => NOON_MS + wrongMs);
    clock.learn(NOON, NOON_MS + wrongMs, NOON_MS + wrongMs);
    wrongMs = 0;
    clock.learn(NOON, NOON_MS, NOON_MS);
    expect(Math.abs(clock.nowMs() - NOON_MS)).toBeLessThanOrEqual(2_000);
  });

  it('takes nothing from an answer without a date, nor from one during which the clock was set back', () => {
    const clock = new GatewayClock(() => NOON_MS);
    clock.learn(null, NOON_MS, NOON_MS);
    clock.learn('soon', NOON_MS, NOON_MS);
    clock.learn(NOON, NOON_MS + HOUR_MS, NOON_MS + 10);
    expect(clock.nowMs()).toBe(NOON_MS);
  });
});
