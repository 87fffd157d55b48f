import { expect, it } from 'vitest';
import { ForwardProxy, readForwardProxy } from './forward-proxy.js';

const NO_PROXY =
  'vllm.lan, .corp.example *.lab.example,10.1.2.3,[fd00::7],fd00::8 [fd00::9]:8443, tei.lan:8443';
const proxy = new ForwardProxy(new URL('http://proxy.lan:3128'), NO_PROXY);

it.each([
  ['api.openai.com', 443, true],
  ['vllm.lan', 443, false],
  ['VLLM.lan', 8_000, false],
  ['a.vllm.lan', 443, false],
  ['myvllm.lan', 443, true],
  ['llm.corp.example', 443, false],
  ['corp.example', 443, false],
  ['a.b.lab.example', 443, false],
  ['10.1.2.3', 443, false],
  ['10.1.2.33', 443, true],
  ['fd00::7', 443, false],
  ['[fd00::7]', 443, false],
  ['fd00::8', 443, false],
  ['[fd00::9]', 8_443, false],
  ['fd00::9', 443, true],
  ['tei.lan', 8_443, false],
  ['tei.lan', 443, true],
  ['localhost', 443, false],
  ['127.0.0.1', 443, false],
  ['::1', 443, false],
])('%s:%i is asked through it: %s', (host, port, isThrough) => {
  expect(proxy.isFor(host, port)).toBe(isThrough);
});

it('passes all by where NO_PROXY is *, and nothing where it is not set', () => {
  expect(readForwardProxy('http://proxy.lan:3128', '*')?.isFor('api.openai.com', 443)).toBe(false);
  expect(readForwardProxy('http://proxy.lan:3128', undefined)?.isFor('vllm.lan', 443)).toBe(true);
});

it('is none where HTTPS_PROXY is not set', () => {
  expect(readForwardProxy(undefined, '*')).toBeNull();
});

it('takes host and port alone for a proxy of HTTP', () => {
  expect(readForwardProxy('ops:hunter22@proxy.lan:3128', undefined)?.url.href).toBe(
    'http://ops:hunter22@proxy.lan:3128/',
  );
});

it.each(['proxy lan', 'socks5://user:hunter22@proxy.lan', 'http://user:100%@proxy.lan'])(
  'refuses %s, and does not repeat it',
  (url) => {
    expect(() => readForwardProxy(url, undefined)).toThrow(
      /^HTTPS_PROXY cannot be used: (?!.*(hunter22|100%@))/,
    );
  },
);

it('shows no password of its own', () => {
  const secret = readForwardProxy('http://user:hunter22@proxy.lan:3128', undefined);
  expect(JSON.stringify({ secret }) + String(secret)).not.toContain('hunter22');
});
