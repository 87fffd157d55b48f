import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { canonicalHash } from './canonical-hash.js';

const textBytes = (kind: 's' | 'e', text: string): Buffer => {
  const head = Buffer.from(`${kind}0000`);
  head.writeUInt32LE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
};
/** As the header of the module has it. */
const spelled = (texts: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from('['),
    ...texts.map((text) =>
      Buffer.from(text).toString() === text ? textBytes('s', text) : textBytes('e', JSON.stringify(text)),
    ),
    Buffer.from(']'),
  ]);

it.each(['a', 'é', '漢', '🧭', 'a🧭', '\udc00a'])(
  'hashes texts of %j as they are spelled, however long',
  (unit) => {
    const lengths = [1, 32, 65_535, 65_536, 65_537, 174_760, 524_288, 1_500_000];
    const texts = lengths.map((length) => unit.repeat(length).slice(0, length));
    for (const value of [...texts.map((text) => [text]), texts, [...texts, ...texts.toReversed()]])
      expect(canonicalHash(value)).toBe(createHash('sha256').update(spelled(value)).digest('hex'));
  },
);

it('forgets a long value that it gave up', () => {
  const text = 'x'.repeat(1_000_000);
  const known = canonicalHash([text]);
  expect(canonicalHash([text, 2 ** 53])).toBeNull();
  expect(canonicalHash([text])).toBe(known);
});
