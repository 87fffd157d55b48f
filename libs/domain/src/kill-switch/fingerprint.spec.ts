import { describe, expect, it } from 'vitest';
import { fingerprint, hammingDistance, isSimilar, normalise, rawFingerprint } from './index.js';

const distance = (one: string, other: string): number => {
  const [left, right] = [fingerprint(one), fingerprint(other)];
  if (left === null || right === null) throw new Error('empty');
  return hammingDistance(left, right);
};
/** Words of three letters in no order, the same for the same seed. */
const longText = (wordCount: number, seed = 1): string => {
  let state = seed;
  const letters = Array.from({ length: wordCount * 3 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  });
  return letters.join('').replace(/.../g, '$& ').trim();
};

describe('fingerprint', () => {
  it.each([
    ['case', 'Retry the UPLOAD', 'retry the upload'],
    ['white space', '  retry\n\n the\tupload ', 'retry the upload'],
    ['white space around a sign', 'retry( the , upload )', 'retry (the, upload)'],
    ['numbers', 'retry order 17', 'retry order 90210'],
    ['numbers of any shape', 'at 3.14, 1,000,000 and 6.02e23', 'at 7, 12 and 0x7ffe'],
    ['numbers with a unit', 'took 10ms, 4th try', 'took 250ms, 17th try'],
    ['numbers behind a hyphen or underscore', 'order-17 user_17', 'order-4 user_99'],
    ['addresses', 'ping 192.168.0.1', 'ping 10.0.0.77'],
    ['UUIDs', 'get 550e8400-e29b-41d4-a716-446655440000 now', 'get DEADBEEF-0000-4000-8000-00000000000a now'],
    [
      'UUIDs in quotes',
      '{"id":"550e8400-e29b-41d4-a716-446655440000"}',
      '{"id":"f50e8400-e29b-41d4-a716-446655440001"}',
    ],
    ['timestamps', 'since 2026-01-31T12:00:00Z', 'since 2025-11-02T07:15:59.123456+02:00'],
    ['dates', 'on 2026-01-31, please', 'on 1999-12-24, please'],
    ['timestamps with a space', '[2026-01-31 12:00:00,123] start', '[2025-11-02  07:15:59,9] start'],
    ['case in other scripts', 'ÄPFEL für Ελένη и МИР', 'äpfel FÜR ελένη И мир'],
    ['the two small sigmas', 'ΟΔΟΣ', 'οδος'],
    ['white space in other scripts', 'a\u00a0b\u3000c\u2003d', 'a b c d'],
  ])('is the same for other %s', (_what, one, other) => {
    expect(normalise(one).replaceAll(' ', '')).toBe(normalise(other).replaceAll(' ', ''));
    expect(distance(one, other)).toBe(0);
  });

  it.each([
    ['a name with a digit', 'ask gpt4 about h2o', 'ask gpt5 about h2o'],
    ['hex-like words', 'deadbeef', 'cafebabe'],
    ['face and fade', 'the face', 'the fade'],
    ['a hash that is no UUID', 'commit a94a8fe5ccb19ba6', 'commit b94a8fe5ccb19ba6'],
    ['a number instead of a word', 'take seven', 'take 7'],
    ['a UUID instead of a number', 'take 550e8400-e29b-41d4-a716-446655440000', 'take 7'],
    ['an almost UUID', 'x deadbeef-dead-beef-dead-beefdeadbeex', 'x cafebabe-dead-beef-dead-beefdeadbeex'],
    ['signs', 'is a < b?', 'is a > b?'],
    ['joined words', 'now here', 'nowhere'],
    ['one word of a question', 'What is the capital of France?', 'What is the capital of Spain?'],
    ['the last word of a longer one', `${longText(30)} dog`, `${longText(30)} cat`],
    ['the first word of a longer one', `dog ${longText(30)}`, `cat ${longText(30)}`],
    ['the order of words', 'dog bites man', 'man bites dog'],
    ['ideographs', '今天天气很好', '今天天气不好'],
    ['emoji', '👍', '👎'],
    ['accents', 'résumé', 'resume'],
    ['greetings', 'hi', 'hello'],
  ])('tells apart: %s', (_what, one, other) => {
    expect(distance(one, other)).toBeGreaterThanOrEqual(3);
  });

  it.each(['', ' ', ' \n\t\r ', '\u00a0\u3000'])(
    'of nothing (%j) is null, and similar to nothing, itself included',
    (text) => {
      expect(fingerprint(text)).toBeNull();
      expect(isSimilar(fingerprint(text), fingerprint(text))).toBe(false);
      expect(isSimilar(fingerprint(text), fingerprint('hello'))).toBe(false);
    },
  );

  it('stays near for a small edit of a long text, and not for another text', () => {
    const text = longText(20_000);
    const words = text.split(' ');
    words[7_000] = 'zebra';
    expect(distance(text, words.join(' '))).toBeLessThan(3);
    expect(distance(text, longText(20_000, 5))).toBeGreaterThan(8);
  });

  it('is the same for the same characters, however the engine holds them', () => {
    const twoByte = `${'plain text 17'}\u4e2d`.slice(0, 13);
    const joined = ['plain', ' ', 'text', ' ', '17'].reduce((text, part) => text + part, '');
    expect(distance(twoByte, 'plain text 17')).toBe(0);
    expect(distance(joined, 'plain text 17')).toBe(0);
  });

  it('takes texts of any length and any characters, and one leaves no trace in the next', () => {
    const before = fingerprint('hello there');
    for (const size of [1, 15, 16, 17, 63, 64, 65, 4_095, 4_096, 70_000, 3_000_000]) {
      expect(fingerprint('x'.repeat(size)), `${size}`).not.toBeNull();
      expect(fingerprint('9'.repeat(size)), `${size}`).toEqual(fingerprint('1'));
      expect(fingerprint(' '.repeat(size)), `${size}`).toBeNull();
      expect(fingerprint('\ud800'.repeat(size)), `${size}`).not.toBeNull();
      expect(fingerprint('hello there')).toEqual(before);
    }
  });
});

