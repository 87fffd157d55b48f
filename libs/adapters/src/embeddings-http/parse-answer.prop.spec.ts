import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswer } from './parse-answer.js';

const bodyOf = (vectors: readonly (readonly unknown[])[], order = vectors.map((_, index) => index)) =>
  JSON.stringify({ data: order.map((index) => ({ index, embedding: vectors[index] })) });

describe('an answer of an embeddings server', () => {
  it('gives each text its own vector, whatever the order, at unit length', () => {
    const vectors = fc.array(
      fc.array(
        fc.integer({ min: -1e6, max: 1e6 }).map((value) => value / 1_000),
        { minLength: 3, maxLength: 3 },
      ),
      { minLength: 1, maxLength: 12, size: 'max' },
    );
    fc.assert(
      fc.property(vectors, fc.infiniteStream(fc.nat()), (given, seeds) => {
        const order = given
          .map((_, index) => ({ index, at: seeds.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ index }) => index);
        const parsed = parseAnswer(bodyOf(given, order), given.length, null);
        if ('refused' in parsed) throw new Error(parsed.refused);
        expect(parsed.dimension).toBe(3);
        for (const [index, vector] of given.entries()) {
          const embedding = parsed.embeddings[index];
          const squares = vector.reduce((sum, value) => sum + value * value, 0);
          if (squares === 0) {
            expect(embedding).toEqual({ fitness: 'empty', vector: null });
            continue;
          }
          const unit = embedding?.vector ?? new Float32Array();
          expect(Math.hypot(...unit)).toBeCloseTo(1, 5);
          for (const [at, value] of vector.entries())
            expect(unit[at]).toBeCloseTo(value / Math.sqrt(squares), 5);
        }
      }),
    );
  });

  it('never throws and never hands out anything but unit vectors, whatever comes', () => {
    const almost = fc.record({
      data: fc.array(
        fc.record(
          { index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()), embedding: fc.jsonValue() },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
    });
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      almost.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(body, fc.integer({ min: 1, max: 3 }), (text, count) => {
        const parsed = parseAnswer(text, count, null);
        if ('refused' in parsed) return;
        expect(parsed.embeddings).toHaveLength(count);
        for (const embedding of parsed.embeddings) {
          if (embedding?.vector) expect(Math.hypot(...embedding.vector)).toBeCloseTo(1, 4);
        }
      }),
    );
  });
});
