import { describe, expect, test } from 'vitest';
import type { ProxyCall } from '../proxy-call.js';
import { ownOriginOf, ownPath } from './own-addresses.js';

describe('the origin by which callers find the gateway', () => {
  const forwarded = { 'x-forwarded-proto': 'http, https', 'x-forwarded-host': 'ops.example.org' };
  const headers = { host: 'gateway:4000', ...forwarded };

  test('is the public one where there is one', () => {
    const ownOrigin = ownOriginOf({ publicUrl: 'https://public.example.org', trustProxy: true });
    expect(ownOrigin(headers)).toBe('https://public.example.org');
  });

  test('is as they called it, and as the proxy in front says only where that one is trusted', () => {
    const ownOrigin = (trustProxy: boolean) => ownOriginOf({ publicUrl: null, trustProxy });
    expect(ownOrigin(false)(headers)).toBe('http://gateway:4000');
    expect(ownOrigin(true)(headers)).toBe('https://ops.example.org');
    expect(ownOrigin(true)({ host: 'gateway:4000' })).toBe('http://gateway:4000');
  });

  test('is left out for who names none', () => {
    expect(ownOriginOf({ publicUrl: null, trustProxy: false })({})).toBe('');
  });
});

describe('an address of the upstream', () => {
  const callTo = (basePath: string, kind: string) =>
    ({
      upstream: { origin: 'https://up.example', basePath, kind },
      path: '/files/f',
      target: { path: '/files/f', query: '?a=1' },
      incoming: { url: '/agents/a%20b/proxy/up/files/f?a=1' },
    }) as unknown as ProxyCall;

  test.each([
    ['https://up.example/base/x?b=%2F#c', '/agents/a%20b/proxy/up/x?b=%2F#c'],
    ['//up.example/base', '/agents/a%20b/proxy/up'],
    ['g', '/agents/a%20b/proxy/up/files/g'],
    ['/based/x', null],
    ['/base/../admin', null],
    ['/base/%2e%2e/admin', null],
    ['http://up.example/base/x', null],
    ['https://up.example:444/base/x', null],
    ['https://up.example.evil/base/x', null],
    ['mailto:someone@up.example', null],
    ['https://', null],
  ])('is ours below the base alone: %s', (address, path) => {
    expect(ownPath(callTo('/base', 'anthropic'), address)).toBe(path);
  });

  test("has the version of OpenAI's base URLs before it", () => {
    expect(ownPath(callTo('/serve/v1', 'openai'), '/serve/v1/files')).toBe('/agents/a%20b/proxy/up/v1/files');
    expect(ownPath(callTo('', 'gemini'), '/v1beta/files')).toBe('/agents/a%20b/proxy/up/v1beta/files');
  });
});
