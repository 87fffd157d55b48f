/** What Spend says while it asks: figures stand under the question that they answer; and of which day they are. */
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

test('another question is not answered with the figures of the last one', async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'gpt-4o-mini',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
      usage: { prompt_tokens: 100_000, completion_tokens: 1_000, total_tokens: 101_000 },
    }),
  );
  const call = await fetch(`${gateway.url}/agents/buyer/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Buy it' }] }),
  });
  expect(await call.json()).toMatchObject({ usage: { total_tokens: 101_000 } });

  const page = await openAs(browser, gateway, 'ana', '/spend');
  const row = (text: string) => page.getByTestId('spend-row').filter({ hasText: text });
  await row('buyer').waitFor();
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const isByModel = (url: URL) => url.pathname === '/v1/spend' && url.searchParams.get('group') === 'model';
  await page.route(isByModel, (route) => answered.then(() => route.continue()));
  const asked = page.waitForRequest((request) => isByModel(new URL(request.url())));
  await page.getByText('By model', { exact: true }).click();
  await asked;
  expect(await row('buyer').count()).toBe(0);
  answer();
  await row('gpt-4o-mini').waitFor();
});

test('the day and the month of a budget are said to be those of UTC', async () => {
  await gateway.operator('PATCH', '/v1/agents/saver/policy', { budget_day_usd: 1, budget_month_usd: 9 });
  const page = await openAs(browser, gateway, 'ana', '/agents');
  for (const name of ['Today, UTC', 'This month, UTC'])
    await page.getByRole('columnheader', { name, exact: true }).waitFor();
  await page.goto(`${gateway.url}/agents/saver`);
  for (const name of ['Today, UTC', 'This month, UTC']) await page.getByText(name, { exact: true }).waitFor();
  await page.getByText('Days and months are those of UTC.').waitFor();
});
