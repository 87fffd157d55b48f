/**
 * The webhook sender against real sockets. Loopback's many addresses stand for the world: 127.0.0.2 is told to be public,
 * 127.0.0.1 is as private as ever.
 */
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebhookSender } from '#adapters/webhook';
import { isPublicAddress } from '#domain/alerts';
import { type Receiver, startReceiver, status } from './http-receiver.js';

let outside: Receiver;
let inside: Receiver;
const names: Record<string, string[][]> = {};
const resolved: string[] = [];
const sender = new WebhookSender({
  isPublic: (address) => address === '127.0.0.2' || isPublicAddress(address),
  resolve: async (hostname) => {
    resolved.push(hostname);
    const answers = names[hostname] ?? [];
    const addresses = answers.length > 1 ? answers.shift() : answers[0];
    if (addresses === undefined)
      throw Object.assign(new Error(`getaddrinfo ${hostname}`), { code: 'ENOTFOUND' });
    return addresses.map((address) => ({ address, family: 4 }));
  },
});
const portOf = (receiver: Receiver): string => new URL(receiver.url).port;
const outsideAt = (host: string, path = '/'): string => `http://${host}:${portOf(outside)}${path}`;
const send = (url: string, changes: { allowPrivate?: boolean; timeoutMs?: number } = {}) =>
  sender.send({ url, body: '{"a":1}', headers: { 'x-test': 'yes' }, allowPrivate: false, ...changes });

beforeAll(async () => {
  outside = await startReceiver({ host: '127.0.0.2' });
  inside = await startReceiver();
});
afterAll(() => Promise.all([outside.close(), inside.close()]));
beforeEach(() => {
  for (const one of [outside, inside]) Object.assign(one, { answer: status(204) }).received.length = 0;
  resolved.length = 0;
  for (const name of Object.keys(names)) delete names[name];
});

describe('a webhook', () => {
  it('is posted as it is, with its headers', async () => {
    names['hooks.test'] = [['127.0.0.2']];
    expect(await send(outsideAt('hooks.test', '/path?q=1'))).toEqual({ ok: true });
    expect(outside.received).toMatchObject([
      {
        method: 'POST',
        path: '/path?q=1',
        body: '{"a":1}',
        headers: { 'x-test': 'yes', 'content-type': 'application/json' },
      },
    ]);
    expect(outside.received[0]?.headers.host).toBe(`hooks.test:${portOf(outside)}`);
  });

  it.each([
    ['an address of this machine', () => inside.url],
    ['its decimal spelling', () => `http://2130706433:${portOf(inside)}/`],
    ['its octal spelling', () => `http://0177.0.0.1:${portOf(inside)}/`],
    ['its IPv6-mapped spelling', () => `http://[::ffff:127.0.0.1]:${portOf(inside)}/`],
    ["a cloud's metadata", () => 'http://169.254.169.254/latest/meta-data/'],
    ['a name that leads inside', () => `http://inside.test:${portOf(inside)}/`],
  ])('to %s is refused for good, and nothing is connected to', async (_, url) => {
    names['inside.test'] = [['127.0.0.1']];
    const outcome = await send(url());
    expect(outcome).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringMatching(/^refused: .*private/),
    });
    expect(inside.received).toEqual([]);
  });

  it('goes inside where that is allowed', async () => {
    expect(await send(inside.url, { allowPrivate: true })).toEqual({ ok: true });
  });

  it('never goes to metadata or a link-local address, also where it may go inside', async () => {
    names['metadata.test'] = [['169.254.169.254']];
    for (const url of ['http://169.254.169.254/', 'http://[fe80::1]/', 'http://metadata.test/'])
      expect(await send(url, { allowPrivate: true })).toEqual({
        ok: false,
        retryable: false,
        reason: expect.stringMatching(/^refused: .*metadata/),
        retryAfterMs: null,
      });
  });

  it('connects to the very address that was checked: a name that changes its mind is asked once', async () => {
    names['rebinding.test'] = [['127.0.0.2'], ['127.0.0.1']];
    expect(await send(outsideAt('rebinding.test'))).toEqual({ ok: true });
    expect(resolved).toEqual(['rebinding.test']);
    expect([outside.received.length, inside.received.length]).toEqual([1, 0]);
  });

  it('of a name with inside and outside addresses goes outside only', async () => {
    names['both.test'] = [['127.0.0.1', '127.0.0.2']];
    expect(await send(outsideAt('both.test'))).toEqual({ ok: true });
    expect(outside.received).toHaveLength(1);
  });
});

