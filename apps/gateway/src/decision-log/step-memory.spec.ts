import { describe, expect, test } from 'vitest';
import { BODIES_PER_TRACE_MAX, StepMemory } from './step-memory.js';

describe('StepMemory', () => {
  test('tells a resend from a reused trace id and from a new step', () => {
    const memory = new StepMemory(10);
    memory.remember('t', 'step', 's', 'hash-1', null);
    expect(memory.recognise('t', 'step', 'hash-1')).toMatchObject({ kind: 'duplicate', sessionId: 's' });
    expect(memory.recognise('t', 'step', 'hash-2').kind).toBe('reused_trace_id');
    expect(memory.recognise('t', 'other', 'hash-1').kind).toBe('new');
    expect(memory.recognise('another tenant', 'step', 'hash-1').kind).toBe('new');
  });

  test('remembers the latest bodies under one trace id', () => {
    const memory = new StepMemory(10);
    for (let body = 0; body <= BODIES_PER_TRACE_MAX; body += 1)
      memory.remember('t', 'step', 's', `hash-${body}`, null);
    expect(memory.recognise('t', 'step', 'hash-0').kind).toBe('reused_trace_id');
    expect(memory.recognise('t', 'step', 'hash-1').kind).toBe('duplicate');
    expect(memory.recognise('t', 'step', `hash-${BODIES_PER_TRACE_MAX}`).kind).toBe('duplicate');
  });

  test('tells several bodies under one trace id apart', () => {
    const memory = new StepMemory(10);
    memory.remember('t', 'step', 's', 'hash-1', null);
    memory.remember('t', 'step', 's', 'hash-2', null);
    expect(memory.recognise('t', 'step', 'hash-1').kind).toBe('duplicate');
    expect(memory.recognise('t', 'step', 'hash-2').kind).toBe('duplicate');
  });

  test('forgets a step that could not be stored, and only that one', async () => {
    const memory = new StepMemory(10);
    memory.remember('t', 'step', 's', 'kept', null);
    const failing = Promise.reject(new Error('disk full'));
    memory.remember('t', 'step', 's', 'lost', failing);
    expect(memory.recognise('t', 'step', 'lost')).toMatchObject({ kind: 'duplicate', commit: failing });
    await failing.catch(() => {});
    expect(memory.recognise('t', 'step', 'lost').kind).toBe('reused_trace_id');
    expect(memory.recognise('t', 'step', 'kept').kind).toBe('duplicate');
  });

  test('keeps to its bound, oldest first', () => {
    const memory = new StepMemory(2);
    for (const trace of ['one', 'two', 'three']) memory.remember('t', trace, 's', 'h', null);
    expect(memory.size).toBe(2);
    expect(memory.recognise('t', 'one', 'h').kind).toBe('new');
    expect(memory.sessionOf('t', 'three')).toBe('s');
  });
});
