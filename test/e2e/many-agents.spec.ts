/** More agents than a list holds: the one that is stopped is there whatever its name, and a search finds each of them. */
import { expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildIncident } from '#testing';
import { startGateway } from '../integration/start-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { writeStore } from './write-store.js';

launchOneBrowser();

const writeAgents = () =>
  writeStore(async (_, proxyStore) => {
    const policyOf = (agent_id: string) => ({
      tenant_id: 'default',
      kind: 'agent_policy' as const,
      id: agent_id,
      body: { agent_id, requests_per_minute: 60, updated_by: 'ada', updated_at_ms: 1 },
      updated_at_ms: 1,
    });
    const names = Array.from({ length: LIMITS.listedAgentsMax }, (_, at) => `bot-${at}`);
    await proxyStore.commitDocuments({ saved: [...names, 'worker-of-last-year'].map(policyOf) });
    await proxyStore.appendIncident(
      'default',
      buildIncident({ agent_id: 'zeta', at_ms: Date.now() - 60_000 }),
    );
  });

test('a stopped agent is shown though two thousand come before it by name, and a search finds one that is not', async () => {
  const gateway = await startGateway({ dataDir: await writeAgents() });
  const page = await openAs(browser, gateway, 'ana', '/agents?state=inactive');
  await page.getByText('1 of 2,000+', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'zeta' }).first().waitFor();
  await page.getByRole('navigation').getByText('1 open').first().waitFor({ state: 'attached' });
  await checkEveryLook(page, 'many-agents');
  const listed = (await gateway.operator('GET', '/v1/agents')) as { body: { items: { agent_id: string }[] } };
  expect(listed.body.items).toHaveLength(LIMITS.listedAgentsMax);
  expect(listed.body.items.some(({ agent_id }) => agent_id === 'worker-of-last-year')).toBe(false);
  await page.goto(`${gateway.url}/agents?q=Last-Year`);
  await page.getByRole('link', { name: 'worker-of-last-year' }).first().waitFor();
  await page.goto(`${gateway.url}/agents?q=nobody`);
  await page.getByText('No agent matches').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('last-year');
  await page.getByRole('option', { name: 'worker-of-last-year' }).waitFor();
  await page.context().close();
  await gateway.stop();
});
