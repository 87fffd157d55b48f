import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSearchReply } from './search-reply.js';

const fields = (overrides: Record<string, unknown> = {}): [string, unknown][] =>
  Object.entries({ distance: '0.25', request_id: 'r1', prompt: 'Why?', at_ms: '1000', ...overrides });
const match = { request_id: 'r1', prompt: 'Why?', at_ms: 1_000, cosine: 0.75 };

/** The three shapes one and the same answer may take. */
const shapes: [name: string, shape: (documents: ([string, unknown][] | null)[]) => unknown][] = [
  ['RESP2', (documents) => [documents.length, ...documents.flatMap((one) => ['key', one?.flat() ?? null])]],
  [
    'RESP3 made flat',
    (documents) => [
      ...['attributes', [], 'format', 'STRING'],
      ...[
        'results',
        documents.map((one) => ['id', 'key', 'extra_attributes', one?.flat() ?? null, 'values', []]),
      ],
      ...['total_results', documents.length, 'warning', []],
    ],
  ],
  [
    'RESP3 as objects',
    (documents) => ({
      total_results: documents.length,
      results: documents.map((one) => ({ id: 'key', extra_attributes: one && Object.fromEntries(one) })),
    }),
  ],
];

describe.each(shapes)('a reply in %s', (_name, shape) => {
  it('is read into matches, in its order', () => {
    expect(readSearchReply(shape([]))).toEqual([]);
    expect(readSearchReply(shape([fields(), fields({ request_id: 'r2', distance: '1' })]))).toEqual([
      match,
      { ...match, request_id: 'r2', cosine: 0 },
    ]);
  });

  it('leaves out documents that expired meanwhile', () => {
    expect(readSearchReply(shape([null, [], [['distance', '0.1']], fields()]))).toEqual([match]);
  });

  it('forgives what float32 does to the ends of the scale', () => {
    const distances = ['-1.19209289551e-07', '2.00000023842', 0, '0'];
    const matches = readSearchReply(shape(distances.map((distance) => fields({ distance }))));
    expect(matches.map(({ cosine }) => cosine)).toEqual([1, -1, 1, 1]);
  });

  it.each([
    { distance: 'nan' },
    { distance: '' },
    { distance: '2.5' },
    { distance: '-1' },
    { distance: null },
    { distance: undefined },
    { at_ms: 'yesterday' },
    { at_ms: undefined },
    { prompt: undefined },
    { prompt: 7 },
    { request_id: undefined },
    { request_id: ['r1'] },
  ])('is refused with %o', (overrides) => {
    const document = fields(overrides).filter(([, value]) => value !== undefined);
    expect(() => readSearchReply(shape([fields(), document]))).toThrow(
      expect.objectContaining({ name: 'PromptHistoryFailure', reason: 'failed' }),
    );
  });
});

it.each([
  null,
  undefined,
  'OK',
  3,
  [],
  {},
  ['results'],
  ['results', 'none'],
  [1, 'key'],
  [1, 'key', 'text'],
  [1, 'key', ['odd']],
  ['results', ['text']],
  { results: [7] },
  [[1]],
])('refuses the reply %j', (reply) => {
  expect(() => readSearchReply(reply)).toThrow(expect.objectContaining({ reason: 'failed' }));
});

it('never throws anything else, whatever it is given', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.array(fc.oneof(fc.integer(), fc.anything()))), (reply) => {
      try {
        expect(readSearchReply(reply)).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toMatchObject({ name: 'PromptHistoryFailure', reason: 'failed' });
      }
    }),
  );
});
