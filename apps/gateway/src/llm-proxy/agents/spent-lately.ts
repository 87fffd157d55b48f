/**
 * What was spent in the last 60 minutes, this UTC day and this UTC month, by one agent or by all of a tenant together: to the
 * minute, and only of the older hour's sum that a start brought back its share. The limiter, which refuses, estimates its hour: of
 * two clock hours, the older by its share.
 */
import type { SpentHour } from '#domain/policy';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';

/** In which something was spent: of a whole month, and the last of the month before. */
const HOURS_KEPT_MAX = 31 * 24 + 1;

interface Spend {
  costMicroUsd: number;
  /** Calls whose cost is unknown. */
  unpricedCount: number;
}

/** Of one UTC day, and the month that it is in. */
interface Totals {
  dayStart: number;
  day: Spend;
  month: Spend;
}

interface HourSpend extends Spend {
  /** Of it, what was brought back from the store, which knows the hour alone. */
  restored: Spend;
}

export type BySpan = Record<'hour' | 'day' | 'month', number>;

export class SpentLately {
  /** By the start of the hour, the latest. By number: a clock that is ahead for a while would have the month's thrown away. */
  readonly #hours = new Map<number, HourSpend>();
  /** By the start of the minute, the last 60 and the one under way: what this process saw. */
  readonly #minutes = new Map<number, Spend>();
  /** Of the hours, so that a month of them is not summed up with each call; null: to be summed up. */
  #totals: Totals | null = null;

