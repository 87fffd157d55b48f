/** From one vector a token to one vector a text, as sentence transformers do: mean over the mask, then unit length. */

/** A norm below this is no direction. */
const NORM_MIN = 1e-12;

/**
 * Mean of the rows whose mask is not 0, scaled to unit length.
 *
 * @param hidden row after row, `mask.length` rows of `dimension` numbers
 * @param mask one number a row, 0 or 1, of a number or BigInt array
 * @returns `dimension` numbers; all zero if no row counts, or if the rows cancel out
 */
export function meanPool(
  hidden: Float32Array,
  mask: ArrayLike<number | bigint>,
  dimension: number,
): Float32Array {
  const sums = new Float64Array(dimension);
  for (let row = 0; row < mask.length; row += 1) {
    if (Number(mask[row]) === 0) continue;
    const from = row * dimension;
    for (let at = 0; at < dimension; at += 1) sums[at] = (sums[at] as number) + (hidden[from + at] as number);
  }
  return toUnitLength(sums);
}

/** A sum points where its mean points, so there is nothing to divide by but the length. NaN stays NaN. */
export function toUnitLength(values: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let at = 0; at < values.length; at += 1) square += (values[at] as number) ** 2;
  const norm = Math.sqrt(square);
  const unit = new Float32Array(values.length);
  if (norm < NORM_MIN) return unit;
  for (let at = 0; at < values.length; at += 1) unit[at] = (values[at] as number) / norm;
  return unit;
}
