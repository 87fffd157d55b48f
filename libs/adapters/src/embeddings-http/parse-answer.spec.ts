import { describe, expect, it } from 'vitest';
import { parseAnswer } from './parse-answer.js';

const row = (embedding: unknown, index?: unknown) => ({ object: 'embedding', embedding, index });
const answer = (...data: unknown[]) => JSON.stringify({ object: 'list', data, model: 'm' });

describe('an answer of an embeddings server', () => {
  it('is taken in the order it came where nothing is numbered', () => {
    expect(parseAnswer(answer(row([3, 4]), row([0, 2])), 2, null)).toEqual({
      dimension: 2,
      embeddings: [
        { fitness: 'fit', vector: Float32Array.of(0.6, 0.8) },
        { fitness: 'fit', vector: Float32Array.of(0, 1) },
      ],
    });
  });

  it.each([
    ['no JSON', '<html>SECRET</html>', 'not JSON'],
    ['a bare NaN', '{"data":[{"index":0,"embedding":[NaN,1]},{"index":1,"embedding":[1,1]}]}', 'not JSON'],
    ['no object', 'null', 'without a list'],
    ['no list', '{"error":"SECRET"}', 'without a list'],
    ['too few', answer(row([1, 0], 0)), '1 embeddings where 2'],
    ['too many', answer(row([1, 0], 0), row([1, 0], 1), row([1, 0], 2)), '3 embeddings where 2'],
    ['a number twice', answer(row([1, 0], 1), row([1, 0], 1)), 'numbered'],
    ['a number out of range', answer(row([1, 0], 0), row([1, 0], 2)), 'numbered'],
    ['a number that is none', answer(row([1, 0], 0), row([1, 0], '1')), 'numbered'],
    ['half the numbers', answer(row([1, 0], 0), row([1, 0])), 'numbered'],
    ['base64', answer(row('AACAPwAAAAA=', 0), row('AACAPwAAAAA=', 1)), 'no list of numbers'],
    ['nothing in a row', answer(null, null), 'no list of numbers'],
    ['two dimensions', answer(row([1, 0], 0), row([1, 0, 0], 1)), '3 numbers where 2'],
    ['no numbers', answer(row([], 0), row([], 1)), 'vectors of 0'],
    ['absurdly many numbers', answer(row(Array(20_000).fill(1), 0), row([1], 1)), 'vectors of 20000'],
  ])('with %s is refused as a whole, and not quoted', (_, body, words) => {
    const parsed = parseAnswer(body, 2, null);
    expect(parsed).toEqual({ refused: expect.stringContaining(words) });
    expect(JSON.stringify(parsed)).not.toContain('SECRET');
  });

  it('of another dimension than before is refused', () => {
    expect(parseAnswer(answer(row([1, 0], 0)), 1, 3)).toEqual({
      refused: 'it answered with 2 numbers where 3 are expected',
    });
  });

  it.each([
    ['null, as some servers write NaN', [null, 1]],
    ['a text', ['1', 1]],
    ['numbers too large to have a length', [1e200, 1e200]],
  ])('costs only the one text whose numbers hold %s', (_, numbers) => {
    expect(parseAnswer(answer(row(numbers, 0), row([0, -5], 1)), 2, null)).toEqual({
      dimension: 2,
      embeddings: [null, { fitness: 'fit', vector: Float32Array.of(0, -1) }],
    });
  });

  it.each([
    ['zeros', [0, 0, 0]],
    ['numbers too small to point anywhere', [0, -1.6e-162, 0]],
  ])('of %s says that there is nothing to compare', (_, numbers) => {
    expect(parseAnswer(answer(row(numbers, 0)), 1, 3)).toEqual({
      dimension: 3,
      embeddings: [{ fitness: 'empty', vector: null }],
    });
  });
});
