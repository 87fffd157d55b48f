/** Logs an operator in as a person would: by the link the first start prints. */
import type { Page } from 'playwright-core';
import type { RunningGateway } from '../integration/start-gateway.js';

export async function logIn(page: Page, gateway: RunningGateway, operatorId: string): Promise<void> {
  await page.goto(`${gateway.url}/login#token=${gateway.operatorToken}`);
  await page.getByTestId('operator-name').fill(operatorId);
  await page.getByTestId('login-submit').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/login'));
}
