/** Guards every store against vectors it could only compare wrongly. */
import { PromptHistoryFailure } from '#contracts/embedding';

/** Models normalise in float32; int8 ones are a little off. */
const LENGTH_TOLERANCE = 0.01;

/** @throws PromptHistoryFailure, `failed`: another dimension, not of unit length, or not finite. One pass. */
export function checkUnitVector(vector: Float32Array, dimension: number): void {
  if (vector.length !== dimension)
    throw new PromptHistoryFailure('failed', `A vector has ${vector.length} numbers instead of ${dimension}`);
  let square = 0;
  for (const value of vector) square += value * value;
  // Also for NaN.
  if (!(Math.abs(square - 1) <= LENGTH_TOLERANCE))
    throw new PromptHistoryFailure('failed', 'A vector is not of unit length');
}
