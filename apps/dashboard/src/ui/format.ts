/** Numbers, times and ids as people read them. Pure; never throws. */

/** "now", "12 s ago", "3 min ago", "2 h ago", "4 d ago". A time ahead of ours (clock skew) reads as now. */
export function formatAgo(atMs: number, nowMs: number): string {
  const text = formatSpan(nowMs - atMs);
  return text === null ? 'now' : `${text} ago`;
}

/** The same without "ago", for dense columns. */
export function formatAge(atMs: number, nowMs: number): string {
  return formatSpan(nowMs - atMs) ?? 'now';
}

/** Null below two seconds. */
function formatSpan(spanMs: number): string | null {
  const seconds = Math.floor(spanMs / 1_000);
  if (seconds < 2) return null;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

const exact = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** "22 Nov 2026, 08:48:32 UTC", in the reader's zone: can be read out to somebody in another. */
export const formatExact = (atMs: number): string => exact.format(atMs);

/** "UTC", "CEST", "GMT+5:45": the reader's zone at that time, as exact times end. For a column of clocks. */
export const formatZone = (atMs: number): string =>
  exact.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const dayAndMinute = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** "08:48:32.125" of today, "22 Nov 08:48" of another day, so that no list shows them alike; in the reader's zone. */
export function formatClock(atMs: number, nowMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString();
  return isToday ? clock.format(atMs) : dayAndMinute.format(atMs).replace(',', '');
}

const until = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** "Sat 28 Nov, 08:00 CET", of a time that may be weeks ahead; in the reader's zone, as it is then. */
export const formatUntil = (atMs: number): string => until.format(atMs).replace(/^(\w+),/, '$1');

/** In two units at most: "840 ms", "3.2 s", "2 min 5 s", "34 h 17 min", "3 d 4 h". */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1_000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long until something, in whole seconds that end at 0: "30 s", "4 min 0 s", "2 h 14 min". */
export function formatWait(waitMs: number): string {
  const seconds = Math.max(0, Math.ceil(waitMs / 1_000));
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** "$0.0042", "$1.30", "$1,204"; "-$0.04" of what is taken back. */
export function formatUsd(usd: number): string {
  if (usd < 0) return `-${formatUsd(-usd)}`;
  if (usd === 0) return '$0';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  if (usd < 999.995) return `$${usd.toFixed(2)}`;
  return `$${Math.round(usd).toLocaleString('en-US')}`;
}

/** A cost that may be unknown, which is not zero: "unknown", "<$0.0001", "$0.0042". */
export function formatCost(usd: number | null): string {
  if (usd === null) return 'unknown';
  return usd > 0 && usd < 0.0001 ? '<$0.0001' : formatUsd(usd);
}

/** A sum that may leave something out: "$0.12", "$0.12 + unknown", "unknown" where nothing of it is known. */
export function formatPartialCost(usd: number, hasUnknown: boolean): string {
  if (!hasUnknown) return formatCost(usd);
  return usd > 0 ? `${formatCost(usd)} + unknown` : formatCost(null);
}

/** A share 0..1 as people read it: "0 %", "<1 %", "4.2 %", "80 %", ">99 %"; 100 % is all of it. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 1) return '<1 %';
  if (percent > 99 && percent < 100) return '>99 %';
  return `${percent < 10 ? Math.round(percent * 10) / 10 : Math.round(percent)} %`;
}

/** Large counts of tokens, short: "840", "12.3k", "4.1M", "2.0B". */
export function formatTokens(count: number): string {
  if (count < 10_000) return formatCount(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return count < 999_950_000 ? `${(count / 1e6).toFixed(1)}M` : `${(count / 1e9).toFixed(1)}B`;
}

/** "840 B", "12.3 kB", "4.1 MB": thousands, as disks and networks count. */
export function formatBytes(byteCount: number): string {
  if (byteCount < 1_000) return `${byteCount} B`;
  if (byteCount < 999_950) return `${(byteCount / 1_000).toFixed(1)} kB`;
  return byteCount < 999_950_000
    ? `${(byteCount / 1e6).toFixed(1)} MB`
    : `${(byteCount / 1e9).toFixed(1)} GB`;
}

/** "12,304". */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** A score of the kill switch, and its threshold, with the decimals they have, four at most: "13", "12.5". */
export const formatScore = (score: number): string => String(Math.round(score * 10_000) / 10_000);

/** An entropy score, cut to two decimals: rounded, 0.4967 would be the "0.50" that it is below. "0.20", "0.33", "1.00". */
export const formatEntropy = (score: number): string =>
  (Math.floor(Math.round(score * 10_000) / 100) / 100).toFixed(2);

/** Keeps both ends, since ids differ at either: "sess-0193…9f3c". Half of an emoji is none. */
export function truncateMiddle(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const letters = [...text];
  if (letters.length <= charsMax) return text;
  const tail = Math.floor((charsMax - 1) / 2.5);
  return `${letters.slice(0, charsMax - 1 - tail).join('')}…${letters.slice(-tail).join('')}`;
}

/** Emoji, and letters of scripts that join, which are not those of Europe and the Far East. */
const JOINS =
  /\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}]|[^\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{scx=Hani}\p{scx=Hang}\p{scx=Hira}\p{scx=Kana}\p{sc=Zyyy}\p{sc=Zinh}]/u;
/** What leaves no mark or turns a text about, unless it shapes what stands before it; and spaces at its ends. */
const UNSEEN = new RegExp(
  String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800](?<!(?:${JOINS.source})[\u200c\u200d\ufe0e\ufe0f])|^\s+|\s+$`,
  'gu',
);

/** An id with its unseen signs written out, or it would look like another: `support‹U+200B›-bot`. */
export const withUnseen = (text: string): string =>
  text.replace(UNSEEN, (signs) =>
    [...signs]
      .map((sign) => `‹U+${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}›`)
      .join(''),
  );

/** "1 session", "2 sessions". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
