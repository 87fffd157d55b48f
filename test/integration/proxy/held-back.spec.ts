/**
 * Answers that the gateway holds back until they are whole, since an address in them is written anew: what they hold counts
 * among the bodies of all calls, and is given back however they end.
 */
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { deferred } from '#kernel';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

/** Of two million, a tenant's half: three lists, and not four. */
const INFLIGHT_BYTES_MAX = 2_000_000;
const LIST_BYTES = 300_000;
const PATH = '/proxy/anthropic/v1/messages/batches';

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  PROXY_BODY_BYTES_MAX: '1000000',
  PROXY_INFLIGHT_BYTES_MAX: String(INFLIGHT_BYTES_MAX),
}));
afterEach(async () => {
  await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(0);
});

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
};
const call = (init: RequestInit = {}) =>
  fetch(gateway.url + PATH, { ...init, headers: { 'x-api-key': AGENT_KEY } });
/** A list of batches whose end is still to come. */
const beginning = () => {
  const head = `{"data":[{"results_url":"${upstream.origin}/v1/messages/batches/b/results","x":"`;
  return head + 'x'.repeat(LIST_BYTES - head.length);
};
const END = '"}]}';
const ownList = () => beginning().replace(upstream.origin, `${gateway.url}/proxy/anthropic`) + END;
const errorOf = async (response: Response) => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  text: await response.text(),
});

describe('answers about batches', () => {
  /** As many lists as there is room for, all but their ends. @returns what ends them */
  const fill = async () => {
    const goOn = deferred();
    upstream.script(async (_call, response) => {
      response.write(beginning());
      await goOn.promise;
      response.end(END);
    });
    const lists = Array.from({ length: 3 }, () => call());
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(3 * LIST_BYTES);
    return async () => {
      goOn.resolve();
      const texts = await Promise.all(lists.map(async (list) => (await list).text()));
      return texts.map((text) => text === ownList());
    };
  };

  test('take what bodies may take, and those beyond it are told to come again', async () => {
    const end = await fill();
    expect(await errorOf(await call())).toMatchObject({
      status: 503,
      retryAfter: '2',
      text: expect.stringContaining('Too many bytes'),
    });
    await upstream.calls[3]?.aborted;
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(3 * LIST_BYTES);
    expect(await end()).toEqual([true, true, true]);
  });

  test('are passed on where there is no room for them and something was done at the vendor', async () => {
    const end = await fill();
    const made = `{"id":"b_1","x":"${'x'.repeat(200_000)}"}`;
    upstream.script((_call, response) => response.end(made));
    const response = await call({ method: 'POST', body: '{"requests":[]}' });
    expect([response.status, (await response.text()) === made]).toEqual([200, true]);
    expect(await end()).toEqual([true, true, true]);
  });

  test('have a head and nothing else for who asks for no more', async () => {
    upstream.script((_call, response) => response.writeHead(200, { 'x-vendor': 'kept' }).end());
    const response = await call({ method: 'HEAD' });
    expect([response.status, response.headers.get('x-vendor'), await response.text()]).toEqual([
      200,
      'kept',
      '',
    ]);
  });

  test('that the upstream cuts in the middle are an error of the upstream', async () => {
    upstream.script((_call, response) => {
      response.write(beginning(), () => response.destroy());
    });
    expect(await errorOf(await call())).toMatchObject({
      status: 502,
      text: expect.stringContaining('The upstream anthropic gave no answer'),
    });
  });

  test('are no longer waited for when their client has left', async () => {
    upstream.script((_call, response) => response.write(beginning()));
    const client = new AbortController();
    const left = call({ signal: client.signal }).catch(() => 'left');
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(LIST_BYTES);
    client.abort();
    expect(await left).toBe('left');
    await upstream.calls[0]?.aborted;
  });

  test('stay counted until their client has taken them', async () => {
    // A second request on the connection of one that is never answered: nothing of its answer can leave.
    upstream.script(({ url }, response) => url.includes('batches') && response.end(beginning() + END));
    const { port, hostname } = new URL(gateway.url);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${AGENT_KEY}\r\n\r\n`;
    const client = connect(Number(port), hostname, () =>
      client.write(get('/agents/reader/proxy/anthropic/v1/models') + get(`/agents/reader${PATH}`)),
    );
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(LIST_BYTES + END.length);
    const ended = async () => (await gateway.operator('GET', '/v1/calls?agent_id=reader')).body.items;
    expect(await ended()).toEqual([]);
    expect(await metric('observatory_proxy_body_bytes')).toBe(LIST_BYTES + END.length);
    client.destroy();
    await expect.poll(ended).toHaveLength(2);
  });
});
