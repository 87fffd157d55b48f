import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_STATUSES, decisionLogSchema } from '#contracts';
import { buildDecisionLog } from '#testing';
import { bodyHash, parseDecisionLog, payloadHash } from './index.js';

const SECTIONS = ['meta', 'identity', 'cognition', 'action', 'state_delta', 'control'];
const valid = () => JSON.parse(JSON.stringify(buildDecisionLog())) as Record<string, Record<string, unknown>>;

describe('parseDecisionLog', () => {
  it('never throws, and refuses in few words, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const parsed = parseDecisionLog(value);
        if (!parsed.ok) expect(parsed.detail.length).toBeLessThan(1_000);
      }),
    );
  });

  it('never throws for anything a program can hold', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withObjectString: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        (value) => {
          parseDecisionLog(value);
          parseDecisionLog({ ...valid(), meta: value });
        },
      ),
    );
  });

  it('accepts exactly what the schema accepts, when one member is replaced by any JSON', () => {
    const place = fc.constantFrom(
      ...SECTIONS.flatMap((section) => [
        `${section}`,
        ...Object.keys({
          ...valid()[section],
          session_id: 1,
          tokens_consumed: 1,
          tool_input: 1,
          is_terminal: 1,
        }).map((key) => `${section}.${key}`),
      ]),
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom(...ACTION_STATUSES, '', 0, 1, true),
    );
    fc.assert(
      fc.property(place, value, (path, replacement) => {
        const message = valid();
        const [section = '', member] = path.split('.');
        if (member === undefined) Object.assign(message, { [section]: replacement });
        else message[section] = { ...message[section], [member]: replacement };
        // Through text, as it would come: fast-check may produce a __proto__ key, which is dropped before the schema sees it.
        const sent = JSON.parse(JSON.stringify(message));
        const parsed = parseDecisionLog(sent);
        const plain = decisionLogSchema.safeParse(sent);
        expect(parsed.ok).toBe(plain.success);
        if (parsed.ok && plain.success && parsed.warnings.length === 0)
          expect(parsed.log).toEqual(plain.data);
        if (!parsed.ok) expect(parsed.detail).toMatch(/^(missing required field|invalid value for) ?:? ?/);
      }),
      { numRuns: 500 },
    );
  });

  it('is stable: what it let through it lets through again unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (input, junk) => {
          const message = valid();
          message.action = { ...junk, ...message.action, tool_input: input };
          const first = parseDecisionLog(JSON.parse(JSON.stringify(message)));
          if (!first.ok) return;
          expect(parseDecisionLog(first.log)).toEqual({ ok: true, log: first.log, warnings: [] });
        },
      ),
    );
  });
});

describe('hashes', () => {
  it('are equal for equal content only, and say nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        expect(bodyHash(one) === bodyHash(other)).toBe(one === other);
        expect(payloadHash(one) === payloadHash(other)).toBe(one === other);
        expect(payloadHash(Buffer.from(one))).toBe(payloadHash(one));
        expect(bodyHash(one)).toMatch(/^[\w-]{22}$/);
        expect(payloadHash(one)).toMatch(/^sha256:[0-9a-f]{64}$/);
      }),
    );
  });
});
