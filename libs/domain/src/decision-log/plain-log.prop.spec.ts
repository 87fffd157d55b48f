import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decisionLogSchema } from '#contracts';
import { buildDecisionLog } from '#testing';
import { parseDecisionLog } from './parse-decision-log.js';
import { plainnessOf } from './plain-log.js';

/** With every member there is. */
const FULL = JSON.stringify(
  buildDecisionLog({
    meta: { parent_step_id: 'trace-0', cluster_id: '', source_app: null },
    identity: { model_name: 'm' },
    cognition: {
      intent: 'look',
      reasoning_chain: ['one', 'two'],
      confidence_score: 0.82,
      strategy_used: 'react',
      entropy_score: 0.9,
      entropy_severity: null,
    },
    action: {
      status: 'failure',
      tool_call: 'search',
      tool_input: { query: 'q', deep: [1, -2.5, { x: null }], flag: true },
      tool_output_summary: '',
      duration_ms: 184,
    },
    state_delta: { added_to_memory: [], tokens_consumed: 812, cumulative_session_cost: 0.1421 },
    control: { hitl_required: false, interrupt_signal: null, is_terminal: true },
  }),
);
const ordinary = (): Record<string, Record<string, unknown>> => JSON.parse(FULL);

/** Values of every kind a member could have, at and around each of the schema's bounds. */
const member = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    '',
    0,
    1,
    -0,
    -1,
    0.5,
    1.5,
    1e21,
    2 ** 53,
    0.0001,
    1e-7,
    [],
    {},
  ),
  fc.constantFrom('success', 'failure', 'pending', 'skipped', 'normal', 'loop', 'pause', 'inject'),
  fc.constantFrom(...[256, 257, 4_096, 4_097, 65_536, 65_537].map((length) => 'x'.repeat(length))),
  fc.constantFrom('.', '..', '...', 'a\nb', '\ud800', '\ud83d\ude00'),
  fc.constantFrom('2026-03-01T10:00:00Z', '2026-02-29T10:00:00Z', '2026-03-01', '2026-03-01T10:00+01:00'),
  fc.constantFrom<unknown>(Array(1_000).fill('a'), Array(1_001).fill('a'), ['x'.repeat(65_537)], [1]),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.jsonValue({ maxDepth: 4 }),
);
const MEMBERS = Object.entries(decisionLogSchema.shape).flatMap(([section, schema]) => {
  const object = 'shape' in schema ? schema : schema.unwrap().unwrap();
  return Object.keys(object.shape).map((name) => [section, name] as const);
});

/** An ordinary log with some members replaced, added or removed, now and then a whole section. */
const message = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...MEMBERS), member), { maxLength: 4 }),
    fc.array(fc.constantFrom(...MEMBERS), { maxLength: 2 }),
    fc.option(fc.tuple(fc.constantFrom(...Object.keys(decisionLogSchema.shape), 'other'), member), {
      freq: 4,
    }),
  )
  .map(([replaced, removed, section]) => {
    const log = ordinary();
    for (const [[where, name], value] of replaced) log[where] = { ...log[where], [name]: value };
    for (const [where, name] of removed) delete log[where]?.[name];
    if (section) Object.assign(log, { [section[0]]: section[1] });
    // Through text, as it would come.
    return JSON.parse(JSON.stringify(log)) as unknown;
  });

describe('a plain log', () => {
  it('is one the schema accepts, and returns equal, without a warning', () => {
    let plainCount = 0;
    fc.assert(
      fc.property(message, (value) => {
        if (plainnessOf(value, null) === 'odd') return;
        plainCount += 1;
        const before = JSON.stringify(value);
        expect(parseDecisionLog(value)).toEqual({ ok: true, log: value, warnings: [] });
        expect(decisionLogSchema.parse(value)).toEqual(value);
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 3_000 },
    );
    expect(plainCount).toBeGreaterThan(100);
  });

  it('is known for its own text, unless it takes escapes or unusual numbers to write', () => {
    fc.assert(
      fc.property(message, (value) => {
        const text = JSON.stringify(value);
        const isSimple = !text.includes('\\') && !/\d000|0\.00|\de|\d{6}/.test(text);
        if (isSimple) expect(plainnessOf(value, text)).not.toBe('plain');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is compact only where its text is the compact one, character by character', () => {
    const text = fc.oneof(
      message.map((value) => JSON.stringify(value)),
      message.map((value) => JSON.stringify(value, null, 1)),
      message.map((value) => JSON.stringify(value).replace('{', '{"meta":{},')),
      message.map((value) => JSON.stringify(value).replaceAll(`e":`, `\\u0065":`)),
      fc.dictionary(fc.string(), fc.jsonValue()).map((tool_input) => {
        const log = ordinary();
        log.action = { ...log.action, tool_input };
        return JSON.stringify(log);
      }),
    );
    fc.assert(
      fc.property(text, (sent) => {
        const value = JSON.parse(sent);
        if (plainnessOf(value, sent) === 'compact') expect(JSON.stringify(value)).toBe(sent);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['white space', (text: string) => text.replace(':', ': ')],
    ['a key named twice', (text: string) => text.replace('"meta":{', '"meta":{"trace_id":"first",')],
    ['an escape', (text: string) => text.replace('"failure"', '"failur\\u0065"')],
    [
      'a key named twice, its length made up for by a number',
      (text: string) => text.replace(',"flag":true', ',"a":2,"a":1e9').replace('"one"', '"on"'),
    ],
    ['a number that has another text', (text: string) => text.replace('0.1421', '0.30000000000000005')],
    ['keys that are numbers', (text: string) => text.replace('{"query":', '{"query":"q","1":')],
  ])('is not taken for its own text with %s in it', (_name, change) => {
    const text = change(FULL);
    expect(text).not.toBe(FULL);
    expect(plainnessOf(JSON.parse(text), text)).not.toBe('compact');
  });

  it('is what agents ordinarily send', () => {
    expect(plainnessOf(ordinary(), FULL)).toBe('compact');
    expect(plainnessOf(ordinary(), null)).toBe('plain');
  });

  it('has nothing in it that JSON cannot say', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
        const log = { ...ordinary(), action: { status: 'success', tool_input: { value } } };
        if (plainnessOf(log, null) !== 'odd') expect(parseDecisionLog(log)).toMatchObject({ ok: true });
        plainnessOf(value, null);
      }),
    );
  });
});
