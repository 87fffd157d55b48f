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
};

const staying = new Promise<void>(() => {});

/** Nobody else waits for so long: what another file has left running sets timers here, too. */
const WAIT_MS = 1_009;
/** Of those who wait: the timers that were set, and those of them that were cleared. */
function watchTimers() {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  return () => {
    const own = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === WAIT_MS);
    const timers = own.map(({ value }) => value);
    return [
      timers.length,
      timers.filter((timer) => cleared.mock.calls.some(([one]) => one === timer)).length,
    ];
  };
}

describe('CacheFlights', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    // First: what was watched here is no timer of anybody else.
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test('lets one caller go and gives its answer to all that wait', async () => {
    const flights = new CacheFlights();
    expect(flights.join('k', staying)).toBeNull();
    const land = flights.begin('k');
    const waiting = [flights.join('k', staying), flights.join('k', staying)];
    expect(flights.join('another', staying)).toBeNull();
    land?.(landing);
    expect(await Promise.all(waiting)).toEqual([landing, landing]);
    expect(flights.count).toBe(0);
    expect(flights.join('k', staying)).toBeNull();
  });

  test('tells those that wait when it brought nothing, and lets each of them go', async () => {
    const flights = new CacheFlights();
    const land = flights.begin('k');
    const waiting = flights.join('k', staying);
    land?.(null);
    expect(await waiting).toBeNull();
    expect(flights.begin('k')).toBeDefined();
    expect(flights.begin('k')).toBeUndefined();
  });

  test('leaves the next flight alone when the one before it is ended twice', async () => {
    const flights = new CacheFlights();
    const first = flights.begin('k');
    first?.(landing);
    const second = flights.begin('k');
    first?.(null);
    const waiting = flights.join('k', staying);
    second?.(landing);
    expect(await waiting).toEqual(landing);
  });

  test('does not wait for ever, and leaves no timer behind', async () => {
    const timers = watchTimers();
    const flights = new CacheFlights(WAIT_MS);
    const land = flights.begin('k');
    const early = flights.join('k', staying);
    await vi.advanceTimersByTimeAsync(200);
    const late = flights.join('k', staying);
    await vi.advanceTimersByTimeAsync(WAIT_MS - 200);
    expect(await early).toBeNull();
    land?.(landing);
    expect(await late).toEqual(landing);
    expect(timers()).toEqual([2, 2]);
  });

  test.each([
    ['gave up waiting', staying],
    ['left', Promise.resolve()],
  ])('takes nobody else once one %s, and the next caller goes for those after it', async (_, gone) => {
    const flights = new CacheFlights(1_000);
    const stuck = flights.begin('k');
    const gaveUp = flights.join('k', gone);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await gaveUp).toBeNull();
    expect(flights.join('k', staying)).toBeNull();
    const land = flights.begin('k');
    const waits = flights.join('k', staying);
    // Whenever the first one comes after all, it is no longer theirs.
    stuck?.(null);
    expect(flights.count).toBe(1);
    land?.(landing);
    expect(await waits).toEqual(landing);
    expect(flights.count).toBe(0);
  });

  test('lets go of a caller that leaves, and of nobody else', async () => {
    const timers = watchTimers();
    const flights = new CacheFlights(WAIT_MS);
    const land = flights.begin('k');
    const left = flights.join('k', Promise.resolve());
    const stays = flights.join('k', staying);
    expect(await left).toBeNull();
    land?.(landing);
    expect(await stays).toEqual(landing);
    expect(timers()).toEqual([2, 2]);
  });
});
