/** Marks of an axis of money, all with as many digits behind the point: "$0", "$0.05", "$0.10". Pure. */
const DIGITS_MAX = 8;
const ROUNDING = 1e-6;

/** @param marks ascending, at equal distances */
export function axisUsd(marks: readonly number[]): string[] {
  const digits = digitsOf((marks[1] ?? 0) - (marks[0] ?? 0));
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return marks.map((usd) => (usd === 0 ? '$0' : `$${usd.toLocaleString('en-US', format)}`));
}

/** None for whole dollars; else cents, or as many as it takes. */
function digitsOf(step: number): number {
  let digits = 0;
  while (digits < DIGITS_MAX && !isWhole(step * 10 ** digits)) digits += 1;
  return digits === 1 ? 2 : digits;
}

const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < ROUNDING;
