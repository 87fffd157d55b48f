import { expect, it } from 'vitest';
import { ForwardProxy, readForwardProxy } from './forward-proxy.js';

const NO_PROXY =
  'vllm.lan, .corp.example *.lab.example,10.1.2.3,[fd00::7],fd00::8 [fd00::9]:8443, tei.lan:8443,172.16.0.0/12 fd12::/16,[fd13::]/16,10.9.0.1/32';
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
  ['fd00:0:0::7', 443, false],
  ['172.31.255.255', 443, false],
  ['::ffff:172.20.0.1', 443, false],
  ['172.32.0.0', 443, true],
  ['fd12:1::1', 8_443, false],
  ['[fd13::5]', 443, false],
  ['fd14::1', 443, true],
  ['10.9.0.1', 443, false],
  ['10.9.0.2', 443, true],
  ['172.16.0.0.example.org', 443, true],
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

it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/255.0.0.0', 'fd00::/129', '10.0.0.0/-1', '10.0.0.0/8/8'])(
  'refuses %s in NO_PROXY, and says why',
  (network) => {
    expect(() => readForwardProxy('http://proxy.lan:3128', `vllm.lan,${network}`)).toThrow(
      new RegExp(`^NO_PROXY=${JSON.stringify(network)} .*count of its bits, 0 to (32|128)`),
    );
  },
);

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
