/** What an operator reads of a semantic loop, and of checks that could not be made: the very prompts and figures, not that something is there. */
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { startGateway } from '../integration/start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { guardEnvironment, REWORDING_SESSION, REWORDINGS, sendGuardedTraffic } from './guarded-traffic.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway((origin) => ({ ...upstreamsAt(origin), ...guardEnvironment }));
launchOneBrowser();

test('the session shows both prompts side by side and their similarity; System, how long each check took', async () => {
  await sendGuardedTraffic(gateway, upstream);
  const { body } = await gateway.operator('GET', `/v1/semantic-loops?session_id=${REWORDING_SESSION}`);
  const [event] = body.items;
  expect(REWORDINGS).toContain(event.prompt);
  expect(REWORDINGS).toContain(event.similar_prompt);

  const page = await openAs(browser, gateway, 'ana', `/sessions/${REWORDING_SESSION}`);
  await page.locator(`[data-event-id="${event.event_id}"] button`).click();
  const evidence = page.getByTestId('loop-evidence');
  await expect.poll(() => evidence.innerText()).toContain(event.similarity.toFixed(3));
  const asked = await evidence.innerText();
  for (const part of ['Asked before', event.similar_prompt, 'Asked again', event.prompt])
    expect(asked.replace(/\s+/g, ' ')).toContain(part);

  await page.goto(`${gateway.url}/system`);
  const bars = page.getByRole('list', { name: 'Checks by how long they took' }).getByRole('listitem');
  const counted = async () => {
    const titles = await bars.evaluateAll((items) => items.map((item) => item.getAttribute('title') ?? ''));
    return titles.reduce((sum, title) => sum + Number(title.split(': ').at(-1)), 0);
  };
  const { body: system } = await gateway.operator('GET', '/v1/system');
  const checks = Object.values<number>(system.semantic_loop.checks).reduce((sum, count) => sum + count, 0);
  expect(checks).toBeGreaterThanOrEqual(REWORDINGS.length);
  await expect.poll(counted).toBe(checks);
});

test('without a sidecar every call is answered, and System counts why its check was not made', async () => {
  const alone = await startGateway({
    env: {
      ...upstreamsAt(upstream.origin),
      LOOP_DETECTION_ENABLED: 'true',
      LOOP_EMBEDDING_SIDECAR_UDS: '/nonexistent/sidecar.sock',
    },
  });
  upstream.script((_call, response) => respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [] }));
  for (const content of REWORDINGS) {
    const call = await fetch(`${alone.url}/agents/asker/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-observatory-key': alone.agentKey,
        'content-type': 'application/json',
        'x-observatory-session': 'asking',
      },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
    });
    expect(call.status).toBe(200);
  }
  const page = await openAs(browser, alone, 'ana', '/system');
  const reasons = page.getByRole('list', { name: 'Semantic loop: failed open by reason' });
  await expect.poll(() => reasons.innerText()).toMatch(new RegExp(`\\b${REWORDINGS.length}\\b`));
  expect(await page.getByTestId('sidecar-state').getAttribute('data-state')).toBe('down');
  expect(await page.getByText('none answered').count()).toBe(2);
  expect(await alone.stop()).toBe(0);
});
