/**
 * Of each share (0..1) of the values the greatest; null where there are none.
 *
 * @param values are sorted in place
 */
export function quantiles<Shares extends readonly number[]>(
  values: number[],
  ...shares: Shares
): { [at in keyof Shares]: number | null } {
  values.sort((a, b) => a - b);
  const quantile = (share: number) =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? null;
  return shares.map(quantile) as { [at in keyof Shares]: number | null };
}
