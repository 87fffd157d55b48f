import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CacheFlights, type Landing } from './cache-flights.js';

const landing: Landing = {
  answer: {
    dialect: 'openai-chat',
    answer_id: null,
    model: 'm',
    text: 'four',
    tool_calls: [],
    finish: 'stop',
    usage: null,
  },
  cost_micro_usd: 12,
  duration_ms: 900,
};

describe('CacheFlights', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('lets one caller go and gives its answer to all that wait', async () => {
    const flights = new CacheFlights();
    expect(flights.join('k')).toBeNull();
    const land = flights.begin('k');
    const waiting = [flights.join('k'), flights.join('k')];
    expect(flights.join('another')).toBeNull();
    land?.(landing);
    expect(await Promise.all(waiting)).toEqual([landing, landing]);
    expect(flights.count).toBe(0);
    expect(flights.join('k')).toBeNull();
  });

  test('tells those that wait when it brought nothing, and lets each of them go', async () => {
    const flights = new CacheFlights();
    const land = flights.begin('k');
    const waiting = flights.join('k');
    land?.(null);
    expect(await waiting).toBeNull();
    expect(flights.begin('k')).toBeDefined();
    expect(flights.begin('k')).toBeUndefined();
  });

  test('does not wait for ever, and leaves no timer behind', async () => {
    const flights = new CacheFlights(1_000);
    const land = flights.begin('k');
    const early = flights.join('k');
    vi.advanceTimersByTime(1_000);
    expect(await early).toBeNull();
    const late = flights.join('k');
    land?.(landing);
    expect(await late).toEqual(landing);
    expect(vi.getTimerCount()).toBe(0);
  });
});
