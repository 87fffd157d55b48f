/**
 * `npm run backup`: copies a data directory, also while the gateway runs, as it is at one moment, and checks the copy. Needs a build
 * and nothing else; changes nothing of the original.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DATABASE_FILE, dataDirOf } from './lib/data-dir.mjs';
import { ProgressLine } from './lib/progress-line.mjs';
import { shownText } from './lib/shown-text.mjs';

const help = `Copies what the gateway keeps, also while it runs, and checks the copy.

  npm run backup -- FOLDER [options]

  FOLDER           where the copy is to be: new or empty, and not on the disk whose loss you fear
  --data-dir DIR   the gateway's data directory (default: OBSERVATORY_DATA_DIR, else ./data)
  --help

To restore: stop the gateway, and start it with OBSERVATORY_DATA_DIR=FOLDER, or with a copy of that.

Ends with 0 if the copy is there and sound, 1 if it failed, 2 if it was asked for what cannot be.
`;

/** It has the name of a database only when it is one. */
const UNFINISHED_FILE = `${DATABASE_FILE}.unfinished`;
const KEY_FILE = 'secret.key';
const OWNER_ONLY = 0o600;
const EXIT = { done: 0, failed: 1, unusable: 2 };

/** Nothing was begun: wrong arguments, nothing to copy, no place for it. */
class Unusable extends Error {}

/** @param {string[]} args */
function parseOptions(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { 'data-dir': { type: 'string' }, help: { type: 'boolean', default: false } },
    });
    if (!values.help && positionals.length !== 1) throw new TypeError('name one folder for the copy');
    return {
      isHelp: values.help,
      dataDir: resolve(dataDirOf(values['data-dir'])),
      target: resolve(positionals[0] ?? ''),
    };
  } catch (error) {
    throw new Unusable(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
}

/** @param {string} target */
async function makeTarget(target) {
  const { makeFolder } = await import('#adapters/sqlite');
  try {
    makeFolder(target);
    if (readdirSync(target).length === 0) return;
  } catch (error) {
    throw new Unusable(`no folder can be made at ${target}: ${/** @type {Error} */ (error).message}`);
  }
  throw new Unusable(`${target} is not empty; name a new folder`);
}

/** @param {string} folder its names are on disk when this returns */
function syncFolder(folder) {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * What stands in the copied audit: a database can be sound and say what nobody did.
 *
 * @param {string} path
 * @returns {Promise<string>}
 */
async function checkAudit(path) {
  const { StoredAudit } = await import('#adapters/sqlite');
  const audit = new StoredAudit(path);
  try {
    let entryCount = 0;
    for (const tenant of audit.tenants()) {
      const { ok, broken_at_seq, entry_count } = audit.verify(tenant);
      if (!ok) return `The audit of ${tenant} is BROKEN at entry ${broken_at_seq}, here as in the original.`;
      entryCount += entry_count;
    }
    return `The audit is whole: ${entryCount} entries.`;
  } finally {
    audit.close();
  }
}

/** @param {{ dataDir: string, target: string }} options */
async function backUp({ dataDir, target }) {
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) throw new Unusable(`there is no ${path}`);
  const { copyDatabase } = await import('#adapters/sqlite');
  await makeTarget(target);
  const unfinished = join(target, UNFINISHED_FILE);
  let part = 0;
  const progress = new ProgressLine(() => `${Math.floor(part * 100)} % copied`);
  const startedMs = performance.now();
  progress.start();
  try {
    const key = join(dataDir, KEY_FILE);
    const hasKey = existsSync(key);
    if (hasKey) writeFileSync(join(target, KEY_FILE), readFileSync(key), { mode: OWNER_ONLY, flush: true });
    await copyDatabase(path, unfinished, (done) => {
      part = done;
    });
    const audit = await checkAudit(unfinished);
    renameSync(unfinished, join(target, DATABASE_FILE));
    syncFolder(target);
    progress.stop();
    const megabytes = (statSync(join(target, DATABASE_FILE)).size / 1e6).toFixed(1);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    return [
      `Copied ${dataDir} to ${target}: ${megabytes} MB in ${seconds} s, read again and sound.`,
      audit,
      hasKey
        ? `${KEY_FILE} is in it and opens the upstream keys that are sealed there: keep it as you keep them.`
        : `There is no ${KEY_FILE}: whoever restores this needs the OBSERVATORY_SECRET_KEY that the gateway runs with.`,
    ];
  } catch (error) {
    progress.stop();
    // It was empty.
    for (const name of readdirSync(target)) rmSync(join(target, name), { force: true });
    throw error;
  }
}

try {
  const { isHelp, ...options } = parseOptions(process.argv.slice(2));
  const lines = isHelp ? null : await backUp(options);
  process.stdout.write(lines === null ? help : lines.map((line) => `${shownText(line)}\n`).join(''));
  process.exitCode = EXIT.done;
} catch (error) {
  const { code, message } = /** @type {Error & { code?: string }} */ (error);
  const reason = code === 'ERR_MODULE_NOT_FOUND' ? 'there is no build: npm run build' : message.trimEnd();
  process.stderr.write(`backup: ${reason}\n`);
  process.exitCode = error instanceof Unusable ? EXIT.unusable : EXIT.failed;
}
