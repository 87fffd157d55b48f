import { expect, test } from 'vitest';
import { KeyMask, MaskedReader, maskKey, maskKeyInHeaders } from './key-mask.js';

const KEY = 'abcabcabd-7';
const STARS = '*'.repeat(KEY.length);

/** What goes on of a text that comes in pieces of so many bytes. */
function masked(text: string, pieceBytes: number): string {
  const mask = KeyMask.for(KEY) as KeyMask;
  const bytes = Buffer.from(text);
  const passed: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    passed.push(mask.push(bytes.subarray(at, at + pieceBytes)));
  return Buffer.concat([...passed, mask.finish()]).toString();
}

test.each([
  'nothing of it',
  KEY,
  `${KEY}${KEY}`,
  `${KEY} and ${KEY}, not ${KEY}`,
  `a${KEY}`,
  `abcabcabcabd-7, which is abc and the key`,
  `${KEY.slice(1)} ${KEY} café ${KEY.slice(0, -1)}`,
  '',
])('in %j the key is hidden, however it is cut', (text) => {
  for (let pieceBytes = 1; pieceBytes <= text.length + 1; pieceBytes += 1)
    expect(masked(text, pieceBytes)).toBe(text.replaceAll(KEY, STARS));
});

test('no more is held back than what the key begins with', () => {
  const mask = KeyMask.for(KEY) as KeyMask;
  expect(mask.push(Buffer.from('an error. ')).toString()).toBe('an error. ');
  expect(mask.push(Buffer.from('abcab')).toString()).toBe('');
  expect(mask.push(Buffer.from('x')).toString()).toBe('abcabx');
});

test('a word that is no secret stays, in headers and bodies', () => {
  const headers = ['server', 'ollama'];
  maskKeyInHeaders(headers, 'ollama');
  expect([headers, KeyMask.for('ollama'), KeyMask.for(null)]).toEqual([['server', 'ollama'], null, null]);
});

test('a header says it without the key, and the others as they came', () => {
  const headers = ['server', 'abcabcabd', 'x-echo', `${KEY}, ${KEY}`];
  maskKeyInHeaders(headers, KEY);
  expect(headers).toEqual(['server', 'abcabcabd', 'x-echo', `${STARS}, ${STARS}`]);
});

test('a text says it without the key, which has at least eight characters', () => {
  expect(maskKey('seven-7 and eight-88, eight-88', 'eight-88')).toBe('seven-7 and ********, ********');
  expect(maskKey('seven-7', 'seven-7')).toBe('seven-7');
});

test('who reads along reads no key, and all else to the end', () => {
  const read: string[] = [];
  const reader = { push: (bytes: Buffer) => void read.push(bytes.toString()), finish: () => read.join('') };
  const masked = new MaskedReader(reader, KeyMask.for(KEY) as KeyMask);
  for (const piece of ['your key ', KEY.slice(0, 4), `${KEY.slice(4)} is bad, a`, 'bc'])
    masked.push(Buffer.from(piece));
  expect(masked.finish()).toBe(`your key ${STARS} is bad, abc`);
});
