/** A page of calls outlives the gateway: what ended while the page was open is there after a restart, and so is what ends then. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { respondJson, ScriptedUpstream } from '#testing';
import { type RunningGateway, startGateway } from '../integration/start-gateway.js';
import { launchBrowser } from './browser.mjs';
import { openAs } from './log-in.js';
import { upstreamEnvironment } from './proxied-traffic.js';

let upstream: ScriptedUpstream;
let gateway: RunningGateway;
let browser: Browser;

beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'gpt-4o-mini',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
      usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
    }),
  );
  [gateway, browser] = await Promise.all([
    startGateway({ env: upstreamEnvironment(upstream) }),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

let callCount = 0;

/** Resolves once they are recorded. */
async function call(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    callCount += 1;
    const response = await fetch(`${gateway.url}/agents/asker/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: `Is ${callCount} a number?` }],
      }),
    });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/calls')).body.items.length)
    .toBe(callCount);
}

test('calls that ended while the page was open are still there after the gateway was killed and came back', async () => {
  await call(3);
  const page = await openAs(browser, gateway, 'ana', '/calls');
  const rows = page.getByTestId('call-row');
  await expect.poll(() => rows.count()).toBe(3);
  await call(4);
  await expect.poll(() => rows.count()).toBe(7);

  const { dataDir, url } = gateway;
  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  gateway = await startGateway({
    dataDir,
    env: { ...upstreamEnvironment(upstream), PORT: new URL(url).port },
  });
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
  await call(1);
  await expect.poll(() => rows.count()).toBe(8);
});
