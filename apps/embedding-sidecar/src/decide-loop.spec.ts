import { describe, expect, it } from 'vitest';
import { type Cosine, cosineOfSimilarity, type LoopSimilarity, type PromptMatch } from '#contracts/embedding';
import { decideLoop } from './decide-loop.js';

const THRESHOLD = 0.95 as LoopSimilarity;
const never = (): null => null;

const match = (request_id: string, similarity: number): PromptMatch => ({
  request_id,
  prompt: `prompt ${request_id}`,
  at_ms: 0,
  cosine: cosineOfSimilarity(similarity as LoopSimilarity),
});

describe('decideLoop', () => {
  it('finds nothing where there is nothing', () => {
    expect(decideLoop({ matches: [], loopWhenSimilarityAbove: THRESHOLD, vetoOf: never })).toEqual({
      loop_detected: false,
      max_similarity: 0,
      similar_prompt: '',
      similar_request_id: '',
      compared_count: 0,
      similar_count: 0,
      vetoed_by: null,
      further: [],
    });
  });

  it('names the nearest prompt below the threshold without calling it a loop', () => {
    const decision = decideLoop({
      matches: [match('a', 0.9), match('b', 0.7)],
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: never,
    });
    expect(decision).toMatchObject({
      loop_detected: false,
      similar_request_id: 'a',
      compared_count: 2,
      similar_count: 0,
    });
    expect(decision.max_similarity).toBeCloseTo(0.9);
  });

  it('stays silent at exactly the threshold and speaks just above it', () => {
    const at = (similarity: number) =>
      decideLoop({
        matches: [{ ...match('a', 1), cosine: (2 * similarity - 1) as Cosine }],
        loopWhenSimilarityAbove: 0.75 as LoopSimilarity,
        vetoOf: never,
      }).loop_detected;
    expect(at(0.75)).toBe(false);
    expect(at(0.75 + Number.EPSILON)).toBe(true);
  });

  it('takes a cosine distance of 0.1 for the similarity 0.95, and 2 for 0', () => {
    const similarityOf = (distance: number) =>
      decideLoop({
        matches: [{ ...match('a', 1), cosine: (1 - distance) as Cosine }],
        loopWhenSimilarityAbove: THRESHOLD,
        vetoOf: never,
      }).max_similarity;
    expect(similarityOf(0)).toBe(1);
    expect(similarityOf(0.1)).toBeCloseTo(0.95, 12);
    expect(similarityOf(2)).toBe(0);
    // Of vectors whose rounding leaves -1..1 by a hair.
    expect([similarityOf(-1e-7), similarityOf(2 + 1e-7)]).toEqual([1, 0]);
  });

  it('passes over a vetoed prompt, says why, and names the one behind it that counts', () => {
    const decision = decideLoop({
      matches: [match('a', 0.99), match('b', 0.97)],
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: (earlier) => (earlier === 'prompt a' ? 'numbers' : null),
    });
    expect(decision).toMatchObject({
      loop_detected: true,
      similar_request_id: 'b',
      similar_count: 1,
      vetoed_by: 'numbers',
    });
    expect(decision.max_similarity).toBeCloseTo(0.99);
  });

  it('names the others that count behind the nearest, and none that is vetoed or not near enough', () => {
    const matches = [match('a', 0.99), match('b', 0.98), match('c', 0.97), match('d', 0.96), match('e', 0.9)];
    const decision = decideLoop({
      matches,
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: (earlier) => (earlier === 'prompt c' ? 'numbers' : null),
    });
    expect(decision).toMatchObject({ similar_request_id: 'a', similar_count: 3, vetoed_by: null });
    expect(decision.further).toEqual([
      { prompt: 'prompt b', request_id: 'b' },
      { prompt: 'prompt d', request_id: 'd' },
    ]);
  });

  it('finds no loop where everything above the threshold is vetoed', () => {
    const decision = decideLoop({
      matches: [match('a', 0.99), match('b', 0.98)],
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: () => 'negation',
    });
    expect(decision).toMatchObject({ loop_detected: false, similar_count: 0, vetoed_by: 'negation' });
  });

  it('does not ask the gate about prompts that are not near enough', () => {
    const asked: string[] = [];
    decideLoop({
      matches: [match('a', 0.99), match('b', 0.5)],
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: (earlier) => {
        asked.push(earlier);
        return null;
      },
    });
    expect(asked).toEqual(['prompt a']);
  });

  it('compares a similarity that is no number as nothing at all', () => {
    const nonsense = { ...match('a', 1), cosine: Number.NaN as Cosine };
    const decision = decideLoop({
      matches: [nonsense, match('b', 0.6)],
      loopWhenSimilarityAbove: THRESHOLD,
      vetoOf: never,
    });
    expect(decision).toMatchObject({ loop_detected: false, similar_request_id: 'b', compared_count: 1 });
  });
});
