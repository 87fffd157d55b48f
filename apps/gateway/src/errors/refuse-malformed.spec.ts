import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished, test } from 'vitest';
import { deferred } from '#kernel';
import { refuseMalformed } from './refuse-malformed.js';

/** All that a server of Node's says until it ends the connection. @param later sent once that resolves */
async function said(
  sent: string,
  options: ServerOptions = {},
  handler: RequestListener = () => {},
  later?: { when: Promise<void>; sent: string },
): Promise<string> {
  const server = createServer(options, handler).on('clientError', refuseMalformed);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(sent);
  void later?.when.then(() => socket.write(later.sent));
  return text(socket);
}

const answerOf = (words: string) => JSON.parse(words.slice(words.indexOf('\r\n\r\n')));

test('what is no request is told so in the words of the catalogue, and the connection ends', async ({
  expect,
}) => {
  const words = await said('NONSENSE\r\n\r\n');
  expect(words).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(words).toContain('\r\ncontent-type: application/json; charset=utf-8\r\n');
  expect(words).toContain('\r\nconnection: close\r\n');
  expect(answerOf(words)).toMatchObject({
    status: 'error',
    reason: 'invalid_request',
    detail: expect.stringMatching(/^This is no HTTP request: .+\.$/),
  });
});

test('too large headers are told their bound', async ({ expect }) => {
  const words = await said(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
  expect(words).toMatch(/^HTTP\/1\.1 431 /);
  expect(answerOf(words)).toMatchObject({
    reason: 'headers_too_large',
    detail: expect.stringContaining('16384 bytes'),
  });
});

test('a request that does not arrive in time is told so', async ({ expect }) => {
  const quick = { connectionsCheckingInterval: 20, headersTimeout: 50, requestTimeout: 50 };
  const words = await said('GET / HTTP/1.1\r\nhost:', quick);
  expect(words).toMatch(/^HTTP\/1\.1 408 /);
  expect(answerOf(words)).toMatchObject({ reason: 'request_timeout' });
});

test('an answer under way ends without them', async ({ expect }) => {
  const begun = deferred();
  const handler: RequestListener = (_request, response) => {
    response.writeHead(200).write('half of', () => begun.resolve());
  };
  const later = { when: begun.promise, sent: 'NONSENSE\r\n\r\n' };
  const words = await said('GET / HTTP/1.1\r\nhost: a\r\n\r\n', {}, handler, later);
  expect(words).toMatch(/half of\r\n$/);
});
