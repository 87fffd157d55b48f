/** The page talks to its own gateway alone, also by sockets: a foreign script in it could carry nothing away by one. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

test('the page is live by a WebSocket to where it came from, and opens none to another place', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const heardFrom = new Promise<string>((settle) =>
    page.on('websocket', (socket) => socket.on('framereceived', () => settle(socket.url()))),
  );
  await page.reload();
  expect(new URL(await heardFrom).host).toBe(new URL(gateway.url).host);

  let reachedCount = 0;
  const elsewhere = createServer().on('upgrade', (_request, socket) => {
    reachedCount += 1;
    socket.destroy();
  });
  onTestFinished(() => void elsewhere.close());
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening');
  const { port } = elsewhere.address() as AddressInfo;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
    await page.evaluate(
      (url) => new Promise((settle) => new WebSocket(url).addEventListener('error', settle)),
      `ws://${host}/?what=secret`,
    );
  expect(reachedCount).toBe(0);
});
