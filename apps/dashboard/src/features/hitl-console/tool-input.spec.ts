import { describe, expect, it } from 'vitest';
import type { StepView } from '#contracts';
import { editableInput, parseInput } from './tool-input';

const held = (tool_input: unknown) => ({ action: { tool_input } }) as StepView;

describe('parseInput', () => {
  it('gives an object back as an object', () => {
    const step = held({ query: 'a' });
    expect(parseInput(editableInput(step), step)).toEqual({ ok: true, content: { query: 'a' } });
  });

  it('refuses to turn an object into something else', () => {
    expect(parseInput('[1]', held({ query: 'a' })).ok).toBe(false);
    expect(parseInput('{"query":', held({ query: 'a' })).ok).toBe(false);
  });

  it('leaves text as text', () => {
    expect(parseInput('rm -rf build', held('rm -rf /'))).toEqual({ ok: true, content: 'rm -rf build' });
  });

  it('refuses nothing at all', () => {
    expect(parseInput('  ', held(null)).ok).toBe(false);
  });
});
