/** A session whose agent says that it is over, and that loops on or is paused all the same: the alerts, the list and its own page agree. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const SESSION = 'over-and-over';

const step = (control: object = {}) =>
  gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: randomUUID(), session_id: SESSION, timestamp: new Date().toISOString() },
      identity: { agent_id: 'agent-1' },
      control,
    } as never),
  );
const command = (name: string, body: object = {}) =>
  gateway.operator('POST', `/v1/sessions/${SESSION}/${name}`, body);

interface Looks {
  alerts: number;
  /** Of its row, whatever else that says. */
  list: RegExp;
  /** On its own page: how it is, and the next thing to do. */
  page: RegExp;
  offers: RegExp | null;
}

test('an end, a loop behind it and a pause behind that look the same wherever one looks', async () => {
  await loopIn(gateway, SESSION);
  const [list, inspect] = (await Promise.all([
    openAs(browser, gateway, 'ana'),
    openAs(browser, gateway, 'ana', `/sessions/${SESSION}`),
  ])) as [Page, Page];
  const primary = inspect.getByRole('button', { name: /^(Pause|Hold|Resume)/ });
  const shows = async ({ alerts, list: inList, page, offers }: Looks) => {
    await list.getByTestId('session-row').filter({ hasText: inList }).waitFor();
    await expect.poll(() => list.getByTestId('alert-row').count()).toBe(alerts);
    await expect.poll(() => list.title()).toMatch(alerts > 0 ? /^\(1\)/ : /^Sessions/);
    await inspect.getByTestId('control-state').filter({ hasText: page }).waitFor();
    if (offers === null) await primary.waitFor({ state: 'detached' });
    else await primary.filter({ hasText: offers }).waitFor();
  };
  const looping = { alerts: 1, list: /Loop(?!.*Ended)/s, page: /Running|Observe/, offers: /^Hold/ };
  const ended = { alerts: 0, list: /Ended/, page: /^Ended$/, offers: null };
  await shows(looping);
  await step({ is_terminal: true });
  await shows(ended);
  await step();
  await shows(looping);
  await step({ is_terminal: true });
  await shows(ended);
  // Its page offers no pause; a program may ask for one all the same.
  await command('pause', { reason: 'let me look' });
  const held = { alerts: 0, list: /Ended.*Only messages held/s, page: /messages held/, offers: /^Resume/ };
  await shows(held);
  await step();
  await shows({ ...held, offers: /^Resume, release 1 message/ });
  await command('resume');
  // What was held goes round in circles, too.
  await shows(looping);
  await command('terminate', { reason: 'enough' });
  await shows({ alerts: 0, list: /Ended/, page: /^Terminated$/, offers: null });
  for (const page of [list, inspect]) await page.context().close();
});
