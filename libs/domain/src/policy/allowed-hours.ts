/**
 * When an agent may run: days and times as a clock on the wall shows them. What daylight saving does follows from
 * that: a window over a skipped hour is shorter, one over a repeated hour is longer, and a window that lies wholly in
 * a skipped hour does not take place that day. Across midnight it belongs to the day it began.
 */
import type { AllowedHours } from '#contracts';
import { MINUTE_MS } from '#kernel';
import { DAY_MINUTES, isoWeekday, localMinute } from './local-time.js';

/** Two weeks and a day: a weekly window lost to daylight saving is found in the week after. */
const SEARCH_MS = 15 * DAY_MINUTES * MINUTE_MS;

/** Hot path: well below a microsecond within a minute. */
export function isWithinAllowedHours(hours: AllowedHours, nowMs: number): boolean {
  const local = localMinute(hours.time_zone, nowMs);
  const minute = local % DAY_MINUTES;
  const from = minuteOfDay(hours.from);
  const to = minuteOfDay(hours.to);
  const today = isoWeekday(local);
  if (from < to) return minute >= from && minute < to && hours.days.includes(today);
  if (minute >= from && hours.days.includes(today)) return true;
  return minute < to && hours.days.includes(today === 1 ? 7 : today - 1);
}

/** The first moment from `nowMs` on at which the agent may run, to the minute; null: none in the next 15 days. */
export function nextAllowedMs(hours: AllowedHours, nowMs: number): number | null {
  const endMs = nowMs + SEARCH_MS;
  let atMs = nowMs;
  while (atMs <= endMs) {
    if (isWithinAllowedHours(hours, atMs)) return atMs;
    const zone = hours.time_zone;
    const wholeMs = atMs - (atMs % MINUTE_MS);
    const candidateMs = wholeMs + minutesToNextStart(hours, localMinute(zone, wholeMs)) * MINUTE_MS;
    // Up to a change of the clock, nothing can open before the candidate; from there on, look again.
    atMs = firstChangeMs(zone, wholeMs, candidateMs) ?? candidateMs;
  }
  return null;
}

/** From a wall minute to the next one at which a window begins, as if the clock never changed; at least 1. */
function minutesToNextStart(hours: AllowedHours, local: number): number {
  const from = minuteOfDay(hours.from);
  const midnight = local - (local % DAY_MINUTES);
  for (let day = 0; ; day += 1) {
    const start = midnight + day * DAY_MINUTES + from;
    // A policy names at least one day, so a week finds it.
    if (start > local && (hours.days.includes(isoWeekday(start)) || day > 7)) return start - local;
  }
}

/** First minute in `(fromMs, toMs]` whose distance between wall and UTC is not that of `fromMs`; null: it stays. */
function firstChangeMs(zone: string, fromMs: number, toMs: number): number | null {
  const distance = (atMs: number): number => localMinute(zone, atMs) - atMs / MINUTE_MS;
  const before = distance(fromMs);
  if (distance(toMs) === before) return null;
  let low = fromMs;
  let high = toMs;
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / MINUTE_MS / 2) * MINUTE_MS;
    if (distance(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** `09:30` -> 570, without making texts. */
const minuteOfDay = (time: string): number => twoDigits(time, 0) * 60 + twoDigits(time, 3);

const twoDigits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
const ZERO = 48;
