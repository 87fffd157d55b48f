/** A panel that shows the latest of more says that there are more, and not how many it shows as if these were all. */
import { expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
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