  /** @param costMicroUsd null: unknown. Below 0: so much of what was counted is taken back */
  add(nowMs: number, spentAtMs: number, costMicroUsd: number | null): void {
    const atMs = Math.min(spentAtMs, nowMs);
    const spend: Spend = { costMicroUsd: costMicroUsd ?? 0, unpricedCount: costMicroUsd === null ? 1 : 0 };
    add(this.#hour(hourStartMs(atMs)), spend);
    if (this.#totals !== null) addToTotals(this.#totals, atMs, spend);
    if (this.#hours.size > HOURS_KEPT_MAX) {
      this.#hours.delete(Math.min(...this.#hours.keys()));
      this.#totals = null;
    }
    const fromMs = oldestMinuteMs(nowMs);
    const minuteMs = minuteOf(atMs);
    if (minuteMs < fromMs) return;
    const minutes = this.#minutes;
    if (!minutes.has(minuteMs)) for (const old of minutes.keys()) if (old < fromMs) minutes.delete(old);
    this.#addToMinute(minuteMs, spend);
  }

  /** Brings back what is stored of one hour, as far as it is more than is known. */
  restore(hourMs: number, costMicroUsd: number, unpricedCount: number): void {
    const known = this.#hour(hourMs);
    this.bringBack(
      hourMs,
      Math.max(0, costMicroUsd - known.costMicroUsd),
      Math.max(0, unpricedCount - known.unpricedCount),
    );
  }

  /** Adds what is stored of one hour and not known. */
  bringBack(hourMs: number, costMicroUsd: number, unpricedCount: number): void {
    this.#totals = null;
    const hour = this.#hour(hourMs);
    add(hour, { costMicroUsd, unpricedCount });
    add(hour.restored, { costMicroUsd, unpricedCount });
  }

  /** Micro-USD, as far as it is known. */
  costMicroUsd(nowMs: number): BySpan {
    const { hour, ...longer } = this.#sum(nowMs, ({ costMicroUsd }) => costMicroUsd);
    return { hour: Math.round(hour), ...longer };
  }

  /** Micro-USD, were all that a start brought back of the clock hour before spent at its end. */
  inHourAtMost(nowMs: number): number {
    const thisHour = hourStartMs(nowMs);
    const older = this.#hours.get(thisHour - HOUR_MS);
    const passed = (older?.restored.costMicroUsd ?? 0) * ((nowMs - thisHour) / HOUR_MS);
    return this.costMicroUsd(nowMs).hour + Math.round(passed);
  }

  /** Calls of unknown cost. */
  unpricedCount(nowMs: number): BySpan {
    const { hour, ...longer } = this.#sum(nowMs, ({ unpricedCount }) => unpricedCount);
    return { hour: Math.ceil(hour), ...longer };
  }

  /** By the UTC hour. */
  *hours(): Generator<SpentHour> {
    for (const [hourMs, { costMicroUsd }] of this.#hours)
      if (costMicroUsd > 0) yield { hourMs, costMicroUsd };
  }

  /** What was stamped before the clock was set back counts as of now; else it would until that time came. */
  setBackTo(nowMs: number): void {
    this.#totals = null;
    for (const [hourMs, spend] of [...this.#hours]) {
      if (hourMs <= nowMs) continue;
      this.#hours.delete(hourMs);
      const hour = this.#hour(hourStartMs(nowMs));
      add(hour, spend);
      add(hour.restored, spend.restored);
    }
    for (const [minuteMs, spend] of [...this.#minutes]) {
      if (minuteMs <= nowMs) continue;
      this.#minutes.delete(minuteMs);
      this.#addToMinute(minuteOf(nowMs), spend);
    }
  }

  #sum(nowMs: number, of: (spend: Spend) => number): BySpan {
    const thisHour = hourStartMs(nowMs);
    const share = 1 - (nowMs - thisHour) / HOUR_MS;
    const restoredIn = (hourMs: number): number => {
      const spend = this.#hours.get(hourMs);
      return spend === undefined ? 0 : of(spend.restored);
    };
    let hour = restoredIn(thisHour) + restoredIn(thisHour - HOUR_MS) * share;
    const fromMs = oldestMinuteMs(nowMs);
    for (const [minuteMs, spend] of this.#minutes) if (minuteMs >= fromMs) hour += of(spend);
    const { day, month } = this.#totalsOf(nowMs);
    return { hour, day: of(day), month: of(month) };
  }

  #totalsOf(nowMs: number): Totals {
    const dayStart = dayStartMs(nowMs);
    if (this.#totals?.dayStart === dayStart) return this.#totals;
    const totals: Totals = { dayStart, day: nothing(), month: nothing() };
    for (const [hourMs, spend] of this.#hours) addToTotals(totals, hourMs, spend);
    this.#totals = totals;
    return totals;
  }

  #hour(hourMs: number): HourSpend {
    const known = this.#hours.get(hourMs);
    if (known !== undefined) return known;
    const fresh: HourSpend = { ...nothing(), restored: nothing() };
    this.#hours.set(hourMs, fresh);
    return fresh;
  }

  #addToMinute(minuteMs: number, spend: Spend): void {
    const known = this.#minutes.get(minuteMs);
    if (known === undefined) this.#minutes.set(minuteMs, spend);
    else add(known, spend);
  }
}

const nothing = (): Spend => ({ costMicroUsd: 0, unpricedCount: 0 });

function add(to: Spend, { costMicroUsd, unpricedCount }: Spend): void {
  to.costMicroUsd += costMicroUsd;
  to.unpricedCount += unpricedCount;
}

function addToTotals({ dayStart, day, month }: Totals, atMs: number, spend: Spend): void {
  if (dayStartMs(atMs) === dayStart) add(day, spend);
  if (monthStartMs(atMs) === monthStartMs(dayStart)) add(month, spend);
}

const hourStartMs = (atMs: number): number => atMs - (atMs % HOUR_MS);

const dayStartMs = (atMs: number): number => atMs - (atMs % DAY_MS);

export const monthStartMs = (nowMs: number): number => {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
};

const minuteOf = (atMs: number): number => atMs - (atMs % MINUTE_MS);

/** The last one of which a part lies within 60 minutes. */
const oldestMinuteMs = (nowMs: number): number => minuteOf(nowMs) - HOUR_MS;
