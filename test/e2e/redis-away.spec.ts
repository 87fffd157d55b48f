/** Redis is configured and away, and so is the sidecar's: what System says of either is what happens to calls. */
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

// Nobody listens on the port of discarded packets.
startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  REDIS_URL: 'redis://127.0.0.1:9',
  LOOP_DETECTION_ENABLED: 'true',
  LOOP_EMBEDDING_REDIS_URL: 'redis://127.0.0.1:9',
}));
launchOneBrowser();

test('calls go on without rates and budgets, and System says that these are not enforced', async () => {
  upstream.script((_call, response) => respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [] }));
  await gateway.operator('PATCH', '/v1/agents/eager/policy', { requests_per_minute: 1 });
  for (const content of ['Read the first page.', 'Write to Ada.']) {
    const call = await fetch(`${gateway.url}/agents/eager/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
    });
    expect(call.status).toBe(200);
  }
  const page = await openAs(browser, gateway, 'ana', '/system');
  const redis = page.getByText('Calls go on: rates and budgets are not enforced');
  await redis.getByText(/This began \d+ (s|min) ago/).waitFor();
  await page.getByText('Look at the Redis that REDIS_URL names').waitFor();
  await redis.scrollIntoViewIfNeeded();
  await checkEveryLook(page, 'redis-away-system');
  await page.getByText('Rates and budgets were not enforced: Redis was not connected.').waitFor();
});

test('a sidecar that serves without its store is not shown as well, and what to do is said', async () => {
  const page = await openAs(browser, gateway, 'ana', '/system');
  await page.locator('[data-testid=sidecar-state]:text("Serving, without its store")').waitFor();
  await page.getByText('Calls go on without the check').waitFor();
  await page.getByText('Redis is not connected', { exact: true }).waitFor();
  await page.getByText('Look at the Redis that LOOP_EMBEDDING_REDIS_URL names.').waitFor();
});
