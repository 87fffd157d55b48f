/** A vendor takes no calls: every page says so beside System, Agents says it above the agents, and System whose it is to mend. */
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkPage } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

const call = async (agent: string): Promise<number> => {
  const answer = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: `Greet ${agent}.` }] }),
  });
  await answer.text();
  return answer.status;
};

test('from the first page on it is seen that the vendor fails, for whom, and that it is back', async () => {
  upstream.script((_call, response) => respondJson(response, 529, { error: { type: 'overloaded_error' } }));
  for (const agent of ['scout', 'writer', 'scout']) expect(await call(agent)).toBe(529);

  const page = await openAs(browser, gateway, 'ana', '/agents');
  await page.getByText('openai is failing').waitFor();
  await page.getByText('3 of 3 calls failed in 5 min, of 2 agents').waitFor();
  await checkPage(page, 'vendor-away-agents');
  await page.getByRole('link', { name: 'System 1 failing' }).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'More 1 failing' }).waitFor();
  await checkPage(page, 'vendor-away-agents-narrow');
  await page.getByRole('link', { name: 'Since when, and what to do' }).click();
  await page.locator('[data-testid=upstream-health][data-state=failing]').waitFor();
  await page.getByText('529. ').waitFor();
  await page.getByText('Look at the vendor’s status page').waitFor();
  await checkPage(page, 'vendor-away-system');

  upstream.script((_call, response) => respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [] }));
  expect(await call('scout')).toBe(200);
  await page.locator('[data-testid=upstream-health][data-state=faltering]').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'More', exact: true }).count()).toBe(1);
});
