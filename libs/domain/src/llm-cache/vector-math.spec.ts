import { expect, it } from 'vitest';
import { isUsableVector, VECTOR_DIMENSION_MAX } from './vector-math.js';

const isUsable = (values: Float32Array, model_id = 'm') => isUsableVector({ model_id, values });
const unit = (dimension: number, length = 1) => {
  const values = new Float32Array(dimension);
  values[dimension - 1] = length;
  return values;
};

it('takes vectors of unit length, to a thousandth, of at most so many numbers and of a model with a name', () => {
  for (const values of [unit(1), unit(VECTOR_DIMENSION_MAX), unit(5, 0.9995), unit(5, -1.0005)])
    expect(isUsable(values)).toBe(true);
  for (const values of [unit(VECTOR_DIMENSION_MAX + 1), unit(5, 0.998), unit(5, 1.002), unit(5, Number.NaN)])
    expect(isUsable(values)).toBe(false);
  expect(isUsable(new Float32Array(0))).toBe(false);
  expect(isUsable(unit(1), '')).toBe(false);
});
