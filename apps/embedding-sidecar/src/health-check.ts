/**
 * For a container's health check: exits 0 when the sidecar at UDS_PATH says that it serves, else 1 with one line on
 * stderr. With `--store` its store of prompts must answer too.
 */
import { resolve } from 'node:path';
import { EMBEDDING_SERVICE, probeHealth } from '#adapters/grpc';
import { parseConfig, readEnvironment } from '#domain/sidecar-settings';

const TIMEOUT_MS = 2_000;

try {
  const { socketPath } = parseConfig(readEnvironment(process.env).config);
  const status = await probeHealth({
    socketPath: resolve(socketPath),
    serviceName: process.argv.includes('--store') ? EMBEDDING_SERVICE : '',
    timeoutMs: TIMEOUT_MS,
  });
  if (status !== 'SERVING') throw new Error(status);
} catch (error) {
  process.stderr.write(`embedding sidecar: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
