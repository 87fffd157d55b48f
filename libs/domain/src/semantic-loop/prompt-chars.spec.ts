import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutPrompt, excerptOf, PROMPT_CHARS_MAX } from './prompt-chars.js';

it('leaves a well-formed prompt that is short enough as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(cutPrompt(text)).toBe(text);
    }),
  );
  expect(cutPrompt('x'.repeat(PROMPT_CHARS_MAX))).toHaveLength(PROMPT_CHARS_MAX);
});

it('never leaves half a character at the cut', () => {
  const before = 'x'.repeat(PROMPT_CHARS_MAX - 1);
  expect(cutPrompt(`${before}\u{1F9ED}`)).toBe(before);
  expect(cutPrompt(`${before}yz`)).toBe(`${before}y`);
});

it('puts a replacement for what is no character, and does so once', () => {
  expect(cutPrompt('a\udc00\ud800b')).toBe('a\ufffd\ufffdb');
  expect(cutPrompt(cutPrompt('a\ud800'))).toBe('a\ufffd');
});

it('excerpts a long prompt by its beginning and its end', () => {
  const long = `first ${'x'.repeat(10_000_000)} last`;
  const excerpt = excerptOf(long);
  expect(excerpt.length).toBeLessThanOrEqual(PROMPT_CHARS_MAX);
  expect(excerpt.startsWith('first x')).toBe(true);
  expect(excerpt.endsWith('x last')).toBe(true);
  expect(excerptOf('short')).toBe('short');
});
