import { describe, expect, it } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { parseDecisionLog } from './index.js';

type Message = Record<string, Record<string, unknown>>;

/** A valid message as JSON would bring it, after a change. */
function message(change: (message: Message) => void = () => undefined): Message {
  const log = JSON.parse(JSON.stringify(buildDecisionLog({ meta: { trace_id: 'trace-1' } }))) as Message;
  change(log);
  return log;
}
const set = (section: string, member: string, value: unknown) =>
  message((log) => {
    log[section] = { ...log[section], [member]: value };
  });
const without = (section: string, member?: string) =>
  message((log) => {
    if (member === undefined) delete log[section];
    else delete log[section]?.[member];
  });
const detailOf = (value: unknown): string => {
  const parsed = parseDecisionLog(value);
  return parsed.ok ? 'accepted' : parsed.detail;
};
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('parseDecisionLog', () => {
  it('takes a valid log as it is', () => {
    expect(parseDecisionLog(message())).toEqual({ ok: true, log: message(), warnings: [] });
  });

  it('takes every optional member as absent, null or filled', () => {
    const full = message((log) => {
      log.meta = { ...log.meta, session_id: 's', parent_step_id: '', cluster_id: 'c', source_app: 'app' };
      log.identity = { ...log.identity, model_name: 'm' };
      log.cognition = {
        ...log.cognition,
        reasoning_chain: ['a'],
        confidence_score: 0,
        strategy_used: 'x',
        entropy_score: 1,
      };
      log.action = { ...log.action, tool_input: '{"a":1}', tool_output_summary: '', duration_ms: 0.5 };
      log.state_delta = { added_to_memory: [], tokens_consumed: 3, cumulative_session_cost: 0.01 };
      log.control = { hitl_required: false, interrupt_signal: 'pause', is_terminal: true };
    });
    expect(parseDecisionLog(full)).toEqual({ ok: true, log: full, warnings: [] });
    const empty = message((log) => {
      log.meta = { ...log.meta, session_id: null, parent_step_id: null };
      log.action = { status: 'success', tool_call: null, tool_input: null };
      Object.assign(log, { state_delta: null, control: null });
    });
    expect(parseDecisionLog(empty).ok).toBe(true);
  });

  describe('missing', () => {
    it.each([
      ['meta', 'trace_id'],
      ['meta', 'timestamp'],
      ['identity', 'agent_id'],
      ['identity', 'agent_type'],
      ['identity', 'capability_version'],
      ['cognition', 'intent'],
      ['action', 'status'],
    ])('names %s.%s, absent or null', (section, member) => {
      expect(detailOf(without(section, member))).toBe(`missing required field: ${section}.${member}`);
      expect(detailOf(set(section, member, null))).toBe(`missing required field: ${section}.${member}`);
    });

    it('tells an absent section by what it must hold', () => {
      expect(detailOf(without('action'))).toBe('missing required field: action.status');
      expect(detailOf(without('meta'))).toBe(
        'missing required field: meta.trace_id; missing required field: meta.timestamp',
      );
    });

    it('says the first three things', () => {
      expect(detailOf({})).toBe(
        'missing required field: meta.trace_id; missing required field: meta.timestamp; missing required field: identity.agent_id',
      );
    });
  });

  describe('invalid', () => {
    it.each([
      [
        set('action', 'status', 'done'),
        'invalid value for action.status: expected one of success, failure, pending, skipped, got other text',
      ],
      [
        set('control', 'interrupt_signal', 'stop'),
        'invalid value for control.interrupt_signal: expected one of pause, rewrite, inject, got other text',
      ],
      [
        set('meta', 'trace_id', ''),
        'invalid value for meta.trace_id: expected text of at least 1 character, got empty text',
      ],
      [set('meta', 'trace_id', 17), 'invalid value for meta.trace_id: expected text, got a number'],
      [
        set('meta', 'trace_id', 'x'.repeat(257)),
        'invalid value for meta.trace_id: expected text of at most 256 characters, got 257 characters',
      ],
      [
        set('meta', 'timestamp', 'yesterday'),
        'invalid value for meta.timestamp: expected an ISO 8601 date and time, got other text',
      ],
      [
        set('meta', 'timestamp', '2026-02-30T10:00:00Z'),
        'invalid value for meta.timestamp: expected an ISO 8601 date and time, got other text',
      ],
      [set('cognition', 'intent', ['a']), 'invalid value for cognition.intent: expected text, got an array'],
      [
        set('cognition', 'confidence_score', 1.5),
        'invalid value for cognition.confidence_score: expected a number of at most 1, got another number',
      ],
      [
        set('cognition', 'confidence_score', '0.5'),
        'invalid value for cognition.confidence_score: expected a number, got text',
      ],
      [
        set('cognition', 'reasoning_chain', ['a', 2]),
        'invalid value for cognition.reasoning_chain[1]: expected text, got a number',
      ],
      [
        set('cognition', 'reasoning_chain', new Array(1_001).fill('')),
        'invalid value for cognition.reasoning_chain: expected an array of at most 1000 elements, got 1001 elements',
      ],
      [
        set('action', 'tool_input', 5),
        'invalid value for action.tool_input: expected an object or text, got a number',
      ],
      [
        set('action', 'duration_ms', -1),
        'invalid value for action.duration_ms: expected a number of at least 0, got another number',
      ],
      [
        set('state_delta', 'tokens_consumed', 1.5),
        'invalid value for state_delta.tokens_consumed: expected a whole number, got another number',
      ],
      [
        set('control', 'is_terminal', 'yes'),
        'invalid value for control.is_terminal: expected true or false, got text',
      ],
      [{ ...message(), meta: 'text' }, 'invalid value for meta: expected an object, got text'],
      [{ ...message(), meta: [] }, 'invalid value for meta: expected an object, got an array'],
    ])('says what was expected (%#)', (value, detail) => {
      expect(detailOf(value)).toBe(detail);
    });

    it.each([
      ['2024-02-29T10:00:00Z', true],
      ['2026-02-22T10:00:00.123456+02:00', true],
      ['2026-02-22T10:00:00', true],
      ['2026-02-22T10:00Z', true],
      ['2026-02-22T10:00+02:00', true],
      ['2026-02-22T10:00:00+0200', true],
      ['2026-02-22T10:00:00.5-09', true],
      ['2026-02-22T10:00:00+02:0', false],
      ['2026-02-22T10:00:00+24', false],
      ['2026-02-22T10:00:00 +0200', false],
      ['2026-02-29T10:00:00Z', false],
      ['2026-13-01T10:00:00Z', false],
      ['2026-02-22T24:00:00Z', false],
      ['2026-02-22', false],
      ['1771754400', false],
    ])('takes %s as a time: %s', (timestamp, ok) => {
      expect(parseDecisionLog(set('meta', 'timestamp', timestamp)).ok).toBe(ok);
    });

    it.each([
      ['action', 'status'],
      ['meta', 'timestamp'],
      ['meta', 'trace_id'],
      ['cognition', 'confidence_score'],
      ['action', 'tool_input'],
    ])('never quotes a value, long or short, of %s.%s', (section, member) => {
      for (const value of ['hunter2', 'hunter2'.repeat(10_000), ['hunter2'], { hunter2: Number.NaN }]) {
        const detail = detailOf(set(section, member, value)).replace(`${section}.${member}.hunter2`, '');
        expect(detail).not.toContain('hunter2');
      }
      expect(detailOf('hunter2')).toBe('expected a JSON object, got text');
    });

    it('says what the sender called itself, as far as it can be read', () => {
      expect(parseDecisionLog(without('action'))).toMatchObject({
        ok: false,
        traceId: 'trace-1',
        agentId: 'agent-1',
        capabilityVersion: '1.0.0',
      });
      const unreadable = message((log) => {
        log.meta = { trace_id: { a: 1 } };
        log.identity = { agent_id: '', capability_version: 'x'.repeat(LIMITS.idCharsMax + 1) };
      });
      expect(parseDecisionLog(unreadable)).toMatchObject({
        traceId: null,
        agentId: null,
        capabilityVersion: null,
      });
    });
  });

  describe('anything at all', () => {
    it.each([
      [null, 'nothing'],
      [undefined, 'nothing'],
      [[], 'an array'],
      [[message()], 'an array'],
      ['text', 'text'],
      [5, 'a number'],
      [true, 'a boolean'],
      [() => 1, 'function'],
      [Symbol('x'), 'symbol'],
      [10n, 'bigint'],
    ])('refuses a root that is no object (%#)', (value, got) => {
      expect(detailOf(value)).toBe(`expected a JSON object, got ${got}`);
    });

    it('refuses nesting deeper than 64, and takes 64', () => {
      // The message, `action` and `tool_input` are three levels.
      expect(parseDecisionLog(set('action', 'tool_input', { deep: nested(61) })).ok).toBe(true);
      expect(detailOf(set('action', 'tool_input', { deep: nested(62) }))).toBe('nesting deeper than 64');
    });

    it('refuses nesting that would end any recursion, also where nobody looks', () => {
      expect(detailOf(set('action', 'tool_input', { deep: nested(100_000) }))).toBe('nesting deeper than 64');
      expect(detailOf({ ...message(), unknown: nested(100_000) })).toBe('nesting deeper than 64');
    });

    it('refuses a cyclic value', () => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      expect(detailOf(set('action', 'tool_input', cyclic))).toBe('nesting deeper than 64');
    });

    it.each([
      [Number.NaN, 'a finite number, got another number'],
      [Number.POSITIVE_INFINITY, 'a finite number, got another number'],
      [Buffer.from('x'), 'a JSON value, got an object'],
      [new Map(), 'a JSON value, got an object'],
      [10n, 'a JSON value, got bigint'],
    ])('refuses what only a socket can carry (%#)', (value, expected) => {
      expect(detailOf(set('action', 'tool_input', { list: [1, { value }] }))).toBe(
        `invalid value for action.tool_input.list[1].value: expected ${expected}`,
      );
    });

    it('refuses Infinity in a number field', () => {
      expect(detailOf(set('action', 'duration_ms', Number.POSITIVE_INFINITY))).toBe(
        'invalid value for action.duration_ms: expected a finite number, got another number',
      );
    });

    it('drops keys that reach for a prototype, at any depth, and says so', () => {
      const text = JSON.stringify(message()).replace(
        '"tool_call":"read_file"',
        '"tool_input":{"a":[{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"b":2}]}',
      );
      const parsed = parseDecisionLog(JSON.parse(`{"__proto__":{"polluted":1},${text.slice(1)}`));
      expect(parsed).toMatchObject({ ok: true, log: { action: { tool_input: { a: [{ b: 2 }] } } } });
      expect(parsed.ok && parsed.warnings).toEqual([
        'unknown field ignored: __proto__',
        'unknown field ignored: action.tool_input.a[0].__proto__',
        'unknown field ignored: action.tool_input.a[0].constructor',
      ]);
      expect(JSON.stringify(parsed)).not.toContain('polluted');
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    it('does not take a field from a prototype for one that was sent', () => {
      const value = JSON.parse(JSON.stringify(message()).replace('"meta":', '"__proto__":'));
      expect(detailOf(value)).toContain('missing required field: meta.trace_id');
      expect(parseDecisionLog(Object.create(message()))).toMatchObject({ ok: false, traceId: null });
    });

    it.each([
      ['meta', 'trace_id'],
      ['meta', 'session_id'],
      ['identity', 'agent_id'],
    ])(
      'refuses an id that is too long for a path, though it has few characters: %s.%s',
      (section, member) => {
        expect(parseDecisionLog(set(section, member, '\u{1f600}'.repeat(128))).ok).toBe(true);
        expect(detailOf(set(section, member, '\u{1f600}'.repeat(129)))).toBe(
          `invalid value for ${section}.${member}: expected text of at most 256 characters, got 258 characters`,
        );
      },
    );

    it('takes huge texts within their limit and refuses those beyond it', () => {
      expect(parseDecisionLog(set('action', 'tool_output_summary', 'x'.repeat(LIMITS.textCharsMax))).ok).toBe(
        true,
      );
      expect(detailOf(set('action', 'tool_output_summary', 'x'.repeat(5_000_000)))).toBe(
        'invalid value for action.tool_output_summary: expected text of at most 65536 characters, got 5000000 characters',
      );
      expect(detailOf(set('action', 'tool_input', 'x'.repeat(70_000)))).toBe(
        'invalid value for action.tool_input: expected text of at most 65536 characters, got 70000 characters',
      );
    });
  });

  describe('unknown members', () => {
    it('are dropped and named', () => {
      const parsed = parseDecisionLog({ ...set('meta', 'sesion_id', 's'), extra: { a: 1 } });
      expect(parsed).toMatchObject({
        ok: true,
        warnings: ['unknown field ignored: meta.sesion_id', 'unknown field ignored: extra'],
      });
      expect(JSON.stringify(parsed.ok && parsed.log)).not.toMatch(/sesion|extra/);
    });

    it('are kept inside tool_input, whose members are up to the agent', () => {
      const parsed = parseDecisionLog(set('action', 'tool_input', { anything: { goes: [null] } }));
      expect(parsed).toMatchObject({
        ok: true,
        warnings: [],
        log: { action: { tool_input: { anything: { goes: [null] } } } },
      });
    });

    it('are named at most ten times, and long names are cut', () => {
      const many = Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`x${index}${'y'.repeat(1_000)}`, 1]),
      );
      const parsed = parseDecisionLog({ ...message(), ...many });
      expect(parsed.ok && parsed.warnings).toHaveLength(10);
      expect(parsed.ok && Math.max(...parsed.warnings.map(({ length }) => length))).toBeLessThan(120);
    });
  });
});