describe('a redirect', () => {
  it('that keeps the body is followed with it', async () => {
    outside.answer = ({ path }, response) => {
      if (path === '/') response.writeHead(307, { location: '/next' }).end();
      else response.writeHead(200).end();
    };
    expect(await send(outside.url)).toEqual({ ok: true });
    expect(outside.received.map(({ path, body }) => [path, body])).toEqual([
      ['/', '{"a":1}'],
      ['/next', '{"a":1}'],
    ]);
  });

  it.each([
    ['an address inside', () => inside.url],
    ['a name that leads inside', () => `http://inside.test:${portOf(inside)}/`],
    ['metadata', () => 'http://[fd00:ec2::254]/'],
  ])('to %s is refused', async (_, location) => {
    names['inside.test'] = [['127.0.0.1']];
    outside.answer = status(308, { location: location() });
    expect(await send(outside.url)).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringMatching(/^refused/),
    });
    expect(inside.received).toEqual([]);
  });

  it.each([301, 302, 303])('with %i is not followed, and the reason says why', async (code) => {
    outside.answer = status(code, { location: '/next' });
    expect(await send(outside.url)).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringContaining(`${code}`),
    });
    expect(outside.received).toHaveLength(1);
  });

  it('is followed three times, not four', async () => {
    outside.answer = (_, response) => void response.writeHead(307, { location: '/again' }).end();
    expect(await send(outside.url)).toMatchObject({
      retryable: false,
      reason: 'it redirects more than 3 times',
    });
    expect(outside.received).toHaveLength(4);
  });

  it.each([
    'ftp://example.org/',
    'file:///etc/passwd',
    'http://user:pass@example.org/',
    'http://user@example.org/',
    '',
  ])('to %j is refused', async (location) => {
    outside.answer = status(307, { location });
    expect(await send(outside.url)).toMatchObject({ ok: false, retryable: false });
  });
});

describe('a failure', () => {
  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('with status %i is worth another try: %s', async (code, retryable) => {
    outside.answer = status(code);
    expect(await send(outside.url)).toMatchObject({ ok: false, retryable, reason: `it answers ${code}` });
  });

  it.each([
    ['in seconds', { 'retry-after': '120' }, 120_000],
    ['in more seconds than anybody waits', { 'retry-after': '99999999' }, 99_999_999_000],
    [
      'as a date by its own clock',
      {
        date: 'Thu, 15 Jan 2026 12:00:00 GMT',
        'retry-after': 'Thu, 15 Jan 2026 12:02:00 GMT',
      },
      120_000,
    ],
    [
      'as a date that is past',
      {
        date: 'Thu, 15 Jan 2026 12:00:00 GMT',
        'retry-after': 'Thu, 15 Jan 2026 11:00:00 GMT',
      },
      0,
    ],
    ['in words that are none of these', { 'retry-after': 'in 2 minutes' }, null],
  ])('passes on how long the receiver wants to rest, %s', async (_, headers, retryAfterMs) => {
    outside.answer = status(503, headers);
    expect(await send(outside.url)).toMatchObject({ retryAfterMs });
  });

  it('to answer ends after the time given', async () => {
    outside.answer = () => {};
    expect(await send(outside.url, { timeoutMs: 100 })).toMatchObject({
      retryable: true,
      reason: 'there was no answer within 0.1 s',
    });
  });

  it('of a name server ends in time, too, though the look-up cannot be told to', async () => {
    const waiting = new WebhookSender({ resolve: () => new Promise(() => {}) });
    const delivery = {
      url: 'http://silent.test/',
      body: '',
      headers: {},
      allowPrivate: false,
      timeoutMs: 50,
    };
    expect(await waiting.send(delivery)).toMatchObject({
      retryable: true,
      reason: 'there was no answer within 0.05 s',
    });
  });

  it('of a receiver that never stops answering is none: it was taken, and little is read', async () => {
    let written = 0;
    outside.answer = (_, response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    };
    expect(await send(outside.url, { timeoutMs: 5_000 })).toEqual({ ok: true });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it('of the connection or the name is worth another try, in words without the address', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.2', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    const refused = await send(`http://127.0.0.2:${port}/canary-path?token=canary-query`);
    expect(refused).toMatchObject({ retryable: true, reason: 'the connection was refused (ECONNREFUSED)' });
    const unknown = await send('http://nowhere.test/canary-path');
    expect(unknown).toMatchObject({ retryable: true, reason: 'the host name does not exist (ENOTFOUND)' });
    outside.answer = (_, response) => void response.destroy();
    const reset = await send(`${outside.url}/canary-path`);
    expect(reset).toMatchObject({ ok: false, retryable: true });
    expect(JSON.stringify([refused, unknown, reset])).not.toContain('canary');
  });
});
