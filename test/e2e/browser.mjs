/**
 * The browser of the end-to-end tests and of the bench: an installed Chromium where there is one (or the one that
 * CHROMIUM_PATH names), else the one inside the npm package @sparticuz/chromium, unpacked once into .cache/chromium.
 * The package's own launch arguments are not used: they switch web security off, and tests would pass that a user's
 * browser fails. JavaScript, because the bench runs on bare node.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const cacheFolder = fileURLToPath(new URL('../../.cache/chromium', import.meta.url));

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
async function findBrowser() {
  const installed = [process.env.CHROMIUM_PATH, '/usr/bin/chromium'].find((path) => path && existsSync(path));
  if (installed) return { executablePath: installed, environment: {} };

  mkdirSync(cacheFolder, { recursive: true });
  // The package reads the environment to decide what to unpack and where, and changes it; undone for other children.
  const changed = ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'HOME'];
  const before = changed.map((name) => process.env[name]);
  process.env.TMPDIR = cacheFolder;
  process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs20.x';
  try {
    const { default: packaged } = await import('@sparticuz/chromium');
    return {
      executablePath: await packaged.executablePath(),
      environment: {
        TMPDIR: cacheFolder,
        FONTCONFIG_PATH: `${cacheFolder}/fonts`,
        LD_LIBRARY_PATH: `${cacheFolder}/al2023/lib`,
      },
    };
  } finally {
    for (const [at, name] of changed.entries()) {
      const value = before[at];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** @returns {Promise<import('playwright-core').Browser>} the caller closes it */
export async function launchBrowser() {
  const { executablePath, environment } = await findBrowser();
  const env = /** @type {Record<string, string>} */ ({ ...process.env, ...environment });
  return chromium.launch({ executablePath, headless: true, args: launchArguments, env });
}
