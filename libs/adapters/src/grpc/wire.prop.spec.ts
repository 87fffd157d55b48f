import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Cosine,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  type SidecarDescription,
  SidecarFailure,
} from '#contracts/embedding';
import { embeddingService, type ReplyFrame, type RequestFrame, TEXT_BYTES_MAX } from './embedding-proto.js';
import {
  requireTextFits,
  toCheckLoopRequest,
  toCheckLoopResponse,
  toDescribeResponse,
  toDescription,
  toEmbedding,
  toEmbedResponse,
  toLoopAnswer,
  toLoopQuery,
} from './wire.js';

const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } =
  embeddingService.Exchange;

const overTheWire = (frame: RequestFrame): RequestFrame => requestDeserialize(requestSerialize(frame));
const backOverTheWire = (frame: ReplyFrame): ReplyFrame => responseDeserialize(responseSerialize(frame));

const text = fc.string({ unit: 'grapheme' });
const similarity = fc.double({ min: 0, max: 1, noNaN: true }) as fc.Arbitrary<LoopSimilarity>;

describe('over the wire and back', () => {
  it('a query is the same, whatever its ids hold, with a threshold or without', () => {
    const query: fc.Arbitrary<LoopQuery> = fc.record(
      {
        tenant_id: text,
        session_id: text,
        agent_id: text.filter((id) => id !== ''),
        request_id: text,
        prompt: text,
        threshold: fc.option(similarity, { nil: null }),
      },
      { requiredKeys: ['tenant_id', 'session_id', 'request_id', 'prompt', 'threshold'] },
    );
    fc.assert(
      fc.property(query, fc.nat(), (given, timeout_ms) => {
        const frame = overTheWire({
          id: 4_294_967_295,
          timeout_ms,
          traceparent: '',
          check_loop: toCheckLoopRequest(given),
        });
        expect(frame).toMatchObject({ id: 4_294_967_295, timeout_ms });
        expect(toLoopQuery(frame.check_loop as NonNullable<typeof frame.check_loop>)).toEqual(given);
      }),
    );
  });

  it('an answer is the same', () => {
    const answer: fc.Arbitrary<LoopAnswer> = fc.record({
      loop_detected: fc.boolean(),
      max_similarity: similarity,
      threshold: similarity,
      similar_prompt: text,
      similar_request_id: text,
      compared_count: fc.nat(),
      similar_count: fc.nat(),
      fitness: fc.constantFrom('fit', 'empty', 'unknown_tokens'),
      vetoed_by: fc.option(fc.constantFrom('numbers', 'negation'), { nil: null }),
      model_id: text,
      further: fc.array(fc.record({ prompt: text, request_id: text }, { noNullPrototype: true }), {
        maxLength: 4,
      }),
    });
    fc.assert(
      fc.property(answer, (given) => {
        const { check_loop } = backOverTheWire({ id: 1, check_loop: toCheckLoopResponse(given) });
        expect(toLoopAnswer(check_loop as NonNullable<typeof check_loop>)).toEqual(given);
      }),
    );
  });

  it('a description is the same, and its threshold is the one in force', () => {
    const description: fc.Arbitrary<SidecarDescription> = fc
      .record({
        model_id: text,
        dimension: fc.nat(),
        tokens_max: fc.nat(),
        loop_similarity_threshold: similarity,
        hitWhenCosineAtLeast: similarity as fc.Arbitrary<number> as fc.Arbitrary<Cosine>,
        needsStrictGate: fc.boolean(),
        store: fc.constantFrom('memory', 'redis'),
        store_problem: fc.option(
          text.filter((problem) => problem !== ''),
          { nil: null },
        ),
        history_size: fc.nat(),
        ttl_s: fc.nat(),
        checks_total: fc.maxSafeNat(),
        loops_total: fc.maxSafeNat(),
        failures_total: fc.maxSafeNat(),
        queued: fc.nat(),
        uptime_s: fc.double({ min: 0, noNaN: true }),
      })
      .map((given) => ({ ...given, loopWhenSimilarityAbove: given.loop_similarity_threshold }));
    const { responseSerialize, responseDeserialize } = embeddingService.Describe;
    fc.assert(
      fc.property(description, (given) => {
        const came = responseDeserialize(responseSerialize(toDescribeResponse(given)));
        expect(toDescription(came)).toEqual(given);
      }),
    );
  });

  it('a vector is the same to the bit, wherever in a buffer it came', () => {
    fc.assert(
      fc.property(
        fc.float32Array({ minLength: 1, maxLength: 64, size: 'max', noNaN: true }),
        fc.nat(3),
        (vector, shift) => {
          const { embed } = backOverTheWire({
            id: 1,
            embed: toEmbedResponse({ fitness: 'fit', vector, model_id: 'm' }),
          });
          const bytes = embed?.vector as Uint8Array;
          const shifted = new Uint8Array(bytes.length + shift);
          shifted.set(bytes, shift);
          const found = toEmbedding({ vector: shifted.subarray(shift), fitness: 'FIT', model_id: 'm' });
          expect(found.vector).toEqual(vector);
        },
      ),
    );
  });
});

it('an unfit text comes without a vector', () => {
  const { embed } = backOverTheWire({
    id: 1,
    embed: toEmbedResponse({ fitness: 'unknown_tokens', vector: null, model_id: 'm' }),
  });
  expect(toEmbedding(embed as NonNullable<typeof embed>)).toEqual({
    fitness: 'unknown_tokens',
    vector: null,
    model_id: 'm',
  });
});

it('a fitness of a newer sidecar is taken for unfit, whatever comes with it', () => {
  const fitness = 'OF_A_NEWER_SIDECAR' as 'FIT';
  expect(toEmbedding({ fitness, vector: new Uint8Array(4), model_id: 'm' })).toEqual({
    fitness: 'unknown_tokens',
    vector: null,
    model_id: 'm',
  });
});

it.each([0, 3, 1_535])('a vector of %i bytes is none', (length) => {
  expect(() => toEmbedding({ vector: new Uint8Array(length), fitness: 'FIT', model_id: 'm' })).toThrow(
    SidecarFailure,
  );
});

it('a text may have its bytes and not one more, counted as UTF-8', () => {
  expect(() => requireTextFits('x'.repeat(TEXT_BYTES_MAX))).not.toThrow();
  expect(() => requireTextFits('x'.repeat(TEXT_BYTES_MAX + 1))).toThrow(SidecarFailure);
  expect(() => requireTextFits('文'.repeat(TEXT_BYTES_MAX / 2))).toThrow(SidecarFailure);
});
