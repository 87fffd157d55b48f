import { z } from 'zod';
import { cacheInvalidateSchema, cacheStatsSchema, cacheVerdictSchema, semanticMatchSchema } from '#contracts';
import { pageQuery } from '../../page-query.js';
import type { Route } from '../route.js';
import { cacheInvalidatedSchema, pages } from '../schemas.js';

export const CACHE_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/cache/stats',
    tag: 'Cache',
    summary: 'Read what the cache does',
    description:
      'Of this tenant, since the gateway started; entries and bytes are of now. `wrong_hit_rate` counts what operators judged and what shadow mode compared.',
    caller: 'observe',
    answers: { 200: { description: 'The figures.', schema: cacheStatsSchema } },
  },
  {
    method: 'get',
    path: '/v1/cache/entries',
    tag: 'Cache',
    summary: 'List what is kept',
    description: 'Most hits first. No text of a question or of an answer.',
    caller: 'observe',
    query: pageQuery,
    answers: { 200: { description: 'One page.', schema: pages.cacheEntries } },
  },
  {
    method: 'get',
    path: '/v1/cache/matches',
    tag: 'Cache',
    summary: 'List semantic matches',
    description:
      'The latest, newest first, served or only noted by shadow mode. Both questions are redacted and cut.',
    caller: 'observe',
    query: pageQuery,
    answers: { 200: { description: 'One page.', schema: pages.semanticMatches } },
  },
  {
    method: 'post',
    path: '/v1/cache/matches/{match_id}/verdict',
    tag: 'Cache',
    summary: 'Judge a semantic match',
    description:
      '`wrong` also evicts the entry it came from, and the two questions match no more until the gateway starts anew or the match is judged `right`. A verdict that is given already changes nothing, in the audit neither.',
    caller: 'command',
    params: z.object({ match_id: z.string().describe('As in the list of matches.') }),
    body: { content: { 'application/json': cacheVerdictSchema }, example: { verdict: 'wrong' } },
    answers: { 200: { description: 'The match as judged.', schema: semanticMatchSchema } },
    errors: ['cache_match_not_found', 'cache_unavailable'],
  },
  {
    method: 'post',
    path: '/v1/cache/invalidate',
    tag: 'Cache',
    summary: 'Remove entries by a pattern',
    description:
      'A glob (`*` and `?`) over the names of an entry: its key, `agent:<id>`, `model:<name>`, `upstream:<name>`. Without a pattern: everything of this tenant. With `preview` it counts and removes nothing.',
    caller: 'command',
    body: {
      content: { 'application/json': cacheInvalidateSchema },
      example: { pattern: 'model:gpt-4o*', preview: true },
    },
    answers: { 200: { description: 'How many entries it is about.', schema: cacheInvalidatedSchema } },
    errors: ['cache_unavailable'],
  },
];
