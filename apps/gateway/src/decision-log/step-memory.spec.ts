import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SessionKey, sessionKey } from '#contracts';
import { bodyHash } from '#domain/decision-log';
import { OpenCommit, StepMemory } from './step-memory.js';

const KEY = sessionKey('t', 's');
const HASHES = ['one body', 'another body', 'a third one'].map((json) => bodyHash(json)) as [
  string,
  string,
  string,
];
const [FIRST, SECOND] = HASHES;
/** Of a hash: 120 bits, six to each. */
const COMPARED_CHARS = 20;

describe('StepMemory', () => {
  test('tells a resend from a reused trace id and from a new step', () => {
    const memory = new StepMemory(10);
    memory.remember(KEY, 'step', FIRST, null);
    expect(memory.recognise('t', 'step', FIRST)).toEqual({ kind: 'duplicate', key: KEY, commit: null });
    expect(memory.recognise('t', 'step', SECOND)).toEqual({ kind: 'reused_trace_id' });
    expect(memory.recognise('t', 'other', FIRST)).toEqual({ kind: 'new' });
    expect(memory.recognise('another tenant', 'step', FIRST)).toEqual({ kind: 'new' });
    expect(memory.sessionOf('another tenant', 'step')).toBeUndefined();
  });

  test('tells bodies apart whose hashes are nearly the same', () => {
    const memory = new StepMemory(10);
    memory.remember(KEY, 'step', FIRST, null);
    for (let at = 0; at < COMPARED_CHARS; at += 1) {
      const char = FIRST[at] === 'A' ? 'B' : 'A';
      const near = `${FIRST.slice(0, at)}${char}${FIRST.slice(at + 1)}`;
      expect(memory.recognise('t', 'step', near)).toEqual({ kind: 'reused_trace_id' });
    }
  });

  test('tells several bodies under one trace id apart, and has the session of the latest', () => {
    const memory = new StepMemory(10);
    memory.remember(KEY, 'step', FIRST, null);
    memory.remember(sessionKey('t', 'later'), 'step', SECOND, null);
    expect(memory.recognise('t', 'step', FIRST)).toMatchObject({ kind: 'duplicate', key: KEY });
    expect(memory.recognise('t', 'step', SECOND).kind).toBe('duplicate');
    expect(memory.sessionOf('t', 'step')).toBe('later');
  });

  test('forgets a step that could not be stored, and only that one', async () => {
    const memory = new StepMemory(10);
    memory.remember(KEY, 'step', FIRST, null);
    const failing = new OpenCommit(memory);
    memory.remember(KEY, 'step', SECOND, failing);
    expect(memory.recognise('t', 'step', SECOND)).toMatchObject({ commit: failing.promise });
    failing.fail(new Error('disk full'));
    await expect(failing.promise).rejects.toThrow('disk full');
    expect(memory.recognise('t', 'step', SECOND).kind).toBe('reused_trace_id');
    expect(memory.recognise('t', 'step', FIRST).kind).toBe('duplicate');
  });

  test('has nobody wait for a step that is durable', async () => {
    const memory = new StepMemory(10);
    const commit = new OpenCommit(memory);
    memory.remember(KEY, 'step', FIRST, commit);
    commit.succeed();
    expect(memory.recognise('t', 'step', FIRST)).toEqual({ kind: 'duplicate', key: KEY, commit: null });
    await expect(commit.promise).resolves.toBeUndefined();
  });

  test('an outcome that comes when its places are taken touches no other step', () => {
    const memory = new StepMemory(2);
    const [failing, late] = [new OpenCommit(memory), new OpenCommit(memory)];
    memory.remember(KEY, 'gone', FIRST, failing);
    memory.remember(KEY, 'gone too', FIRST, failing);
    memory.remember(KEY, 'one', FIRST, late);
    memory.remember(KEY, 'two', FIRST, late);
    failing.fail(new Error('disk full'));
    expect(memory.recognise('t', 'one', FIRST)).toMatchObject({ kind: 'duplicate', commit: late.promise });
    expect(memory.recognise('t', 'two', FIRST)).toMatchObject({ kind: 'duplicate', commit: late.promise });
  });

  test('answers as a list of the latest steps would', () => {
    const trace = fc.constantFrom('one', 'two', 'three', 'four', 'five');
    const tenant = fc.constantFrom('t', 'u');
    const hash = fc.constantFrom(...HASHES);
    const remembered = fc.record({ tenant, trace, hash, session: fc.constantFrom('s', 's2') });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(remembered, { maxLength: 30 }), (bound, steps) => {
        const memory = new StepMemory(bound);
        for (const step of steps)
          memory.remember(sessionKey(step.tenant, step.session), step.trace, step.hash, null);
        const kept = steps.slice(-bound).reverse();
        for (const asked of steps) {
          const ofTrace = kept.filter((step) => step.tenant === asked.tenant && step.trace === asked.trace);
          const same = ofTrace.find((step) => step.hash === asked.hash);
          const key: SessionKey | undefined = same && sessionKey(same.tenant, same.session);
          const expected = key
            ? { kind: 'duplicate', key, commit: null }
            : { kind: ofTrace.length > 0 ? 'reused_trace_id' : 'new' };
          expect(memory.recognise(asked.tenant, asked.trace, asked.hash)).toEqual(expected);
          expect(memory.sessionOf(asked.tenant, asked.trace)).toBe(ofTrace[0]?.session);
        }
      }),
    );
  });
});
