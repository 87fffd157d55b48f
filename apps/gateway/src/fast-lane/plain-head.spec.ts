import { expect, test } from 'vitest';
import { HEAD_BYTES_MAX, PlainHeads } from './plain-head.js';

const read = (text: string, heads = new PlainHeads()) => heads.read(Buffer.from(text, 'latin1'));

const head = (...lines: string[]): string =>
  `${['POST /v1/decision-logs HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`;
const plain = ['Host: localhost:4000', 'Content-Length: 12'];

test('reads who sends what, and how much of it', () => {
  const text = head(
    ...plain,
    'AUTHORIZATION:Bearer oak_1',
    'content-type: \tapplication/json  ',
    'X-Observatory-Key: oak_2',
  );
  expect(read(text)).toEqual({
    head: {
      path: '/v1/decision-logs',
      authorization: 'Bearer oak_1',
      observatoryKey: 'oak_2',
      contentType: 'application/json',
    },
    bodyAt: text.length,
    byteCount: 12,
  });
});

test('what clients send along changes nothing', () => {
  const others = [
    'User-Agent: undici',
    'Accept: */*',
    'Accept-Encoding: gzip, deflate',
    'Connection: Keep-Alive',
  ];
  expect(read(head(...plain, ...others))).toMatchObject({ byteCount: 12 });
});

test.each<[string, string]>([
  ['another method', head(...plain).replace('POST', 'PUT')],
  ['another version', head(...plain).replace('HTTP/1.1', 'HTTP/1.0')],
  ['a query', head(...plain).replace('-logs', '-logs?a=1')],
  ['a way up', head(...plain).replace('/v1/', '/v1/../v1/')],
  ['a whole URL', head(...plain).replace(' /v1', ' http://localhost/v1')],
  ['two spaces', head(...plain).replace('POST ', 'POST  ')],
  ['no host', head('Content-Length: 12')],
  ['an empty host', head('Host:', 'Content-Length: 12')],
  ['two hosts', head(...plain, 'Host: other')],
  ['no length', head('Host: a')],
  ['two lengths', head(...plain, 'content-length: 12')],
  ['a length with a sign', head('Host: a', 'Content-Length: +12')],
  ['a length in hexadecimals', head('Host: a', 'Content-Length: 0x12')],
  ['a tab behind a length', head('Host: a', 'Content-Length: 12\t')],
  ['a tab before a length', head('Host: a', 'Content-Length:\t12')],
  ['a list of lengths', head('Host: a', 'Content-Length: 12, 12')],
  ['a length with a zero ahead', head('Host: a', 'Content-Length: 012')],
  ['chunks', head(...plain, 'Transfer-Encoding: chunked')],
  ['a compressed body', head(...plain, 'Content-Encoding: gzip')],
  ['a question before the body', head(...plain, 'Expect: 100-continue')],
  ['an offer of another protocol', head(...plain, 'Upgrade: h2c')],
  ['a connection that ends', head(...plain, 'Connection: close')],
  ['a connection with options', head(...plain, 'Connection: keep-alive, Upgrade')],
  ['two keys', head(...plain, 'Authorization: Bearer a', 'authorization: Bearer b')],
  ['two types', head(...plain, 'Content-Type: application/json', 'Content-Type: text/plain')],
  ['a space before the colon', head(...plain, 'Authorization : Bearer a')],
  ['a line that goes on', head(...plain, 'X-A: 1', ' 2')],
  ['a line feed alone', head(...plain, 'X-A: 1\nTransfer-Encoding: chunked')],
  ['a carriage return alone', head(...plain, 'X-A: 1\rTransfer-Encoding: chunked')],
  ['a NUL', head(...plain, 'X-A: \0')],
  ['no name', head(...plain, ': 1')],
  ['no colon', head(...plain, 'X-A')],
  ['more headers than anybody sends', head(...plain, ...Array.from({ length: 40 }, (_, at) => `X-${at}: 1`))],
])('%s is not plain', (_what, text) => {
  expect(read(text)).toBeNull();
});

test('a head ends behind its empty line, within its bound', () => {
  const text = head(...plain);
  expect(read(`${text}{"a":"\r\n\r\n"}`)?.bodyAt).toBe(text.length);
  expect(read(text.slice(0, -1))).toBeNull();
  const longest = head(...plain, `X-A: ${'a'.repeat(HEAD_BYTES_MAX - head(...plain, 'X-A: ').length)}`);
  expect(read(longest)?.bodyAt).toBe(HEAD_BYTES_MAX);
  expect(read(longest.replace('aa', 'aaa'))).toBeNull();
});

test('a head that says the same of another length is the same head', () => {
  const heads = new PlainHeads();
  const textOf = (length: string, key: string) =>
    head('Host: a', `Content-Length:  ${length}`, `Authorization: Bearer ${key}`);
  const of = (length: string, key = 'oak_1') => read(textOf(length, key), heads);
  const first = of('12');
  expect(of('12')?.head).toBe(first?.head);
  expect(of('9')).toEqual({ head: first?.head, bodyAt: textOf('9', 'oak_1').length, byteCount: 9 });
  expect(of('100000')?.head).toBe(first?.head);
  const other = of('12', 'oak_2');
  expect(other?.head.authorization).toBe('Bearer oak_2');
  expect(of('9', 'oak_2')?.head).toBe(other?.head);
});

test.each(['', '012', '+1', '1 2', '1, 2', '0x1', '1234567890', '1\r\nTransfer-Encoding: chunked'])(
  'a head that was read makes none plain whose length is %j',
  (length) => {
    const heads = new PlainHeads();
    const text = (said: string) => head('Host: a', `Content-Length: ${said}`, 'Accept: */*');
    expect(read(text('12'), heads)).not.toBeNull();
    expect(read(text(length), heads)).toBeNull();
  },
);

test('half of a head that was read is not all of it', () => {
  const heads = new PlainHeads();
  const text = head('Host: a', 'Content-Length: 12', 'Accept: */*');
  expect(read(text, heads)).not.toBeNull();
  for (let length = 0; length < text.length; length += 1)
    expect(read(text.slice(0, length), heads)).toBeNull();
  expect(read(`${text}{}`, heads)).toMatchObject({ bodyAt: text.length, byteCount: 12 });
});

test('a length that also stands elsewhere is found in its own place', () => {
  const heads = new PlainHeads();
  const text = (said: string) => head('Host: a12', 'X-A: 12', `content-length: ${said}`, 'X-B: 12');
  expect(read(text('12'), heads)?.byteCount).toBe(12);
  expect(read(text('345'), heads)?.byteCount).toBe(345);
});

test('a head that is made to be tried in many ways takes no longer than another of its length', () => {
  const blanks = ' '.repeat(3_000);
  const costOf = (text: string): number => {
    const rounds = Array.from({ length: 10 }, () => {
      const startedMs = performance.now();
      for (let count = 0; count < 20; count += 1) read(text);
      return performance.now() - startedMs;
    });
    // What else the machine does takes its time from some rounds, not from all.
    return Math.min(...rounds);
  };
  const ordinary = head(...plain, `X-A: ${'a'.repeat(3_000)}`);
  costOf(ordinary);
  for (const made of [
    `X-A:${blanks}\x7f`,
    `X-A: a${blanks}\x7f`,
    `X-A:${' \t'.repeat(1_500)}\0`,
    `${'X'.repeat(3_000)} : a`,
  ])
    expect(costOf(head(...plain, made))).toBeLessThan(50 * costOf(ordinary));
});
