/**
 * `npm start`: builds when that is needed, then runs the gateway in this very process, so that the signals a
 * supervisor or a terminal sends reach it.
 */
import { buildIfStale } from './build-if-stale.mjs';
import { requireNode } from './lib/node-version.mjs';

requireNode();
try {
  await buildIfStale();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
await import(new URL('../dist/apps/gateway/src/main.js', import.meta.url).href);
