/**
 * A webhook whose name is answered by somebody who means harm: a real name server whose answers change from query to query.
 * 127.0.0.2 is told to be public; 127.0.0.1 listens on the same port, so that a connection that goes astray arrives.
 */
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebhookSender } from '#adapters/webhook';
import { isPublicAddress } from '#domain/alerts';
import { type DnsServer, startDnsServer } from './dns-server.js';
import { type Receiver, startReceiver, status } from './http-receiver.js';

const OUTSIDE = '127.0.0.2';
/** Told to be public as well. */
const NOBODY = '127.0.0.3';
const INSIDE = '127.0.0.1';

let dns: DnsServer;
let outside: Receiver;
let inside: Receiver;
let sender: WebhookSender;
let port: number;
beforeAll(async () => {
  dns = await startDnsServer();
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  sender = new WebhookSender({
    isPublic: (address) => [OUTSIDE, NOBODY].includes(address) || isPublicAddress(address),
    resolve: async (hostname) =>
      (await resolver.resolve4(hostname)).map((address) => ({ address, family: 4 })),
  });
  outside = await startReceiver({ host: OUTSIDE });
  port = Number(new URL(outside.url).port);
  inside = await startReceiver({ host: INSIDE, port });
});
afterAll(async () => {
  await Promise.all([outside.close(), inside.close()]);
  dns.close();
});
beforeEach(() => {
  for (const one of [outside, inside]) Object.assign(one, { answer: status(204) }).received.length = 0;
  dns.queried.length = 0;
});

const send = () =>
  sender.send({
    url: `http://rebinding.test:${port}/`,
    body: '{"a":1}',
    headers: {},
    allowPrivate: false,
    timeoutMs: 2_000,
  });
const counts = () => [outside.received.length, inside.received.length];
const REFUSED = { ok: false, retryable: false, reason: expect.stringMatching(/^refused: /) };

describe('a name that leads outside when it is checked and inside a moment later', () => {
  it('is asked for once and connected to as checked; the next delivery is refused', async () => {
    dns.answers = [[OUTSIDE], [INSIDE]];
    expect(await send()).toEqual({ ok: true });
    expect([counts(), dns.queried]).toEqual([[1, 0], ['rebinding.test']]);
    expect(await send()).toMatchObject(REFUSED);
    expect(counts()).toEqual([1, 0]);
  });

  it('is checked anew for a redirect to itself', async () => {
    dns.answers = [[OUTSIDE], [INSIDE]];
    outside.answer = status(307, { location: '/again' });
    expect(await send()).toMatchObject(REFUSED);
    expect(counts()).toEqual([1, 0]);
  });
});

describe('a name with an address outside and one inside', () => {
  it.each([
    ['inside first', [INSIDE, OUTSIDE]],
    ['outside first', [OUTSIDE, INSIDE]],
  ])('leads outside only: %s', async (_, addresses) => {
    dns.answers = [addresses];
    expect(await send()).toEqual({ ok: true });
    expect(counts()).toEqual([1, 0]);
  });

  it('does not lead inside where nobody listens outside', async () => {
    dns.answers = [[NOBODY, INSIDE]];
    expect(await send()).toMatchObject({ ok: false, retryable: true });
    expect(counts()).toEqual([0, 0]);
  });
});
