/**
 * The two-bucket approximation of a sliding window, in whole numbers, for every store alike.
 *
 *        previous bucket          current bucket
 *   |----------------------|----------------------|
 *                 ^ now - windowMs       ^ now
 *
 *   used = current + previous * (share of the previous bucket that the window still overlaps), rounded up
 *
 * Buckets begin at multiples of the window's length since the epoch, so all processes agree on them. A calendar
 * window is the same without a previous bucket. All results are exact as long as counts stay below 2^53 and a
 * sliding window is at most 24 hours: no intermediate product leaves the safe integers.
 */
import type { LimitDecision, LimitWindow, WindowState } from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';

/** (24 h in ms)^2 is below 2^53. */
export const SLIDING_WINDOW_MS_MAX = DAY_MS;
/** A calendar bucket is kept this long after its end, for corrections of calls that ran across it. */
export const CALENDAR_GRACE_MS = HOUR_MS;

/** A counter as of some instant. Calendar windows leave `previous` at 0. */
export interface Buckets {
  /** Of the current bucket, epoch ms. */
  startMs: number;
  current: number;
  previous: number;
}

type Shape = Pick<LimitWindow, 'kind' | 'windowMs'>;

/** Start of the bucket that holds `atMs`. Not by `%`, which is a slow call for numbers of this size. */
export const bucketStart = (atMs: number, windowMs: number): number => Math.floor(atMs / windowMs) * windowMs;

/** @throws RangeError for what the arithmetic cannot carry; a bug of the caller, never of a client */
export function checkWindow({ kind, windowMs, startMs }: Shape & Pick<LimitWindow, 'startMs'>): void {
  if (kind === 'calendar' ? !Number.isSafeInteger(startMs) : windowMs > SLIDING_WINDOW_MS_MAX)
    throw new RangeError(`A ${kind} window of ${windowMs} ms from ${startMs} cannot be counted`);
  if (!Number.isSafeInteger(windowMs) || windowMs < 1)
    throw new RangeError(`windowMs must be a whole number of at least 1, got ${windowMs}`);
}

/** @throws RangeError */
export function checkAmount(amount: number, min: number): void {
  if (!Number.isSafeInteger(amount) || amount < min)
    throw new RangeError(`An amount must be a whole number of at least ${min}, got ${amount}`);
}

/** A clock that stepped back to before the bucket counts as standing at its start. */
export function usedAt(buckets: Buckets, window: Shape, nowMs: number): number {
  if (window.kind === 'calendar' || buckets.previous === 0) return buckets.current;
  return buckets.current + share(buckets.previous, remainingMs(buckets, window, nowMs), window.windowMs);
}

/**
 * How long until `amount` fits under `limit` if nothing else happens; 0 when it does now, null when it never will.
 * To the millisecond: one earlier it would not fit.
 */
export function waitMs(
  buckets: Buckets,
  window: Shape & Pick<LimitWindow, 'limit'>,
  amount: number,
  nowMs: number,
): number | null {
  const { limit, windowMs } = window;
  if (usedAt(buckets, window, nowMs) + amount <= limit) return 0;
  if (amount > limit) return null;
  const untilRollMs = remainingMs(buckets, window, nowMs);
  if (window.kind === 'calendar') return Math.max(1, untilRollMs);
  const room = limit - amount - buckets.current;
  if (room >= 0) return untilRollMs - overlapThatFits(buckets.previous, room, windowMs);
  // Not even without the previous bucket: the current one must itself grow old first.
  return untilRollMs + windowMs - overlapThatFits(buckets.current, limit - amount, windowMs);
}

/** Until nothing of it counts any more. */
export function emptyInMs(buckets: Buckets, window: Shape, nowMs: number): number {
  const untilRollMs = remainingMs(buckets, window, nowMs);
  if (window.kind === 'calendar') return buckets.current > 0 ? Math.max(1, untilRollMs) : 0;
  if (buckets.current > 0) return untilRollMs + window.windowMs;
  return buckets.previous > 0 ? untilRollMs : 0;
}

/** @param refusedAmount what this window has just refused; 0 when it refused nothing */
export function stateOf(
  window: Omit<LimitWindow, 'amount'>,
  buckets: Buckets,
  refusedAmount: number,
  nowMs: number,
): WindowState {
  const { key, limit } = window;
  const used = usedAt(buckets, window, nowMs);
  const untilOneMs = used < limit ? 0 : waitMs(buckets, window, 1, nowMs);
  const isRefusedForMore = refusedAmount > 1 && untilOneMs === 0;
  const resetMs = untilOneMs === null || isRefusedForMore ? emptyInMs(buckets, window, nowMs) : untilOneMs;
  return { key, limit, used, resetMs };
}

/**
 * Puts a decision into words.
 * @param bucketsOf as they are after it, in the order of the windows
 * @param begun in which windows this gateway had taken nothing before; it becomes the decision's
 * @param isRefused which windows refused; null when all allowed
 * @param calendarMs what time it is in calendar windows, where their starts are of another clock than `atMs`
 */
export function describeDecision(
  windows: readonly LimitWindow[],
  bucketsOf: readonly Buckets[],
  begun: boolean[],
  isRefused: readonly boolean[] | null,
  atMs: number,
  calendarMs = atMs,
): LimitDecision {
  const states: WindowState[] = [];
  let refusedBy: number | null = null;
  let retryAfterMs: number | null = 0;
  for (let index = 0; index < windows.length; index += 1) {
    const window = windows[index] as LimitWindow;
    const buckets = bucketsOf[index] as Buckets;
    const refuses = isRefused?.[index] === true;
    const nowMs = window.kind === 'calendar' ? calendarMs : atMs;
    states.push(stateOf(window, buckets, refuses ? window.amount : 0, nowMs));
    if (!refuses) continue;
    const wait = waitMs(buckets, window, window.amount, nowMs);
    if (refusedBy === null || (retryAfterMs !== null && (wait === null || wait > retryAfterMs))) {
      refusedBy = index;
      // Two windows of one key can refuse together what each alone would allow.
      retryAfterMs = wait === 0 ? 1 : wait;
    }
  }
  return { allowed: refusedBy === null, atMs, windows: states, begun, refusedBy, retryAfterMs };
}

/** Until the current bucket ends: 1..windowMs while `nowMs` is within it. */
const remainingMs = ({ startMs }: Buckets, { windowMs }: Shape, nowMs: number): number =>
  startMs + windowMs - Math.max(nowMs, startMs);

/** `count * overlapMs / windowMs`, rounded up, without ever forming that product. */
function share(count: number, overlapMs: number, windowMs: number): number {
  if (overlapMs <= 0) return 0;
  const whole = Math.floor(count / windowMs);
  return whole * overlapMs + Math.ceil(((count - whole * windowMs) * overlapMs) / windowMs);
}

/** The longest overlap, in ms, at which a bucket of `count` is counted as at most `room`. */
function overlapThatFits(count: number, room: number, windowMs: number): number {
  let overlapMs = Math.min(windowMs, Math.floor((room / count) * windowMs));
  while (overlapMs < windowMs && share(count, overlapMs + 1, windowMs) <= room) overlapMs += 1;
  while (overlapMs > 0 && share(count, overlapMs, windowMs) > room) overlapMs -= 1;
  return overlapMs;
}
