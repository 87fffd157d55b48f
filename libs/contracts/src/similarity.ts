/**
 * The two scales of likeness. A threshold belongs to one of them, and to one embedder; the types keep them apart.
 *
 *     cosine       -1 .......... 0 .......... 0.90 .. 1      LLM cache: hit at 0.92 and above
 *     similarity    0 ......... 0.5 ......... 0.95 .. 1      semantic loop: above 0.95
 */
import type { Brand } from '#kernel';

/** Plain cosine of two unit vectors, -1..1. */
export type Cosine = Brand<number, 'Cosine'>;

/** `1 - cosine_distance / 2`, 0..1, as the semantic loop's design defines it. */
export type LoopSimilarity = Brand<number, 'LoopSimilarity'>;

/** @param distance cosine distance 0..2, as vector stores report it */
const similarityOfDistance = (distance: number): LoopSimilarity => (1 - distance / 2) as LoopSimilarity;

export const similarityOfCosine = (cosine: Cosine): LoopSimilarity => similarityOfDistance(1 - cosine);

export const cosineOfSimilarity = (similarity: LoopSimilarity): Cosine => (2 * similarity - 1) as Cosine;

export const cosineOfDistance = (distance: number): Cosine => (1 - distance) as Cosine;
