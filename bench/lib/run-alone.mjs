import { pathToFileURL } from 'node:url';
import { formatResult } from './figures.mjs';

/**
 * For a look at one bench: `node bench/ingest.mjs` prints what it found, and writes nothing.
 *
 * @param {string} url `import.meta.url` of the bench
 * @param {() => Promise<import('./figures.mjs').BenchResult>} run
 * @returns {Promise<boolean>} false: the bench was imported, and nothing was done
 */
export async function runAlone(url, run) {
  if (url !== pathToFileURL(process.argv[1] ?? '').href) return false;
  process.stdout.write(formatResult(await run()));
  return true;
}
