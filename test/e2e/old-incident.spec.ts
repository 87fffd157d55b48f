/** An agent that was stopped long ago is stopped still, however many were stopped and let in again since. */
import { expect, test } from 'vitest';
import { buildIncident } from '#testing';
import { startGateway } from '../integration/start-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { writeStore } from './write-store.js';

launchOneBrowser();

/** More than a page of the list, and than what its topic holds. */
const SINCE_COUNT = 60;

const writeIncidents = () =>
  writeStore(async (_, proxyStore) => {
    const nowMs = Date.now();
    const old = buildIncident({ agent_id: 'forgotten', at_ms: nowMs - 86_400_000 });
    await proxyStore.appendIncident('default', old);
    for (let index = 0; index < SINCE_COUNT; index += 1) {
      const at_ms = nowMs - 3_600_000 + index * 1_000;
      const over = { agent_id: 'noisy', at_ms, reactivated_by: 'ada', reactivated_at_ms: at_ms + 500 };
      await proxyStore.appendIncident('default', buildIncident(over));
    }
  });

test('an open incident behind a page of others is counted in the navigation, and is what the list of open ones shows', async () => {
  const gateway = await startGateway({ dataDir: await writeIncidents() });
  const page = await openAs(browser, gateway, 'ana', '/incidents');
  const rows = page.getByTestId('incident-row');
  await page.getByText('50+ incidents', { exact: true }).waitFor();
  await page.getByRole('navigation').getByText('1 open').first().waitFor({ state: 'attached' });
  await page.getByRole('radio', { name: 'Open', exact: true }).check();
  await page.getByText('1 incident', { exact: true }).waitFor();
  expect(await rows.count()).toBe(1);
  expect(await rows.textContent()).toContain('forgotten');
  const reactivated = await gateway.operator('POST', '/v1/agents/forgotten/reactivate');
  expect(reactivated.status).toBe(200);
  await page.getByText('No incident matches').waitFor();
  await page.context().close();
  await gateway.stop();
});
