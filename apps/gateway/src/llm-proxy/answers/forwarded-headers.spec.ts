import { describe, expect, it } from 'vitest';
import {
  encodingsOf,
  headerOf,
  isEventStream,
  requestHeaders,
  responseHeaders,
} from './forwarded-headers.js';

/** As Node has them, each with its own name as its value. */
const raw = (...names: string[]): string[] => names.flatMap((name) => [name, `of ${name}`]);

const HOP_BY_HOP = [
  'Connection',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
];

describe('requestHeaders', () => {
  it.each([
    ...HOP_BY_HOP,
    'Host',
    'Content-Length',
    'Expect',
    'Accept-Encoding',
    'Cookie',
    'Forwarded',
    'Via',
    'X-Real-IP',
    'X-Tenant-Id',
    'X-Observatory-Key',
    'X-Forwarded-For',
    'X-Forwarded-Host',
  ])('keeps %s from the upstream', (name) => {
    expect(requestHeaders(raw('Before', name, 'After'), false)).toEqual([
      'before',
      'of Before',
      'after',
      'of After',
    ]);
  });

  it("passes the vendor's keys on, unless one of ours is put in", () => {
    const given = raw('authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'anthropic-version');
    expect(requestHeaders(given, false)).toEqual(given);
    expect(requestHeaders(given, true)).toEqual(raw('anthropic-version'));
  });

  it('keeps back what any Connection header names, in any letters', () => {
    const given = [
      'connection',
      'keep-alive',
      'X-Hop',
      '1',
      'X-Kept',
      '2',
      'Connection',
      'close, X-Hop ,x-other',
    ];
    expect(requestHeaders([...given, 'x-other', '3'], false)).toEqual(['x-kept', '2']);
    const named = ['connection', 'x-one', 'x-one', '1', 'connection', 'x-two', 'x-two', '2'];
    expect(requestHeaders([...named, 'x-kept', 'x-too', 'x-too', '3'], false)).toEqual([
      'x-kept',
      'x-too',
      'x-too',
      '3',
    ]);
  });
});

describe('responseHeaders', () => {
  it.each([
    ...HOP_BY_HOP,
    'Alt-Svc',
    'Clear-Site-Data',
    'NEL',
    'Public-Key-Pins',
    'Public-Key-Pins-Report-Only',
    'Refresh',
    'Report-To',
    'Reporting-Endpoints',
    'Service-Worker-Allowed',
    'Set-Cookie',
    'Set-Login',
    'Strict-Transport-Security',
    'Content-Security-Policy',
    'Content-Security-Policy-Report-Only',
    'X-Content-Type-Options',
    'X-Observatory-Call',
    'X-Observatory-Decision',
  ])('keeps %s from the client', (name) => {
    expect(responseHeaders(raw('Before', name, 'After'), {})).toEqual(raw('Before', 'After'));
  });

  it('keeps back what is replaced, and what Connection names', () => {
    const given = ['CONNECTION', 'x-hop', 'X-Hop', '1', 'Location', '/there', 'Retry-After', '2'];
    expect(responseHeaders(given, { location: '/here' })).toEqual(['Retry-After', '2']);
  });
});

it('reads names and values in any letters', () => {
  const given = ['X-One', '1', 'Content-Type', 'Text/Event-Stream; charset=utf-8'];
  expect(headerOf(given, 'content-type')).toBe('Text/Event-Stream; charset=utf-8');
  expect(headerOf(given, 'x-two')).toBeUndefined();
  expect(headerOf(['vary', 'content-type', 'content-type', 'text/plain'], 'content-type')).toBe('text/plain');
  expect(isEventStream(given)).toBe(true);
  expect(isEventStream(['content-type', 'application/json; of="text/event-stream"'])).toBe(false);
  expect(isEventStream([])).toBe(false);
});

it('tells the encodings of all such headers, in their order, and none for a plain answer', () => {
  const given = ['content-encoding', 'GZIP, identity', 'x-encoding-of', 'zstd', 'Content-Encoding', ', br'];
  expect(encodingsOf(given)).toEqual(['gzip', 'br']);
  expect(encodingsOf(['content-language', 'gzip', 'vary', 'content-encoding', 'x-next', 'br'])).toEqual([]);
});
