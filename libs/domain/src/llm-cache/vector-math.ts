/** What every search over vectors agrees on: which vectors count, and when one is near enough. */
import type { CacheVector, Cosine } from '#contracts';

/** Longer ones are not kept: their entries match exactly only. */
export const VECTOR_DIMENSION_MAX = 8_192;
/** How far from 1 the length of what an embedder calls a unit vector may be. */
const LENGTH_TOLERANCE = 1e-3;
/**
 * A cosine this little below a threshold counts as at it: that is what storing unit vectors as Float32 may change.
 * Thresholds have two or three decimals.
 */
const COSINE_TOLERANCE = 1e-6;

/** In double precision; the vectors are of one length. */
export function dot(one: Float32Array, other: Float32Array, otherFrom = 0): number {
  const { length } = one;
  const whole = length & ~3;
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = 0;
  for (; at < whole; at += 4) {
    const to = otherFrom + at;
    a += (one[at] as number) * (other[to] as number);
    b += (one[at + 1] as number) * (other[to + 1] as number);
    c += (one[at + 2] as number) * (other[to + 2] as number);
    d += (one[at + 3] as number) * (other[to + 3] as number);
  }
  for (; at < length; at += 1) a += (one[at] as number) * (other[otherFrom + at] as number);
  return a + b + (c + d);
}

/** Of two unit vectors: never outside -1..1, whatever rounding does. */
export const cosineOf = (one: Float32Array, other: Float32Array): Cosine => toCosine(dot(one, other));
export const toCosine = (product: number): Cosine => Math.min(1, Math.max(-1, product)) as Cosine;

export const lowestHit = (hitWhenCosineAtLeast: Cosine): number => hitWhenCosineAtLeast - COSINE_TOLERANCE;

/** False for what no search may compare: empty, too long, not finite, not of unit length, without a model's name. */
export function isUsableVector({ model_id, values }: CacheVector): boolean {
  if (model_id === '' || values.length === 0 || values.length > VECTOR_DIMENSION_MAX) return false;
  // NaN fails the comparison too.
  return Math.abs(Math.sqrt(dot(values, values)) - 1) <= LENGTH_TOLERANCE;
}
