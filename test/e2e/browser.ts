/**
 * The browser of the end-to-end tests: an installed Chromium where there is one (or the one that CHROMIUM_PATH
 * names), else the one inside the npm package @sparticuz/chromium, unpacked once into .cache/chromium.
 * The package's own launch arguments are not used: they switch web security off, and tests would pass that a
 * user's browser fails.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

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

/** Path of the browser, and what its process needs in its environment. */
interface BrowserBinary {
  readonly executablePath: string;
  readonly environment: Record<string, string>;
}

async function findBrowser(): Promise<BrowserBinary> {
  const installed = [process.env.CHROMIUM_PATH, '/usr/bin/chromium'].find((path) => path && existsSync(path));
  if (installed) return { executablePath: installed, environment: {} };

  mkdirSync(cacheFolder, { recursive: true });
  // The package decides by the environment where to unpack, and whether to unpack the system libraries (NSS, NSPR)
  // that a bare machine lacks; it also changes the environment. All of that is undone, for other children's sake.
  const environmentBefore = { ...process.env };
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
    for (const name of ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'HOME']) {
      const before = environmentBefore[name];
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  }
}

/**
 * Starts a headless browser with web security on; about a second, three on the very first call.
 * The caller closes it.
 */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, environment } = await findBrowser();
  return chromium.launch({
    executablePath,
    headless: true,
    args: launchArguments,
    env: { ...(process.env as Record<string, string>), ...environment },
  });
}
