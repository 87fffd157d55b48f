import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';
import { pageUrl, serveDashboard } from './dashboard.js';

let home: string;
let dir: string;
let server: FastifyInstance;

/** As a build leaves it: a page, a script beside it, and a style sheet whose name tells its content. */
function build(hash: string): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, 'assets'), { recursive: true });
  writeFileSync(join(dir, 'index.html'), `<link rel="stylesheet" href="/assets/index-${hash}.css">`);
  writeFileSync(join(dir, 'theme.js'), '// before the page');
  writeFileSync(join(dir, 'assets', `index-${hash}.css`), `/* ${hash} */`);
}

beforeEach(async () => {
  home = temporaryFolder();
  dir = join(home, 'dashboard');
  build('first');
  server = fastify();
  await serveDashboard(server, dir);
});
afterEach(() => server.close());

const get = (url: string) => server.inject({ url });

it('is served as it was built anew meanwhile: the page, and the style sheet that it names', async () => {
  expect((await get('/assets/index-first.css')).body).toBe('/* first */');
  build('second');
  expect((await get('/index.html')).body).toContain('index-second.css');
  const { statusCode, body, headers } = await get('/assets/index-second.css');
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: '/* second */' });
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await get('/assets/index-first.css')).statusCode).toBe(404);
});

it('has its page asked for again each time, and what else keeps its name from build to build', async () => {
  for (const path of ['/', '/index.html', '/theme.js'])
    expect([path, (await get(path)).headers['cache-control']]).toEqual([path, 'no-cache']);
});

it('gives nothing beside its own files', async () => {
  writeFileSync(join(home, 'beside.css'), 'not ours');
  for (const path of ['/assets/', '/assets/../../beside.css', '/assets/%2e%2e/%2e%2e/beside.css'])
    expect([path, (await get(path)).statusCode]).toEqual([path, 404]);
});

it('gives its page for every address of the app, and the licences as the text that they are', () => {
  const asked = (url: string) => pageUrl({ method: 'GET', url, headers: { accept: 'text/html' } });
  expect(asked('/agents/notes.txt')).toBe('/index.html');
  expect(asked('/licenses.txt')).toBe('/licenses.txt');
});
