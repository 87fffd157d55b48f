/**
 * Fetches one file so that the folder never holds a wrong one: bytes gather in `<name>.part`, which survives a cut
 * connection, a full disk and Ctrl-C; what is complete is hashed as it lies on the disk, and only then gets its name.
 *
 *     part (maybe) -> ask from its end -> append -> hash -> rename
 *                        | cut: again        | wrong: the part goes; one that was begun earlier is fetched once more
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, rmSync, statfsSync, statSync } from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { editionsOf } from './model-manifest.mjs';
import { RangeRefused } from './model-source.mjs';
import { PullError, storageProblem, TransferError } from './pull-error.mjs';

export const PULL_LIMITS = {
  /** One after another without a single new byte. */
  fruitlessAttemptsMax: 4,
  attemptsMax: 100,
  backoffMs: 500,
  retryAfterMsMax: 60_000,
  /** Of a file whose size no manifest knows. */
  unknownBytesMax: 4 * 1024 ** 3,
};

/** In the target folder: checksums of files that no manifest pins, as they were first seen here. */
export const RECORDED_FILE = 'recorded-checksums.json';

/**
 * @typedef {object} PullOptions
 * @property {import('./model-source.mjs').ModelSource} source
 * @property {string} to folder
 * @property {AbortSignal} signal
 * @property {(text: string) => void} [onNote] worth a line
 * @property {(haveBytes: number, totalBytes: number | null) => void} [onProgress]
 * @property {(ms: number) => Promise<unknown>} [wait]
 * @property {(folder: string) => number} [freeBytes] on the disk of a folder
 */

/** @typedef {'present' | 'pulled' | 'recorded'} PullResult `recorded`: pulled, and nobody had pinned its checksum */

/**
 * @param {import('./model-manifest.mjs').ModelFile} file
 * @param {PullOptions} options
 * @returns {Promise<PullResult>} rejects with PullError, or with the signal's reason
 */
export async function pullFile(file, options) {
  const path = join(options.to, file.name);
  try {
    await mkdir(options.to, { recursive: true });
    const editions = await knownEditions(file, options.to);
    if (existsSync(path)) {
      if (await matches(path, editions, options.signal)) return 'present';
      options.onNote?.(`${file.name} is here, but is not what the manifest says: fetching it anew.`);
    }
    return await fetchInto(`${path}.part`, path, file, editions, options);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    throw storageProblem(error, path);
  }
}

/**
 * @param {string} part @param {string} path @param {import('./model-manifest.mjs').ModelFile} file
 * @param {import('./model-manifest.mjs').Edition[]} editions @param {PullOptions} options
 * @returns {Promise<PullResult>}
 */
async function fetchInto(part, path, file, editions, options) {
  let wasBegunEarlier = sizeOf(part) > 0;
  for (;;) {
    await complete(part, file, editions, options);
    const found = await fingerprint(part, options.signal);
    const isPinned = editions.some(({ sha256 }) => sha256 !== null);
    if (editions.some((edition) => isSame(edition, found))) {
      await rename(part, path);
      if (isPinned) return 'pulled';
      await record(options.to, file.name, found);
      return 'recorded';
    }
    rmSync(part, { force: true });
    if (!wasBegunEarlier) {
      const expected = editions.map(({ sha256, bytes }) => `${sha256} (${bytes} bytes)`).join(' or ');
      throw new PullError(
        'mismatch',
        `${file.name} from ${options.source.name} is not the file the manifest names; it was removed.\n` +
          `  expected sha256 ${expected}\n  found    sha256 ${found.sha256} (${found.bytes} bytes)\n` +
          'A mirror may hold another version, or something on the way changed it. Try another place with --from.',
      );
    }
    wasBegunEarlier = false;
    options.onNote?.(`${file.name}: what an earlier run had begun does not fit; fetching it anew.`);
  }
}

/**
 * Appends until the part is whole.
 *
 * @param {string} part @param {import('./model-manifest.mjs').ModelFile} file
 * @param {import('./model-manifest.mjs').Edition[]} editions @param {PullOptions} options
 */
async function complete(part, file, editions, options) {
  const { signal, source, wait = (ms) => sleep(ms, undefined, { signal }) } = options;
  const isUnknown = editions.some(({ bytes }) => bytes === null);
  const bytesMax = isUnknown
    ? PULL_LIMITS.unknownBytesMax
    : Math.max(...editions.map(({ bytes }) => bytes ?? 0));
  const begun = sizeOf(part);
  // Whole already: the last run ended between its last byte and the rename.
  if (begun > 0 && (await matches(part, editions, signal))) return;
  if (begun >= bytesMax) rmSync(part);
  let fruitlessCount = 0;
  for (let attempt = 1; ; attempt += 1) {
    const before = sizeOf(part);
    try {
      await transfer(part, file, { editions, bytesMax, before }, options);
      return;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof RangeRefused) {
        if (before === 0) throw new PullError('failed', `${source.name} answers nonsense for ${file.name}.`);
        rmSync(part, { force: true });
        continue;
      }
      if (!(error instanceof TransferError)) throw error;
      const have = sizeOf(part);
      fruitlessCount = have > before ? 0 : fruitlessCount + 1;
      if (fruitlessCount >= PULL_LIMITS.fruitlessAttemptsMax || attempt >= PULL_LIMITS.attemptsMax)
        throw new PullError('unreachable', givenUp(error, file.name, have));
      const delayMs = Math.min(
        PULL_LIMITS.retryAfterMsMax,
        error.retryAfterMs ?? PULL_LIMITS.backoffMs * 2 ** fruitlessCount,
      );
      options.onNote?.(
        `${file.name}: ${error.message}; again in ${delayMs / 1_000} s${have > 0 ? `, from byte ${have} on` : ''}.`,
      );
      await wait(delayMs);
    }
  }
}

