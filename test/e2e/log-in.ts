/** Logs an operator in as a person would: by the link the first start prints. */
import type { Browser, Page } from 'playwright-core';
import type { RunningGateway } from '../integration/start-gateway.js';
import { SIZES } from './check-page.js';

const WAIT_MS = 20_000;

export async function logIn(page: Page, gateway: RunningGateway, operatorId: string): Promise<void> {
  await page.goto(`${gateway.url}/login#token=${gateway.operatorToken}`);
  await page.getByTestId('operator-name').fill(operatorId);
  await page.getByTestId('login-submit').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/login'));
}

/** A browser of their own, logged in and on that page; whatever it does not find in time fails the test. */
export async function openAs(
  browser: Browser,
  gateway: RunningGateway,
  operatorId: string,
  path = '/',
): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZES.desktop, reducedMotion: 'reduce' });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await logIn(page, gateway, operatorId);
  if (path !== '/') await page.goto(gateway.url + path);
  return page;
}
