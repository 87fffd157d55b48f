/**
 * Imported into a gateway's process: its clocks are as many days ahead as the file of DAYS_FILE says, which is read again at
 * SIGUSR2; what is done once a minute is done at once.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
const AT_ONCE_MS = 20;

if (isMainThread) {
  let aheadMs = 0;
  const look = () => {
    aheadMs = Number(readFileSync(process.env.DAYS_FILE, 'utf8')) * DAY_MS;
  };
  look();
  process.on('SIGUSR2', () => {
    look();
    process.stdout.write(`${aheadMs / DAY_MS} days later\n`);
  });
  const wallMs = Date.now;
  const steadyMs = performance.now.bind(performance);
  Date.now = () => wallMs() + aheadMs;
  performance.now = () => steadyMs() + aheadMs;
  const each = globalThis.setInterval;
  globalThis.setInterval = (run, ms, ...rest) => each(run, ms === MINUTE_MS ? AT_ONCE_MS : ms, ...rest);
}