/**
 * One exchange: appends what comes to the part.
 *
 * @param {string} part @param {import('./model-manifest.mjs').ModelFile} file
 * @param {{ editions: import('./model-manifest.mjs').Edition[], bytesMax: number, before: number }} known
 * @param {PullOptions} options
 */
async function transfer(part, file, { editions, bytesMax, before }, options) {
  const { source, signal, onProgress, freeBytes = freeBytesOf } = options;
  const opened = await source.open(file, before, signal);
  try {
    const { offset, totalBytes } = opened;
    if (totalBytes !== null && !editions.some(({ bytes }) => bytes === null || bytes === totalBytes)) {
      const expected = editions.map(({ bytes }) => bytes).join(' or ');
      throw new PullError(
        'mismatch',
        `${file.name} at ${source.name} has ${totalBytes} bytes; the manifest says ${expected}. ` +
          'It is another version, or a page that asks to log in. Try another place with --from.',
      );
    }
    const missing = (totalBytes ?? file.bytes ?? 0) - offset;
    const free = freeBytes(options.to);
    if (missing > free) {
      throw new PullError(
        'storage',
        `${file.name} needs ${missing} more bytes and ${options.to} has ${free} left. ` +
          'Free some space, or name another folder with --to.',
      );
    }
    const end = await append(part, opened, (have) => {
      if (have > bytesMax)
        throw new PullError('mismatch', `${source.name} sends more for ${file.name} than the manifest says.`);
      onProgress?.(have, totalBytes ?? file.bytes);
    });
    if (totalBytes !== null && end < totalBytes)
      throw new TransferError(`the answer ended after ${end} of ${totalBytes} bytes`);
  } catch (error) {
    // What is of another file is of no use later.
    if (error instanceof PullError && error.problem === 'mismatch') rmSync(part, { force: true });
    throw error;
  } finally {
    opened.cancel();
  }
}

/**
 * @param {string} part @param {import('./model-source.mjs').OpenedFile} opened
 * @param {(haveBytes: number) => void} onBytes before they are written; throws to refuse them
 * @returns {Promise<number>} length of the part
 */
async function append(part, { offset, chunks }, onBytes) {
  // A host that can't resume sends the file from its beginning.
  const handle = await open(part, offset > 0 ? 'r+' : 'w');
  let have = offset;
  try {
    onBytes(have);
    for await (const chunk of chunks) {
      onBytes(have + chunk.length);
      await writeAll(handle, chunk, have);
      have += chunk.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return have;
}

/** @param {import('node:fs/promises').FileHandle} handle @param {Uint8Array} bytes @param {number} position */
async function writeAll(handle, bytes, position) {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** @param {TransferError} error @param {string} name @param {number} have */
function givenUp(error, name, have) {
  const rest = have > 0 ? `\n${have} bytes of ${name} are kept: run this again to go on from there.` : '';
  return error.unreachable && have === 0
    ? `${error.message}.\nIf this machine has no way out, fetch the folder on another and give it with --from <folder>, ` +
        'or name a mirror with --from <URL> or MODELS_MIRROR. HTTPS_PROXY is respected.'
    : `${error.message}.${rest}`;
}

/** @param {string} path @returns {number} 0: absent */
const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** @param {string} folder */
function freeBytesOf(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @param {string} path @param {AbortSignal} signal @returns {Promise<{ bytes: number, sha256: string }>} of what lies on the disk */
async function fingerprint(path, signal) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024, signal })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** @param {import('./model-manifest.mjs').Edition} edition @param {{ bytes: number, sha256: string }} found */
const isSame = (edition, found) =>
  (edition.bytes === null || edition.bytes === found.bytes) &&
  (edition.sha256 === null || edition.sha256 === found.sha256);

/** @param {string} path @param {import('./model-manifest.mjs').Edition[]} editions @param {AbortSignal} signal */
async function matches(path, editions, signal) {
  const size = sizeOf(path);
  // A recorded checksum stands in for one that is not pinned; without either, what is here proves nothing.
  const candidates = editions.filter(
    ({ bytes, sha256 }) => sha256 !== null && (bytes === null || bytes === size),
  );
  if (candidates.length === 0) return false;
  const found = await fingerprint(path, signal);
  return candidates.some((edition) => isSame(edition, found));
}

/** The manifest's editions; for a file that none pins, what was recorded here before. @param {import('./model-manifest.mjs').ModelFile} file @param {string} folder */
async function knownEditions(file, folder) {
  const editions = editionsOf(file);
  if (editions.some(({ sha256 }) => sha256 !== null)) return editions.filter(({ sha256 }) => sha256 !== null);
  const recorded = (await readRecorded(folder))[file.name];
  return recorded === undefined ? editions : [recorded];
}

/** @param {string} folder @returns {Promise<Record<string, { bytes: number, sha256: string }>>} */
async function readRecorded(folder) {
  const path = join(folder, RECORDED_FILE);
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    throw new PullError('failed', `${path} can't be read. Remove it to record checksums anew.`);
  }
}

/** @param {string} folder @param {string} name @param {{ bytes: number, sha256: string }} found */
async function record(folder, name, found) {
  const path = join(folder, RECORDED_FILE);
  const recorded = { ...(await readRecorded(folder)), [name]: found };
  await writeFile(`${path}.part`, `${JSON.stringify(recorded, null, 2)}\n`);
  await rename(`${path}.part`, path);
}
