/** A panel that shows the latest of more says that there are more, and not how many it shows as if these were all. */
import { expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const SESSION = 'often-paused';

test('of a session with more commands than its page has, and of more violations than Fleet has', async () => {
  await gateway.ingest(buildDecisionLog({ meta: { trace_id: 'first', session_id: SESSION } } as never));
  const command = (name: string, body: object) =>
    gateway.operator('POST', `/v1/sessions/${SESSION}/${name}`, body);
  for (let at = 0; at < LIMITS.sessionAuditEntriesMax / 2 + 5; at += 1) {
    expect((await command('pause', { reason: 'Look.' })).status).toBe(200);
    expect((await command('resume', {})).status).toBe(200);
  }
  for (let at = 0; at < 60; at += 1)
    expect((await gateway.ingest({ meta: { trace_id: `bad-${at}` } })).status).toBe(422);
  const page = await openAs(browser, gateway, 'ana', `/sessions/${SESSION}`);
  await page.getByText(`${LIMITS.sessionAuditEntriesMax}+`, { exact: true }).waitFor();
  await page.goto(`${gateway.url}/fleet`);
  await page.getByText('50+', { exact: true }).waitFor();
  await page.context().close();
});

test('a rule that fires for thousands of agents names some of them, and says how many others there are', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.route('**/v1/alert-rules', async (route) => {
    const { items } = await (await route.fetch()).json();
    const since_ms = Date.now() - 60_000;
    const firing = Array.from({ length: LIMITS.firingAgentsMax }, (_, at) => ({
      agent_id: `bot-${1_000 + at}`,
      since_ms,
      notice_count: 1,
      acknowledged: null,
    }));
    const fires = { ...items[0], firing, firing_count: 3_456, firing_since_ms: since_ms - 3_600_000 };
    await route.fulfill({ json: { items: [fires, ...items.slice(1)] } });
  });
  await page.goto(`${gateway.url}/alerts`);
  const rule = page.getByTestId('alert-rule').first();
  await rule.getByText('Firing for 3,456 agents, 1 h').waitFor();
  await rule.getByText('and 3,436 more').waitFor();
  await checkEveryLook(page, 'rule-fires-for-thousands');
});
