import { describe, expect, it } from 'vitest';
import { type DecisionLog, PROXY_SOURCE } from '#contracts';
import { buildDecisionLog } from '#testing';
import { toolKey, tupleOf } from './index.js';

const keyOf = (tool_input: DecisionLog['action']['tool_input'], tool_call = 'read_file') =>
  toolKey(buildDecisionLog({ action: { tool_call, tool_input } }), 'name+input');

describe('toolKey', () => {
  it('is the name alone, whatever the arguments, in mode `name`', () => {
    const log = buildDecisionLog({ action: { tool_call: 'read_file', tool_input: { path: '/a' } } });
    expect(toolKey(log, 'name')).toBe('read_file');
  });

  it('is "" for a step without a tool', () => {
    const log = buildDecisionLog({ action: { tool_call: null } });
    expect(toolKey(log, 'name')).toBe('');
    expect(toolKey(log, 'name+input')).toBe('');
  });

  it('folds the arguments in, in mode `name+input`', () => {
    expect(keyOf({ path: '/a' })).toMatch(/^read_file#[0-9a-f]{12}$/);
    expect(keyOf({ path: '/a' })).not.toBe(keyOf({ path: '/b' }));
    expect(keyOf({ path: '/a' })).not.toBe(keyOf({ path: '/a' }, 'write_file'));
  });

  it('does not mind the order of keys, nor whether the arguments are an object or JSON text', () => {
    const nested = { b: [1, { d: null, c: 'x' }], a: 1 };
    expect(keyOf(nested)).toBe(keyOf({ a: 1, b: [1, { c: 'x', d: null }] }));
    expect(keyOf(nested)).toBe(keyOf(' {"a": 1, "b": [1, {"c": "x", "d": null}]} '));
    expect(keyOf({ list: [1, 2] })).not.toBe(keyOf({ list: [2, 1] }));
  });

  it('tells ids of 64 bits apart in JSON text, though one number is made of both', () => {
    expect(keyOf('{"id": 1234567890123456701}')).not.toBe(keyOf('{"id": 1234567890123456702}'));
    expect(keyOf('{"a": 1, "id": 1234567890123456701}')).toBe(keyOf('{"id":1234567890123456701,"a":1}'));
  });

  it('compares text that is not JSON as it is', () => {
    expect(keyOf('ls -la')).toBe(keyOf('ls -la'));
    expect(keyOf('ls -la')).not.toBe(keyOf('ls  -la'));
  });

  it('is just the name without arguments', () => {
    expect(keyOf(null)).toBe('read_file');
    expect(keyOf(undefined)).toBe('read_file');
    expect(keyOf({})).not.toBe('read_file');
  });

  it('survives arguments nested beyond any stack', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(keyOf(deep)).toBe(keyOf(deep));
    expect(keyOf(`${deep} `)).toMatch(/^read_file#/);
  });
});

describe('tupleOf', () => {
  it('takes what a proxied call asked without its numbers, and what an agent says of itself as it is', () => {
    const intentOf = (source_app: string, intent: string) =>
      tupleOf(buildDecisionLog({ meta: { source_app }, cognition: { intent } }), 'name').intent;
    expect(intentOf(PROXY_SOURCE, 'Where is order 4711?')).toBe(intentOf(PROXY_SOURCE, 'Where is order 12?'));
    expect(intentOf('my-app', 'Where is order 4711?')).toBe('Where is order 4711?');
    const long = (order: number) => intentOf(PROXY_SOURCE, `Where is ${order}? ${'please '.repeat(30)}`);
    expect(long(9)).toBe(long(4711));
  });

  it('[FR-9.2+] is intent, tool and status', () => {
    const log = buildDecisionLog({
      cognition: { intent: 'plan' },
      action: { tool_call: 'write_file', status: 'success' },
    });
    expect(tupleOf(log, 'name')).toEqual({
      intent: 'plan',
      tool_call: 'write_file',
      action_status: 'success',
    });
  });
});
