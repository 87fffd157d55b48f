/**
 * The browser of the end-to-end tests and of the bench: an installed Chromium where there is one (or the one that
 * CHROMIUM_PATH names), else the one inside the npm package @sparticuz/chromium, unpacked once into .cache/chromium.
 * CHROMIUM_PATH=packaged takes the package's even where another is installed.
 * The package's own launch arguments are not used: they switch web security off, and tests would pass that a user's
 * browser fails. JavaScript, because the bench runs on bare node.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const PACKAGED = 'packaged';

const cacheFolder = fileURLToPath(new URL('../../.cache/chromium', import.meta.url));
const fontsConfiguration = fileURLToPath(new URL('fonts.conf', import.meta.url));

const launchArguments = [
  '--headless=new',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--font-render-hinting=none',
  '--hide-scrollbars',
  '--no-first-run',
  // Tests often run as root in a container, where Chromium's sandbox cannot start; pages are our own.
  '--no-sandbox',
];

/** @returns {Promise<{ executablePath: string, environment: Record<string, string> }>} */
async function findBrowser(/** @type {string | undefined} */ wanted) {
  const candidates = wanted === PACKAGED ? [] : [wanted, '/usr/bin/chromium'];
  const installed = candidates.find((path) => path && existsSync(path));
  return installed ? { executablePath: installed, environment: {} } : packagedBrowser();
}

/** @returns {Promise<{ executablePath: string, environment: Record<string, string> }>} */
async function packagedBrowser() {
  if (!existsSync(cacheFolder)) await unpackBrowser();
  return {
    executablePath: join(cacheFolder, 'chromium'),
    environment: {
      TMPDIR: cacheFolder,
      FONTCONFIG_FILE: fontsConfiguration,
      LD_LIBRARY_PATH: `${cacheFolder}/al2023/lib`,
      // Under C or POSIX it calls its language `en-US@posix`, which Intl refuses: charts would fail to load.
      LC_ALL: 'en_US.UTF-8',
    },
  };
}

/** It is there whole or not at all: other test files look for it meanwhile, and this one may be killed. */
async function unpackBrowser() {
  mkdirSync(dirname(cacheFolder), { recursive: true });
  const unfinished = mkdtempSync(`${cacheFolder}-`);
  // The package reads the environment to decide what to unpack and where, and changes it; undone for other children.
  const changed = ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'HOME'];
  const before = changed.map((name) => process.env[name]);
  process.env.TMPDIR = unfinished;
  process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs20.x';
  try {
    const { default: packaged } = await import('@sparticuz/chromium');
    await packaged.executablePath();
    renameSync(unfinished, cacheFolder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another test file was faster.
    if (!existsSync(cacheFolder)) throw error;
  } finally {
    for (const [at, name] of changed.entries()) {
      const value = before[at];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/**
 * @param {string} [wanted] a path, or 'packaged' for the one inside the npm package
 * @returns {Promise<import('playwright-core').Browser>} the caller closes it
 */
export async function launchBrowser(wanted = process.env.CHROMIUM_PATH) {
  const { executablePath, environment } = await findBrowser(wanted);
  const env = /** @type {Record<string, string>} */ ({ ...process.env, ...environment });
  return chromium.launch({ executablePath, headless: true, args: launchArguments, env });
}
