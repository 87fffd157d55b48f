/**
 * `npm run bench [-- name ...]`: runs the benches one after another, each in a process of its own, prints what they
 * found against what the design asks for, and rewrites the measured section of RESULTS.md. A bench that falls short
 * is a figure; a bench that breaks is a failure.
 *
 *     node bench/run.mjs                   all
 *     node bench/run.mjs ingest live       these; the others' rows in RESULTS.md stay
 *     node bench/run.mjs --dry             without writing RESULTS.md
 *     BENCH_QUICK=1 node bench/run.mjs     shorter windows, for a look; writes nothing
 */
import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../scripts/build-if-stale.mjs';
import { figuresOfEntropy, figuresOfStore } from './lib/component-figures.mjs';
import { formatResult, replaceMeasured, sectionOf } from './lib/figures.mjs';
import { describeMachine, loadPerCore } from './lib/machine.mjs';
import { isQuick } from './lib/quick.mjs';

/** @typedef {import('./lib/figures.mjs').BenchResult} BenchResult */

const resultsFile = new URL('./RESULTS.md', import.meta.url);
const busyLoadPerCore = 0.7;

/** Name -> how its result becomes figures. @type {Record<string, (result: any, printed: string) => BenchResult>} */
const benches = {
  entropy: figuresOfEntropy,
  store: figuresOfStore,
  ingest: (result) => result,
  live: (result) => result,
  browser: (result) => result,
  proxy: (result) => result,
  'kill-switch': (result) => result,
  detection: (result) => result,
  cache: (result) => result,
  similarity: (result) => result,
  'semantic-loop': (result) => result,
};

const benchFile = (/** @type {string} */ name) => new URL(`./${name}.mjs`, import.meta.url);

/** @param {string} name @returns {Promise<{ result: any, printed: string }>} what its `run()` returns, and what it printed */
function runBench(name) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./lib/run-one.mjs', import.meta.url), [benchFile(name).href], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    /** @type {any} */
    let answer = null;
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      printed += text;
      process.stderr.write(text);
    });
    child.on('message', (message) => {
      answer = message;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (answer && 'result' in answer) resolve({ result: answer.result, printed });
      else reject(new Error(answer?.error ?? `ended without a result (${signal ?? code})`));
    });
  });
}

/** @param {string[]} args @returns {Promise<number>} exit status */
async function main(args) {
  const dry = isQuick || args.includes('--dry');
  const names = args.filter((arg) => arg !== '--dry');
  const unknown = names.filter((name) => !(name in benches));
  if (unknown.length > 0) {
    process.stderr.write(
      `bench: no such bench: ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}; and --dry\n`,
    );
    return 2;
  }
  await buildIfStale();
  if (loadPerCore() > busyLoadPerCore) {
    process.stderr.write(
      `bench: this machine is busy (load ${loadPerCore().toFixed(1)} per core): expect low figures\n`,
    );
  }
  let failed = false;
  let page = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : '# Measured results\n';
  for (const name of names.length > 0 ? names : Object.keys(benches)) {
    if (!existsSync(benchFile(name))) {
      process.stderr.write(`bench: ${name} is not there yet, left out\n`);
      continue;
    }
    process.stderr.write(`bench: ${name} ...\n`);
    const startedAt = performance.now();
    const machine = `${describeMachine()}, load before it ${loadPerCore().toFixed(1)} per core`;
    try {
      const { result: found, printed } = await runBench(name);
      const result = benches[name]?.(found, printed) ?? { figures: [] };
      process.stdout.write(`\n${formatResult(result)}\n`);
      const command = `node bench/run.mjs ${name}`;
      page = replaceMeasured(page, name, sectionOf(name, result, { command, machine, date: new Date() }));
    } catch (error) {
      failed = true;
      process.stderr.write(`bench: ${name} failed: ${error instanceof Error ? error.message : error}\n`);
    }
    process.stderr.write(`bench: ${name} took ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
  }
  if (!dry) {
    writeFileSync(resultsFile, page);
    process.stderr.write(`bench: wrote ${fileURLToPath(resultsFile)}\n`);
  }
  return failed ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
