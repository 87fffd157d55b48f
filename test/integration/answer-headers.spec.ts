/**
 * What a browser may make of an answer, whoever gives it: nothing in it runs, is sniffed or is framed, and what is private no
 * cache keeps, nor the button that leads back after a logout. However the path is written, and where nothing was understood.
 */
import { expect, it } from 'vitest';
import { OPERATOR_TOKEN } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway();

const headersOf = async (path: string, method = 'GET') => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'x-observatory-operator-id': 'tester' },
  });
  await response.text();
  return response.headers;
};

it.each([
  ['a listing', '/v1/sessions'],
  ['a listing whose path has escapes that it does not need', '/%76%31/sessions'],
  ['an export', '/v1/audit/export'],
  ['something unknown', '/v1/sessions/unknown'],
  ['no route', '/v1/nonsense'],
  ['a path that cannot be read', '/v1/sessions/%ff'],
  ['a live socket that polls', '/socket.io/?EIO=4&transport=polling'],
  ['a live socket that is none', '/socket.io/nonsense'],
])('of %s: data that no cache keeps', async (_, path) => {
  const headers = await headersOf(path);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toBe("default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

it.each(['/', '/docs', '/login', '/assets/nonsense.js', '/metrics'])(
  'of %s: not to be framed',
  async (path) => {
    const headers = await headersOf(path);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);
