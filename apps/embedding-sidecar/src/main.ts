/**
 * Entry point of the embedding sidecar: reads its settings, starts, says so in one line, drains on a signal. With
 * `--exit-with-stdin` it is somebody's child, and ends when the pipe to its parent breaks, however the parent died.
 */
import { outliveOutput } from '#adapters/standard-output';
import { parseConfig, parseSecrets, readEnvironment, SETTING_VARIABLES } from '#domain/sidecar-settings';
import { misspeltVariables } from '#kernel';
import { createLogger } from './logger.js';
import { openEmbedder } from './open-embedder.js';
import type { Sidecar } from './sidecar.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** After this a stop is no longer waited for. */
const STOP_TIMEOUT_MS = 5_000;

async function main(args: readonly string[]): Promise<void> {
  outliveOutput();
  const environment = readEnvironment(process.env);
  let logger = createLogger({ level: 'info', secrets: [] });
  // Node would open its debugger, in which every user of this machine may run programs as this one.
  process.on('SIGUSR1', (signal) => logger.warn({ event: 'signal_ignored', signal }, 'signal ignored'));
  try {
    const config = parseConfig(environment.config);
    const secrets = parseSecrets(environment.secrets);
    logger = createLogger({ level: config.logLevel, secrets: secrets.values() });
    const isChild = args.includes('--exit-with-stdin');
    // A child's settings are its parent's, which warns of them.
    for (const warning of isChild ? [] : misspeltVariables(process.env, SETTING_VARIABLES))
      logger.warn({ event: 'setting_unknown' }, warning);
    let sidecar: Sidecar | null = null;
    let isStopping = false;
    const stop = async (why: string, exitCode: number, isThreadStuck = false): Promise<void> => {
      // `exit` waits for every thread, and one that is stuck in native code never ends.
      const end = isThreadStuck ? () => process.kill(process.pid, 'SIGKILL') : process.exit;
      logger.info({ event: 'draining', why }, 'draining');
      // A second reason cuts nothing short that has begun, unless it would be waited for in vain.
      if (isStopping) return isThreadStuck ? void end(1) : undefined;
      isStopping = true;
      setTimeout(end, STOP_TIMEOUT_MS, 1).unref();
      await sidecar?.stop();
      end(exitCode);
    };
    let isSignalled = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        // Ctrl-C, and the end of a terminal, reach the whole group; a child leaves the decision to its parent.
        if (isChild && signal !== 'SIGTERM') return;
        // A second signal is from an impatient operator, and ends it at once; one that comes after the pipe's end is not.
        if (isSignalled) process.exit(1);
        isSignalled = true;
        void stop(signal, 0);
      });
    }
    if (isChild) {
      process.stdin.resume();
      process.stdin.on('error', () => stop('parent_gone', 0));
      process.stdin.once('close', () => stop('parent_gone', 0));
    }
    const onDied = (detail: string, how: 'died' | 'hung'): void => {
      logger.fatal({ event: 'model_died', reason: detail }, 'the model is gone');
      void stop('model_died', 1, how === 'hung');
    };
    const onWaited = (ms: number): void => sidecar?.telemetry.waitedForModel(ms);
    const embedder = openEmbedder({ config, secrets, onWaited, onDied });
    embedder.catch(() => {});
    // The rest of the program is read while the model is: a restart takes a third less.
    const { startSidecar } = await import('./sidecar.js');
    sidecar = await startSidecar({ config, secrets, logger, embedder, isChild });
    const { model_id, store, loop_similarity_threshold } = sidecar.description;
    logger.info(
      { event: 'ready', socket: sidecar.socketPath, model_id, store, loop_similarity_threshold },
      'embedding sidecar ready',
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.fatal({ event: 'not_started', reason }, 'embedding sidecar did not start');
    process.stderr.write(`\nEmbedding sidecar did not start: ${reason}\n`);
    process.exit(1);
  }
}

await main(process.argv.slice(2));
