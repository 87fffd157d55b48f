/** One tenant asks the store for more pages than can wait, over real HTTP: it is told so, and another's come in their turn. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from './start-one-gateway.js';

/** So many that a search takes several times as long as a request for it. */
const SESSIONS = 5_000;
const STORM = 3_000;
/** Connections that begin at the same time: beyond some hundreds a listener drops what it has not come to. */
const WAVE = 100;

startOneGateway();

async function fill(): Promise<void> {
  for (let first = 0; first < SESSIONS; first += 500) {
    const logs = Array.from({ length: 500 }, (_, index) =>
      buildDecisionLog({
        meta: {
          trace_id: `t-${first + index}`,
          session_id: `s-${first + index}`,
        },
      }),
    );
    expect((await gateway.ingest(logs)).status).toBe(202);
  }
}

/** A search that finds nothing looks at all of them. `asked` resolves once it is on its way, `answered` with its status. */
function search(secret: string) {
  const asking = request(`${gateway.url}/v1/sessions?q=in-none-of-them`, {
    agent: false,
    headers: { authorization: `Bearer ${secret}`, 'x-observatory-operator-id': 'tester' },
  }).end();
  const answered = once(asking, 'response').then(
    ([answer]: IncomingMessage[]) => answer?.resume().statusCode,
  );
  return { asked: once(asking, 'finish'), answered };
}

test("a tenant's storm of searches is refused by itself, and another tenant's page comes in its turn", {
  timeout: 120_000,
}, async () => {
  await fill();
  const { body } = await gateway.operator('POST', '/v1/operators', {
    name: 'of-another',
    role: 'viewer',
    tenant_ids: ['other'],
  });
  let served = 0;
  let refused = 0;
  const storm: Promise<void>[] = [];
  // Until all that its tenant may have waiting waits.
  while (refused === 0 && storm.length < STORM) {
    const wave = Array.from({ length: WAVE }, () => search(gateway.operatorToken));
    for (const { answered } of wave)
      storm.push(
        answered.then((status) => {
          if (status === 503) refused += 1;
          else served += 1;
        }),
      );
    await Promise.all(wave.map(({ asked }) => asked));
  }
  await expect.poll(() => refused, { timeout: 60_000 }).toBeGreaterThan(0);

  expect(await search(body.secret).answered).toBe(200);
  // Behind all that was asked before it, it would be the last to be answered.
  expect(served + refused).toBeLessThan(storm.length);

  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/^observatory_store_reads_refused_total [1-9]/m);
  await Promise.all(storm);
});
