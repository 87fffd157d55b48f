/** The units of time, and durations as people set them: `50ms`, `2s`, `1.5m`, `1h`, or a plain number in a unit that its setting names. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = { ms: 1, s: 1_000, m: MINUTE_MS, h: HOUR_MS } as const;
export type DurationUnit = keyof typeof UNIT_MS;

/** Milliseconds; null for what is no duration. @param plainUnit of a number without one */
export function parseDurationMs(text: string, plainUnit: DurationUnit = 'ms'): number | null {
  const [, digits, unit] = /^(\d{1,12}(?:\.\d{1,6})?)\s?(ms|s|m|h)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  return Number(digits) * UNIT_MS[(unit?.toLowerCase() as DurationUnit | undefined) ?? plainUnit];
}
