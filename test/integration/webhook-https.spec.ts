/**
 * A webhook over TLS, in a process of its own: what certificates Node trusts is settled when it starts. Takes the built
 * sender.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from './http-receiver.js';
import { isOpensslMissing, type SelfSigned, selfSigned } from './self-signed.js';

const HOST = '127.0.0.1';
const ROOT = resolve(import.meta.dirname, '../..');
const SEND = `
import { NameLookup } from '#adapters/dns';
import { WebhookSender } from '#adapters/webhook';
const names = new NameLookup();
const resolve = names.addressesOf.bind(names);
const [url] = process.argv.slice(1);
const delivery = { url, body: '{"a":1}', headers: {}, allowPrivate: true };
console.log(JSON.stringify(await new WebhookSender({ resolve }).send(delivery)));
`;

describe.skipIf(isOpensslMissing)('a webhook over https', () => {
  let tls: SelfSigned;
  let secure: Server;
  let url: string;
  let plain: Receiver;
  /** Path -> where it redirects to; nothing: it is taken. */
  let redirects: Record<string, string>;
  let received: string[];

  beforeAll(async () => {
    tls = selfSigned(`IP:${HOST}`);
    secure = createServer(tls, async (request, response) => {
      await once(request.resume(), 'end');
      const { url: path = '' } = request;
      received.push(path);
      const location = redirects[path];
      response.writeHead(location === undefined ? 204 : 307, location === undefined ? {} : { location });
      response.end();
    }).listen(0, HOST);
    await once(secure, 'listening');
    url = `https://${HOST}:${(secure.address() as AddressInfo).port}`;
    plain = await startReceiver();
  });
  afterAll(async () => {
    secure.closeAllConnections();
    secure.close();
    await plain.close();
  });
  beforeEach(() => {
    [redirects, received] = [{}, []];
    plain.received.length = 0;
  });

  const send = async (to: string, trusted = tls.file): Promise<unknown> => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', SEND, to],
      { cwd: ROOT, env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: trusted } },
    );
    return JSON.parse(stdout);
  };

  it('is posted where its certificate is trusted, also behind a redirect to https', async () => {
    redirects = { '/old': '/new' };
    expect(await send(`${url}/old`)).toEqual({ ok: true });
    expect(received).toEqual(['/old', '/new']);
  });

  it('is not posted on over http, whoever asks for that', async () => {
    redirects = { '/first': '/second', '/second': `${plain.url}/` };
    for (const path of ['/first', '/second'])
      expect(await send(url + path)).toEqual({
        ok: false,
        retryable: false,
        retryAfterMs: null,
        reason: 'it redirects from https to http, which is refused',
      });
    expect(received).toEqual(['/first', '/second', '/second']);
    expect(plain.received).toEqual([]);
  });

  it('is not posted where its certificate is not trusted', async () => {
    expect(await send(url, '')).toMatchObject({
      ok: false,
      reason: 'its TLS certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(received).toEqual([]);
  });
});
