/**
 * An `/v1/embeddings` answer, from text to vectors, believed in nothing: order, count, dimension and every number are
 * checked. Pure; a reason never quotes the answer, which may quote the texts.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
import type { Embedding } from '#contracts/embedding';
import { HTTP_EMBEDDER_LIMITS } from './settings.js';

export type ParsedAnswer =
  /** In the order of the request. Null: that text's numbers are no vector, the others' are. */
  { dimension: number; embeddings: (Embedding | null)[] } | { refused: string };

/** What is shorter has lost its direction to rounding: as good as a zero vector. */
const LENGTH_MIN = 1e-30;
export const EMPTY_EMBEDDING: Embedding = { fitness: 'empty', vector: null };

/** @param dimension what it must be; null: learnt from the first vector */
export function parseAnswer(body: string, textCount: number, dimension: number | null): ParsedAnswer {
  const ordered = orderedVectors(body, textCount);
  if ('refused' in ordered) return ordered;
  const expected = dimension ?? ordered.vectors[0]?.length ?? 0;
  if (expected < 1 || expected > HTTP_EMBEDDER_LIMITS.dimensionMax)
    return { refused: `it answered with vectors of ${expected} numbers` };
  const stranger = ordered.vectors.find((vector) => vector.length !== expected);
  if (stranger !== undefined)
    return { refused: `it answered with ${stranger.length} numbers where ${expected} are expected` };
  return { dimension: expected, embeddings: ordered.vectors.map(normalise) };
}

function orderedVectors(body: string, textCount: number): { vectors: unknown[][] } | { refused: string } {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return { refused: 'it answered with something that is not JSON' };
  }
  const rows = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(rows)) return { refused: 'it answered without a list of embeddings' };
  if (rows.length !== textCount)
    return { refused: `it answered with ${rows.length} embeddings where ${textCount} were asked for` };
  // Servers that number nothing are taken to keep the order; one that numbers some is not.
  const isNumbered = rows.some((row) => row?.index !== undefined);
  const vectors: unknown[][] = [];
  for (const [position, row] of rows.entries()) {
    const index = isNumbered ? row?.index : position;
    if (!Number.isInteger(index) || index < 0 || index >= textCount || vectors[index] !== undefined)
      return { refused: 'it answered with embeddings that are not numbered one by one' };
    if (!Array.isArray(row?.embedding))
      return { refused: 'it answered with an embedding that is no list of numbers' };
    vectors[index] = row.embedding;
  }
  return { vectors };
}

/** Unit length. @returns null where a member is no finite number, or the whole is too large to have a length */
function normalise(numbers: readonly unknown[]): Embedding | null {
  let squares = 0;
  for (const value of numbers) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return null;
    squares += value * value;
  }
  if (squares === Number.POSITIVE_INFINITY) return null;
  const length = Math.sqrt(squares);
  if (length < LENGTH_MIN) return EMPTY_EMBEDDING;
  return { fitness: 'fit', vector: Float32Array.from(numbers as number[], (value) => value / length) };
}
