/** A browser that keeps nothing of this address: it can be signed in to, and is told why that does not last. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';

startOneGateway();
launchOneBrowser();

/** As Chromium does it where a page may keep nothing. */
const NO_CHANNEL = `
  window.BroadcastChannel = class {
    constructor() {
      throw new DOMException('Access is denied.', 'SecurityError');
    }
  };
`;

test('who signs in where cookies are not kept is told so, and not asked for the token again without a word', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(NO_CHANNEL);
  await page.route('**/v1/auth/login', async (route) => {
    const sent = route.request();
    const { status, ...answer } = await fetch(sent.url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: sent.postData(),
    }).then(async (response) => ({ status: response.status, body: await response.text() }));
    await route.fulfill({ ...answer, status, contentType: 'application/json' });
  });
  await page.goto(`${gateway.url}/login#token=${gateway.operatorToken}`);
  await page.getByTestId('operator-name').fill('ana');
  await page.getByTestId('login-submit').click();
  await page.getByRole('alert').getByText('This browser did not keep the login.').waitFor();
  expect(await page.getByTestId('operator-token').inputValue()).toBe(gateway.operatorToken);
  await context.close();
});
