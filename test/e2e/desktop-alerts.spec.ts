/** Notifications of the operating system: one switch on two pages, and a browser that offers them and then shows none. */
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

/** As on a phone, where only service workers may show one; and nobody looks at the page. */
const PHONE = `
  document.hasFocus = () => false;
  window.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor() {
      window.tried = true;
      throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.');
    }
  };
`;

test('the switch is one on both pages, and a browser that shows none after all keeps the list', async () => {
  await loopIn(gateway, 'first');
  const page = await openAs(browser, gateway, 'ana');
  await page.addInitScript(PHONE);
  await page.goto(`${gateway.url}/settings?section=appearance`);
  const inSettings = page.getByRole('switch', { name: 'Notify me' });
  await expect.poll(() => inSettings.getAttribute('aria-checked')).toBe('false');

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'Notify me on the desktop' }).click();
  await page.getByRole('button', { name: 'Desktop notifications are on' }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Appearance' }).click();
  await expect.poll(() => inSettings.getAttribute('aria-checked')).toBe('true');

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'Desktop notifications are on' }).waitFor();
  await loopIn(gateway, 'second');
  await page.waitForFunction('window.tried');
  await page.getByTestId('session-row').filter({ hasText: 'second' }).waitFor();
});
