/**
 * What a clock on the wall shows in an IANA time zone. Asking the runtime costs some microseconds, so each zone
 * remembers the latest minute it was asked for; within that minute an answer is a map look-up.
 */
import { MINUTE_MS } from '#kernel';

export const DAY_MINUTES = 1_440;

/** More than there are zones; beyond it all are forgotten and built again. */
const ZONE_COUNT_MAX = 1_000;

interface Zone {
  format: Intl.DateTimeFormat;
  /** Minutes since the epoch, UTC, and what the wall showed then. */
  utcMinute: number;
  localMinute: number;
}

const zones = new Map<string, Zone>();

/**
 * Minutes from 1970-01-01 00:00 on the wall to `nowMs` on the wall: a wall minute that comes twice, when clocks go
 * back, has one number. @throws RangeError for an unknown zone
 */
export function localMinute(timeZone: string, nowMs: number): number {
  let zone = zones.get(timeZone);
  if (zone === undefined) {
    if (zones.size >= ZONE_COUNT_MAX) zones.clear();
    zone = { format: formatFor(timeZone), utcMinute: Number.NaN, localMinute: 0 };
    zones.set(timeZone, zone);
  }
  const utcMinute = Math.floor(nowMs / MINUTE_MS);
  if (zone.utcMinute !== utcMinute) {
    zone.localMinute = readWall(zone.format, utcMinute * MINUTE_MS);
    zone.utcMinute = utcMinute;
  }
  return zone.localMinute;
}

/** 1 = Monday ... 7 = Sunday. */
export const isoWeekday = (minute: number): number => ((Math.floor(minute / DAY_MINUTES) + 3) % 7) + 1;

const formatFor = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });

function readWall(format: Intl.DateTimeFormat, atMs: number): number {
  let year = 0;
  let month = 0;
  let day = 0;
  let hour = 0;
  let minute = 0;
  for (const { type, value } of format.formatToParts(atMs)) {
    if (type === 'year') year = Number(value);
    else if (type === 'month') month = Number(value);
    else if (type === 'day') day = Number(value);
    else if (type === 'hour') hour = Number(value);
    else if (type === 'minute') minute = Number(value);
  }
  return Date.UTC(year, month - 1, day, hour, minute) / MINUTE_MS;
}
