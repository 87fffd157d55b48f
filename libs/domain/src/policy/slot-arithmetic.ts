/**
 * A sliding window in slots of a 60th of it, in whole numbers, for every store alike.
 *
 *     leaves next                       now
 *        v                               v
 *     |-----|-----|-----| ... |-----|-----|
 *           ^ now - windowMs
 *
 * What was taken counts, whole, until the end of its slot is a window old: for at least a window, and for at most a window and a slot.
 * So no window, wherever it begins, has more than the limit, and who asks every (window + slot) / limit is never refused. Slots begin
 * at multiples of their length since the epoch, so all processes agree on them; those in which nothing was taken are not kept.
 */
import type { LimitDecision, LimitWindow, WindowState } from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel';

export const SLIDING_WINDOW_MS_MAX = DAY_MS;
/** A calendar bucket is kept this long after its end, for corrections of calls that ran across it. */
export const CALENDAR_GRACE_MS = HOUR_MS;
/** Of a minute they are seconds, of an hour minutes. */
export const SLOTS_PER_WINDOW = 60;

/** What a counter holds as of some instant. */
export interface Counted {
  /** All that counts then. */
  used: number;
  /** Of a sliding window: when a slot began, what was taken in it, and so on, oldest first. Of a calendar one unused. */
  slots: readonly number[];
}

type Shape = Pick<LimitWindow, 'kind' | 'windowMs' | 'startMs'>;

/** A multiple of `lengthMs` since the epoch. Not by `%`, which is a slow call for numbers of this size. */
export const bucketStart = (atMs: number, lengthMs: number): number => Math.floor(atMs / lengthMs) * lengthMs;

export const slotMsOf = (windowMs: number): number => Math.ceil(windowMs / SLOTS_PER_WINDOW);

/** From the beginning of the oldest slot that counts to that of now's: the window, in whole slots. */
export function reachMsOf(windowMs: number): number {
  const slotMs = slotMsOf(windowMs);
  return Math.ceil(windowMs / slotMs) * slotMs;
}

/** How long what was taken can count, and so the longest wait. */
export const slidingLifeMs = (windowMs: number): number => reachMsOf(windowMs) + slotMsOf(windowMs);

/** @throws RangeError for what the arithmetic cannot carry; a bug of the caller, never of a client */
export function checkWindow({ kind, windowMs, startMs }: Shape): void {
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

/**
 * How long until `amount` fits under `limit` if nothing else happens; 0 when it does now, null when it never will.
 * To the millisecond: one earlier it would not fit.
 */
export function waitMs(
  { used, slots }: Counted,
  window: Shape & Pick<LimitWindow, 'limit'>,
  amount: number,
  nowMs: number,
): number | null {
  const { limit, windowMs } = window;
  let tooMuch = used + amount - limit;
  if (tooMuch <= 0) return 0;
  if (amount > limit) return null;
  if (window.kind === 'calendar') return untilEndMs(window, nowMs);
  let at = 0;
  while (at < slots.length && tooMuch > (slots[at + 1] as number)) {
    tooMuch -= slots[at + 1] as number;
    at += 2;
  }
  return (slots[at] as number) + slidingLifeMs(windowMs) - nowMs;
}

/** Until nothing of it counts any more. */
export function emptyInMs({ used, slots }: Counted, window: Shape, nowMs: number): number {
  if (used === 0) return 0;
  if (window.kind === 'calendar') return untilEndMs(window, nowMs);
  return (slots.at(-2) as number) + slidingLifeMs(window.windowMs) - nowMs;
}

/** @param refusedAmount what this window has just refused; 0 when it refused nothing */
function stateOf(
  window: Omit<LimitWindow, 'amount'>,
  counted: Counted,
  refusedAmount: number,
  nowMs: number,
): WindowState {
  const { key, limit } = window;
  const { used } = counted;
  const untilOneMs = waitMs(counted, window, 1, nowMs);
  const isRefusedForMore = refusedAmount > 1 && untilOneMs === 0;
  const resetMs = untilOneMs === null || isRefusedForMore ? emptyInMs(counted, window, nowMs) : untilOneMs;
  return { key, limit, used, resetMs };
}

/**
 * Puts a decision into words.
 * @param countedOf as it is after it, in the order of the windows
 * @param begun in which windows this gateway had taken nothing before; it becomes the decision's
 * @param isRefused which windows refused; null when all allowed
 * @param calendarMs what time it is in calendar windows, where their starts are of another clock than `atMs`
 */
export function describeDecision(
  windows: readonly LimitWindow[],
  countedOf: readonly Counted[],
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
    const counted = countedOf[index] as Counted;
    const refuses = isRefused?.[index] === true;
    const nowMs = window.kind === 'calendar' ? calendarMs : atMs;
    states.push(stateOf(window, counted, refuses ? window.amount : 0, nowMs));
    if (!refuses) continue;
    const wait = waitMs(counted, window, window.amount, nowMs);
    if (refusedBy === null || (retryAfterMs !== null && (wait === null || wait > retryAfterMs))) {
      refusedBy = index;
      // Two windows of one key can refuse together what each alone would allow.
      retryAfterMs = wait === 0 ? 1 : wait;
    }
  }
  return { allowed: refusedBy === null, atMs, windows: states, begun, refusedBy, retryAfterMs };
}

/** A clock that stepped back to before the bucket counts as standing at its start. */
function untilEndMs({ windowMs, startMs }: Shape, nowMs: number): number {
  const beganMs = startMs as number;
  return Math.max(1, beganMs + windowMs - Math.max(nowMs, beganMs));
}
