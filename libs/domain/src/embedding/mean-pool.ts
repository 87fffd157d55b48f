/** From one vector a token to one vector a text, as sentence transformers do: mean, then unit length. */

/** A norm below this is no direction. */
const NORM_MIN = 1e-12;

/**
 * Mean of the rows, scaled to unit length. Four columns at a time: row after row takes three times as long, since it
 * writes every sum back for every row.
 *
 * @param hidden row after row of `dimension` numbers, one for every token: a text alone has no padding to leave out
 * @returns `dimension` numbers; all zero if there is no row, or if the rows cancel out
 */
export function meanPool(hidden: Float32Array, dimension: number): Float32Array {
  const sums = new Float64Array(dimension);
  const inFours = dimension - (dimension % 4);
  for (let column = 0; column < inFours; column += 4) {
    let [first, second, third, fourth] = [0, 0, 0, 0];
    for (let at = column; at < hidden.length; at += dimension) {
      first += hidden[at] as number;
      second += hidden[at + 1] as number;
      third += hidden[at + 2] as number;
      fourth += hidden[at + 3] as number;
    }
    sums[column] = first;
    sums[column + 1] = second;
    sums[column + 2] = third;
    sums[column + 3] = fourth;
  }
  for (let column = inFours; column < dimension; column += 1)
    for (let at = column; at < hidden.length; at += dimension)
      sums[column] = (sums[column] as number) + (hidden[at] as number);
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
