/** A page of calls outlives the gateway: what ended while the page was open is there after a restart, and so is what ends then. */
import { beforeAll, expect, test } from 'vitest';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import {
  gateway,
  startAgain,
  startOneGateway,
  upstream,
  upstreamsAt,
} from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();
beforeAll(() => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
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

  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  await startAgain();
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
  await call(1);
  await expect.poll(() => rows.count()).toBe(8);
});

test('beside the calls of before, a restarted gateway does not say that the agent never called', async () => {
  await gateway.stop();
  await startAgain();
  const page = await openAs(browser, gateway, 'ana', '/agents/asker');
  await page.getByText('none since the gateway’s start').waitFor();
  await expect.poll(() => page.getByTestId('call-row').count()).toBe(8);
});
