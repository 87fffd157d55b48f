import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileEntryPattern, compileGlob } from './entry-names.js';

/** The textbook definition, exponential and obviously right. */
function matchesSlowly(pattern: string[], text: string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  if (first === '*')
    return matchesSlowly(rest, text) || (text.length > 0 && matchesSlowly(pattern, text.slice(1)));
  return text.length > 0 && (first === '?' || first === text[0]) && matchesSlowly(rest, text.slice(1));
}

it('matches as the definition of a glob says', () => {
  const pattern = fc.string({ unit: fc.constantFrom('*', '?', 'a', 'b', '\u{1f600}', '.'), maxLength: 7 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}', '.'), maxLength: 9 });
  fc.assert(
    fc.property(pattern, text, (one, other) => {
      expect(compileGlob(one)(other)).toBe(matchesSlowly([...one], [...other]));
    }),
    { numRuns: 3_000 },
  );
});

it('matches any text with itself, and knows nothing of regular expressions', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const literal = text.replaceAll(/[*?]/g, '_');
      expect(compileGlob(literal)(literal)).toBe(true);
      expect(compileGlob(`${literal}*`)(literal + text)).toBe(true);
      expect(compileGlob(literal)(`${literal}x`)).toBe(false);
    }),
  );
});

it('does not take one kind of name for another', () => {
  const entry = { key: 'f'.repeat(64), agent_id: 'openai', upstream: 'billing', model: 'gpt' };
  const matches = (pattern: string): boolean => compileEntryPattern(pattern)(entry);
  expect(['agent:openai', 'upstream:billing', 'model:gpt', 'f*', '*'].map(matches)).toEqual(
    Array(5).fill(true),
  );
  expect(['agent:billing', 'upstream:openai', 'openai', 'gpt', 'model:'].map(matches)).toEqual(
    Array(5).fill(false),
  );
  expect(compileEntryPattern('model:*')({ ...entry, model: null })).toBe(false);
});
