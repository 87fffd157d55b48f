/** A session that loops in words is seen however many loops others have had since: by whoever looks later, and after a restart. */
import { expect, test } from 'vitest';
import { buildSemanticLoop, buildSessionView } from '#testing';
import { startGateway } from '../integration/start-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { writeStore } from './write-store.js';

launchOneBrowser();

/** More than the snapshot holds of the latest. */
const SINCE_COUNT = 60;

const writeLoops = () =>
  writeStore(async (store, proxyStore) => {
    const nowMs = Date.now();
    const views = [
      buildSessionView({ session_id: 'quiet-loop', last_seen_ms: nowMs }),
      buildSessionView({ session_id: 'noisy-loop', last_seen_ms: nowMs, ended: true }),
    ];
    await store.saveSessions(
      views.map((row) => ({ tenant_id: 'default', view: row })),
      0,
    );
    const loop = (session_id: string, at_ms: number) =>
      proxyStore.appendSemanticLoop('default', buildSemanticLoop({ session_id, at_ms, action: 'alerted' }));
    await loop('quiet-loop', nowMs - 120_000);
    for (let index = 0; index < SINCE_COUNT; index += 1)
      await loop('noisy-loop', nowMs - 60_000 + index * 100);
  });

test('a loop behind fifty others is counted in the navigation, and stands among the alerts', async () => {
  const gateway = await startGateway({ dataDir: await writeLoops() });
  const page = await openAs(browser, gateway, 'ana', '/');
  await page.getByText('1 looping now').waitFor();
  await page.getByRole('navigation').getByText('1 looping').first().waitFor({ state: 'attached' });
  const link = page.getByRole('link', { name: 'quiet-loop' });
  expect(await link.count()).toBeGreaterThan(0);
  await page.context().close();
  await gateway.stop();
});
