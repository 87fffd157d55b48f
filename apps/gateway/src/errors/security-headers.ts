/** Headers every answer carries, so that what the gateway serves can neither be framed nor be made to run foreign code. */
import type { FastifyInstance } from 'fastify';

const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  // Its own live socket among them: browsers that this page is built for count ws: and wss: of its origin to it.
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Answers of the API are data: nothing in them may run or be sniffed, and no cache keeps them unless told to. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** Of an answer in JSON that no framework sends: names and values in turns, as `writeHead` takes them fastest. */
export const JSON_HEADERS: readonly string[] = [
  'content-type',
  'application/json; charset=utf-8',
  ...Object.entries(API_HEADERS).flat(),
];

/**
 * Answers of the proxy are a stranger's bytes under our own origin, where the dashboard's login lives. Should a browser
 * show one as a page all the same, the page is of no origin, runs nothing and loads nothing; programs take no notice.
 */
export const PROXY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/**
 * Sets them as a request arrives, so that a handler may still say otherwise and errors carry them too. About 1 us a
 * request. By the route that takes it: its path may come with escapes that it does not need.
 */
export function registerSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const path = request.routeOptions.url ?? request.url;
    reply.headers(path.startsWith('/v1/') ? API_HEADERS : SECURITY_HEADERS);
    done();
  });
}
