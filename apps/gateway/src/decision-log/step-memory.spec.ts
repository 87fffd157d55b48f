import { describe, expect, test } from 'vitest';
import { sessionKey } from '#contracts';
import { BODIES_PER_TRACE_MAX, OpenCommit, StepMemory } from './step-memory.js';

const STEP = sessionKey('t', 'step');

describe('StepMemory', () => {
  test('tells a resend from a reused trace id and from a new step', () => {
    const memory = new StepMemory(10);
    memory.remember(STEP, 's', 'hash-1', null);
    expect(memory.recognise(STEP, 'hash-1')).toMatchObject({ kind: 'duplicate', sessionId: 's' });
    expect(memory.recognise(STEP, 'hash-2').kind).toBe('reused_trace_id');
    expect(memory.recognise(sessionKey('t', 'other'), 'hash-1').kind).toBe('new');
    expect(memory.recognise(sessionKey('another tenant', 'step'), 'hash-1').kind).toBe('new');
  });

  test('remembers the latest bodies under one trace id', () => {
    const memory = new StepMemory(10);
    for (let body = 0; body <= BODIES_PER_TRACE_MAX; body += 1)
      memory.remember(STEP, 's', `hash-${body}`, null);
    expect(memory.recognise(STEP, 'hash-0').kind).toBe('reused_trace_id');
    expect(memory.recognise(STEP, 'hash-1').kind).toBe('duplicate');
    expect(memory.recognise(STEP, `hash-${BODIES_PER_TRACE_MAX}`).kind).toBe('duplicate');
  });

  test('tells several bodies under one trace id apart', () => {
    const memory = new StepMemory(10);
    memory.remember(STEP, 's', 'hash-1', null);
    memory.remember(STEP, 's', 'hash-2', null);
    expect(memory.recognise(STEP, 'hash-1').kind).toBe('duplicate');
    expect(memory.recognise(STEP, 'hash-2').kind).toBe('duplicate');
  });

  test('forgets a step that could not be stored, and only that one', async () => {
    const memory = new StepMemory(10);
    memory.remember(STEP, 's', 'kept', null);
    const failing = new OpenCommit(memory);
    memory.remember(STEP, 's', 'lost', failing);
    expect(memory.recognise(STEP, 'lost')).toMatchObject({ kind: 'duplicate', commit: failing.promise });
    failing.fail(new Error('disk full'));
    await expect(failing.promise).rejects.toThrow('disk full');
    expect(memory.recognise(STEP, 'lost').kind).toBe('reused_trace_id');
    expect(memory.recognise(STEP, 'kept').kind).toBe('duplicate');
  });

  test('has nobody wait for a step that is durable', async () => {
    const memory = new StepMemory(10);
    const commit = new OpenCommit(memory);
    memory.remember(STEP, 's', 'hash', commit);
    commit.succeed();
    expect(memory.recognise(STEP, 'hash')).toEqual({ kind: 'duplicate', sessionId: 's', commit: null });
    await expect(commit.promise).resolves.toBeUndefined();
  });

  test('keeps to its bound, oldest first', () => {
    const memory = new StepMemory(2);
    for (const trace of ['one', 'two', 'three']) memory.remember(sessionKey('t', trace), 's', 'h', null);
    expect(memory.size).toBe(2);
    expect(memory.recognise(sessionKey('t', 'one'), 'h').kind).toBe('new');
    expect(memory.sessionOf('t', 'three')).toBe('s');
  });
});
