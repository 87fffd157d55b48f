/** Entry point of the gateway process: reads the environment, starts, prints how to get in, drains on a signal. */
import 'reflect-metadata';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { outliveOutput } from '#adapters/standard-output';
import { printBanner } from './banner.js';
import { readStartSettings } from './config/config.module.js';
import { misspeltSettings } from './config/misspelt-settings.js';
import { tightMemory } from './config/tight-memory.js';
import { type Gateway, startGateway } from './gateway.js';
import { createLogger } from './telemetry/logger.js';

/** V8 takes what lives as long as a call for what lives for ever, which is then collected with the whole heap alone (decision 0019). */
setFlagsFromString('--no-allocation-site-pretenuring');

/** A terminal that is closed sends the last. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

async function main(): Promise<void> {
  outliveOutput();
  const settings = readStartSettings();
  const logger = createLogger({ level: settings.config.logLevel, secrets: settings.secrets.values() });
  // Node would open its debugger, in which every user of this machine may run programs as this one.
  process.on('SIGUSR1', (signal) => logger.warn({ event: 'signal_ignored', signal }, 'signal ignored'));
  for (const warning of misspeltSettings(process.env)) logger.warn({ event: 'setting_unknown' }, warning);
  const tight = tightMemory(getHeapStatistics().heap_size_limit, process.constrainedMemory());
  if (tight !== null) logger.warn({ event: 'memory_tight' }, tight);
  let gateway: Gateway | null = null;
  let isDraining = false;
  // Before the start: the first process of a container is sent nothing that it does not ask for.
  for (const signal of SIGNALS) {
    process.on(signal, async () => {
      logger.info({ event: 'draining', signal }, 'draining');
      // A start has nothing under way that the next one would not find.
      if (gateway === null) process.exit(0);
      // A second signal from an impatient operator ends it at once.
      if (isDraining) process.exit(1);
      isDraining = true;
      await gateway.drain();
      process.exit(0);
    });
  }
  gateway = await startGateway(settings, logger);
  // Who reads it may send a signal at once.
  printBanner(gateway, settings);
}

main().catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nObservatory did not start: ${reason}\n`);
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
