/** Serves the built dashboard: assets, whose names tell their content, for a year, and index.html for every page of the app. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const DASHBOARD_DIR = fileURLToPath(new URL('.', import.meta.resolve('#built/dashboard/index.html')));

/** Paths that belong to programs: a miss there is a 404 and not a page. */
const PROGRAM_PATHS =
  /^\/(v1|proxy|agents\/[^/]+\/proxy|socket\.io|healthz|readyz|metrics|docs|assets|licenses\.txt)(\/|$|\?)/;

/** Nothing where the dashboard has not been built (development: Vite serves it). */
export async function serveDashboard(fastify: FastifyInstance, dir = DASHBOARD_DIR): Promise<void> {
  if (!existsSync(dir)) return;
  await fastify.register(fastifyStatic, {
    root: dir,
    wildcard: false,
    globIgnore: ['assets/**'],
    index: 'index.html',
    cacheControl: false,
    setHeaders: (response) => response.header('cache-control', 'no-cache'),
  });
  // Looked for when they are asked for: a dashboard built anew under a running gateway names others.
  await fastify.register(fastifyStatic, {
    root: join(dir, 'assets'),
    maxAge: '1y',
    immutable: true,
    prefix: '/assets/',
    preCompressed: true,
    decorateReply: false,
  });
}

/**
 * Every page of the app is index.html: a deep link opened anew must find it.
 *
 * @returns the path to serve instead of the one asked for
 */
export function pageUrl(request: { method?: string; url?: string; headers: { accept?: string } }): string {
  const url = request.url ?? '/';
  const isPage =
    request.method === 'GET' &&
    (request.headers.accept ?? '').includes('text/html') &&
    !PROGRAM_PATHS.test(url);
  return isPage ? '/index.html' : url;
}