describe('rawFingerprint', () => {
  it('sees other numbers, case, UUIDs and timestamps', () => {
    const base = rawFingerprint(
      'job 550e8400-e29b-41d4-a716-446655440000 is at 41 % since 2026-01-31T12:00:00Z, OK',
    );
    for (const other of [
      'job 550e8400-e29b-41d4-a716-446655440000 is at 42 % since 2026-01-31T12:00:00Z, OK',
      'job 550e8400-e29b-41d4-a716-446655440001 is at 41 % since 2026-01-31T12:00:00Z, OK',
      'job 550e8400-e29b-41d4-a716-446655440000 is at 41 % since 2026-01-31T12:00:01Z, OK',
      'job 550e8400-e29b-41d4-a716-446655440000 is at 4 1 % since 2026-01-31T12:00:00Z, OK',
    ])
      expect(rawFingerprint(other)?.digits, other).not.toBe(base?.digits);
    expect(rawFingerprint('OK')?.exact).not.toBe(rawFingerprint('ok')?.exact);
  });

  it('knows equal texts by their hash, whatever the amount of white space, and texts without digits by their zero', () => {
    expect(rawFingerprint('a:  1,\n\tb: 2\n')).toEqual(rawFingerprint('a: 1, b: 2'));
    expect(rawFingerprint('running')).toMatchObject({ digits: '0' });
    expect(rawFingerprint(' ')).toBeNull();
  });

  it('sees a digit that changes anywhere in a long text', () => {
    const text = 'line with words only, and more of them. '.repeat(3_000);
    for (const at of [0, 61_111, text.length])
      expect(rawFingerprint(`${text.slice(0, at)}7${text.slice(at)}`)?.digits).not.toBe(
        rawFingerprint(`${text.slice(0, at)}8${text.slice(at)}`)?.digits,
      );
  });
});

describe('hammingDistance', () => {
  it.each([
    [{ hi: 0, lo: 0 }, { hi: 0, lo: 0 }, 0],
    [{ hi: -1, lo: 0 }, { hi: 0, lo: 0 }, 32],
    [{ hi: -1, lo: -1 }, { hi: 0, lo: 0 }, 64],
    [{ hi: -0x80000000, lo: 1 }, { hi: 0, lo: 0 }, 2],
    [{ hi: 5, lo: 0xf0 }, { hi: 6, lo: 0x0f }, 10],
  ])('of %j and %j is %d', (one, other, bits) => {
    expect(hammingDistance(one, other)).toBe(bits);
  });

  it('below 3 is similar, 3 is not', () => {
    expect(isSimilar({ hi: 0, lo: 0b11 }, { hi: 0, lo: 0 })).toBe(true);
    expect(isSimilar({ hi: 1, lo: 0b11 }, { hi: 0, lo: 0 })).toBe(false);
  });
});

describe('normalise', () => {
  it('reads as the rule says', () => {
    expect(
      normalise(
        '  Retry Order-17 (550E8400-E29B-41D4-A716-446655440000)\n at 2026-01-31T12:00:00Z: 3.5 % of gpt4 ',
      ),
    ).toBe('retry order-<NUM> (<ID>) at <TS>: <NUM> % of gpt4');
  });
});
