import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ObservatoryError } from '#contracts';
import { steadyClock } from '#kernel';
import { FakeClock } from '#testing';
import { IngestRate } from './ingest-rate.js';

const refusalOf = (send: () => void): ObservatoryError | null => {
  try {
    send();
    return null;
  } catch (error) {
    if (error instanceof ObservatoryError) return error;
    throw error;
  }
};

describe('IngestRate', () => {
  let clock: FakeClock;
  let rate: IngestRate;
  const send = (keyId: string, count = 1) =>
    refusalOf(() => {
      rate.check(keyId);
      rate.take(keyId, count);
    });

  beforeEach(() => {
    clock = new FakeClock();
    rate = new IngestRate({ clock, logsPerSecondMax: 10 });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('takes as many as a second may hold at once, then says when to come back', () => {
    for (let sent = 0; sent < 10; sent += 1) expect(send('key')).toBeNull();
    const refusal = send('key');
    expect(refusal).toMatchObject({ code: 'rate_limited', status: 429, extra: { retryAfterSeconds: 1 } });
    clock.advance(99);
    expect(send('key')).not.toBeNull();
    clock.advance(1);
    expect(send('key')).toBeNull();
    expect(send('key')).not.toBeNull();
  });

  it('takes a batch whole and lets its sender wait for as long as it was too large', () => {
    expect(send('key', 45)).toBeNull();
    expect(send('key')).toMatchObject({ extra: { retryAfterSeconds: 4 } });
    clock.advance(3_500);
    expect(send('key')).not.toBeNull();
    clock.advance(100);
    expect(send('key')).toBeNull();
  });

  it('saves nothing up beyond a second', () => {
    clock.advance(3_600_000);
    expect(send('key', 10)).toBeNull();
    expect(send('key')).not.toBeNull();
  });

  it('lets nobody wait for another key', () => {
    send('wild', 1_000);
    expect(send('wild')).not.toBeNull();
    expect(send('calm')).toBeNull();
  });

  it('forgives nobody, and lets nobody wait longer, when the wall clock jumps back and forward', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    rate = new IngestRate({ clock: steadyClock, logsPerSecondMax: 10 });
    // Debt for far longer than this test takes.
    send('key', 1_000);
    for (const jumpMs of [-3_600_000, 7_200_000, -3_600_000]) {
      vi.setSystemTime(Date.now() + jumpMs);
      const { retryAfterSeconds } = send('key')?.extra ?? {};
      expect(retryAfterSeconds).toBeGreaterThan(90);
      expect(retryAfterSeconds).toBeLessThanOrEqual(100);
    }
  });

  it('is no limit at 0', () => {
    rate = new IngestRate({ clock, logsPerSecondMax: 0 });
    expect(send('key', 1_000_000)).toBeNull();
    expect(send('key', 1_000_000)).toBeNull();
  });
});
