/** Anything a stranger may send: always an answer of the catalogue, never a crash, never a lost neighbour. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

const CANARY = 'canary-5d41402abc4b2a76b9719d911017c592';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  expect(gateway.output()).not.toContain(CANARY);
  expect(gateway.output()).not.toContain('internal_error');
  expect(await gateway.stop()).toBe(0);
});

let serial = 0;
const valid = (): Record<string, any> => {
  serial += 1;
  return buildDecisionLog({ meta: { trace_id: `fuzz-${serial}`, session_id: `fuzz-${serial % 7}` } });
};
const REASONS = new Set<string>([...Object.keys(ERRORS), 'schema_violation']);

async function expectAnswer(
  body: unknown,
  headers?: Record<string, string>,
): Promise<{ status: number; answer: any }> {
  const response = await gateway.ingest(body, headers);
  const answer = await response.json();
  expect([202, 207, 400, 413, 422]).toContain(response.status);
  if (response.status >= 400 && !answer.results) {
    expect(REASONS).toContain(answer.reason);
    expect(answer.detail).toBeTypeOf('string');
    expect(answer.detail.length).toBeLessThan(600);
  }
  return { status: response.status, answer };
}

/** A valid log in which one member is something else. */
const mutated = fc
  .tuple(
    fc.constantFrom('meta', 'identity', 'cognition', 'action', 'state_delta', 'control'),
    fc.constantFrom(
      'trace_id',
      'timestamp',
      'session_id',
      'parent_step_id',
      'agent_id',
      'intent',
      'reasoning_chain',
      'entropy_score',
      'status',
      'tool_call',
      'tool_input',
      'duration_ms',
      'tokens_consumed',
      'hitl_required',
      'is_terminal',
      '__proto__',
      'constructor',
      'unknown',
    ),
    fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.string({ maxLength: 400, size: 'max' }),
      fc.double(),
      fc.constant(null),
      fc.constant(CANARY),
    ),
  )
  .map(([section, member, value]) => {
    const log = valid();
    log[section] = { ...log[section] };
    Object.defineProperty(log[section], member, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    // Ids are logged, everything else an agent says is not.
    if (value === CANARY && member.endsWith('_id')) log[section][member] = 'an id';
    if (member === 'hitl_required') log[section][member] = value === true ? 'true' : value;
    return log;
  });

describe('fuzzing', () => {
  test('any JSON value gets a clear answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        const { status } = await expectAnswer(value);
        expect(status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: 150 },
    );
  });

  test('any bytes get a clear answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300, size: 'max' }),
        fc.constantFrom('application/json', 'application/x-ndjson'),
        async (bytes, type) => {
          await expectAnswer(bytes, { 'content-type': type });
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a log with one member bent gets a clear answer, and the gateway stays well', async () => {
    await fc.assert(
      fc.asyncProperty(mutated, async (log) => {
        await expectAnswer(log);
      }),
      { numRuns: 300 },
    );
    expect((await gateway.ingest(valid())).status).toBe(202);
  });

  test('neighbours of a bad line are all taken, in their places', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.constant(null),
            fc.constantFrom('{', '[]', '"x"', '{"a":1}', '{"meta":{"trace_id":1}}'),
          ),
          {
            minLength: 1,
            maxLength: 20,
            size: 'max',
          },
        ),
        async (lines) => {
          const body = lines.map((line) => line ?? JSON.stringify(valid())).join('\n');
          const { answer } = await expectAnswer(body, { 'content-type': 'application/x-ndjson' });
          expect(answer.results.map((result: any) => result.status === 'accepted')).toEqual(
            lines.map((line) => line === null),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('by hand', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  test.each([
    ['a depth bomb of objects', () => nested(200_000)],
    ['a depth bomb of arrays', () => `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    [
      'a depth bomb in tool_input',
      () => JSON.stringify(valid()).replace('"status"', `"tool_input":${nested(5_000)},"status"`),
    ],
    [
      'a number too large for a double',
      () => JSON.stringify(valid()).replace('"status"', '"duration_ms":1e999,"status"'),
    ],
    ['a lone surrogate as intent', () => JSON.stringify(valid()).replace('"search"', '5')],
    ['a date that does not exist', () => JSON.stringify(valid()).replace('2026-01-31', '2026-02-30')],
    ['a year of ten digits', () => JSON.stringify(valid()).replace('2026-', '2026202620-')],
    [
      'NUL where an id should be',
      () => JSON.stringify({ ...valid(), meta: { trace_id: '', timestamp: 'x' } }),
    ],
    [
      'an intent of a megabyte',
      () => JSON.stringify({ ...valid(), cognition: { intent: 'i'.repeat(1_000_000) } }),
    ],
    ['Infinity', () => JSON.stringify(valid()).replace('"status"', '"duration_ms":Infinity,"status"')],
  ])('%s is refused with a reason', async (_name, text) => {
    const { status } = await expectAnswer(text());
    expect([400, 422]).toContain(status);
  });

  test('prototype keys neither pollute nor survive', async () => {
    const log = valid();
    const text = JSON.stringify(log)
      .replace('"meta":{', '"__proto__":{"polluted":"yes"},"meta":{"__proto__":{"polluted":"yes"},')
      .replace('"status"', '"tool_input":{"__proto__":{"polluted":"yes"},"constructor":{"x":1}},"status"');
    const { answer } = await expectAnswer(text);
    expect(answer.status).toBe('accepted');
    for (const at of ['', 'meta.', 'action.tool_input.'])
      expect(answer.warnings).toContain(`unknown field ignored: ${at}__proto__`);
    const path = `/v1/sessions/${log.meta.session_id}/decision-logs?limit=500`;
    const { body } = await gateway.operator('GET', path);
    const stored = body.items.find((item: any) => item.meta.trace_id === log.meta.trace_id);
    expect(stored.action.tool_input).toEqual({});
    expect(JSON.stringify(body)).not.toContain('polluted');
  });

  test.each([
    ['long', { ['n'.repeat(10_000)]: '' }],
    ['many', Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`unknown_${at}`, '']))],
  ])('names that are unknown, and %s, are not repeated in full', async (_which, given) => {
    const log = valid();
    await gateway.ingest(log);
    const refusals = [
      await gateway.operator('GET', `/v1/sessions?${new URLSearchParams(given)}`),
      await gateway.operator('PATCH', '/v1/config', given),
      await gateway.operator('POST', '/v1/alert-rules', given),
      await gateway.operator('POST', `/v1/sessions/${log.meta.session_id}/pause`, given),
    ];
    for (const { status, body } of refusals) {
      expect([status, body.reason]).toEqual([422, 'invalid_fields']);
      expect(body.fields).toContainEqual(expect.stringMatching(/^(n+|unknown_0)$/));
      expect(JSON.stringify(body).length).toBeLessThan(1_500);
    }
  });

  test('control characters in ids stay inside their tenant and session', async () => {
    const log = valid();
    log.meta.session_id = 'other\0tenant\u0001/../x';
    expect((await gateway.ingest(log)).status).toBe(202);
    const path = `/v1/sessions/${encodeURIComponent(log.meta.session_id)}`;
    expect((await gateway.operator('GET', path)).body.session_id).toBe(log.meta.session_id);
    expect((await gateway.operator('GET', '/v1/sessions/other')).status).toBe(404);
  });
});
