import { describe, expect, it } from 'vitest';
import { emphasise, WORDS_MAX } from './word-emphasis';

const marked = (text: string, ...references: string[]) =>
  emphasise(text, ...references)
    .map((run) => (run.isShared ? `[${run.text}]` : run.text))
    .join('');

describe('emphasise', () => {
  it('marks a text that is the same as one run', () => {
    expect(marked('Where is order 17?', 'Where is order 17?')).toBe('[Where is order 17?]');
  });

  it('leaves out what changed', () => {
    expect(marked('Where is order 17 now?', 'where is order 18 now?')).toBe('[Where is order] 17 [now?]');
    expect(marked('Please, where is it', 'where is it')).toBe('Please, [where is it]');
  });

  it('looks past case and the punctuation around a word, and not past the sign of a number', () => {
    expect(marked('Find “Q3” now!', 'find q3, now')).toBe('[Find “Q3” now!]');
    expect(marked('Set it to -5', 'set it to 5')).toBe('[Set it to] -5');
    expect(marked('?', '!')).toBe('?');
  });

  it('keeps order: a word elsewhere is no repetition', () => {
    expect(marked('b a', 'a b')).toMatch(/^(\[b\] a|b \[a\])$/);
  });

  it('marks of several others what any of them shares, and nothing beside none', () => {
    expect(marked('Where is order 17 now?', 'Where is it', 'order 16 now')).toBe(
      '[Where is order] 17 [now?]',
    );
    expect(marked('Where is it?')).toBe('Where is it?');
  });

  it('is the whole text again, white space and line feeds included', () => {
    const text = '  one\n two\tthree  ';
    expect(
      emphasise(text, 'one three')
        .map((run) => run.text)
        .join(''),
    ).toBe(text);
  });

  it('finds nothing in empty texts', () => {
    expect(emphasise('', 'a')).toEqual([]);
    expect(marked('a', '')).toBe('a');
    expect(marked('   ', 'a')).toBe('   ');
  });

  it('compares very long texts only as wholes', () => {
    const long = 'word '.repeat(WORDS_MAX + 1);
    expect(emphasise(long, long)).toEqual([{ text: long, isShared: true }]);
    expect(emphasise(long, 'word')).toEqual([{ text: long, isShared: false }]);
  });
});
