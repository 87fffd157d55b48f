import { systemViewSchema } from '#contracts';
import type { Route } from '../route.js';
import { notReadySchema, openApiSchema } from '../schemas.js';
import { ok } from './parameters.js';

export const OPERATION_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/healthz',
    tag: 'Operation',
    summary: 'Is the process alive',
    caller: 'anybody',
    answers: { 200: ok('It is.') },
  },
  {
    method: 'get',
    path: '/readyz',
    tag: 'Operation',
    summary: 'Should it be sent traffic',
    caller: 'anybody',
    answers: {
      200: ok('Yes.'),
      503: {
        description: 'No, and why not.',
        schema: notReadySchema,
        example: { status: 'unavailable', reasons: ['draining'] },
      },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    tag: 'Operation',
    summary: 'Metrics for Prometheus',
    description:
      'Open to this machine itself, asked by an address or a name without a dot, unless the settings name a reverse proxy; anybody else sends an operator token.',
    caller: 'loopback_or_observe',
    answers: { 200: { description: 'Prometheus text.', mediaType: 'text/plain' } },
  },
  {
    method: 'get',
    path: '/v1/system',
    tag: 'Operation',
    summary: 'Look at the parts this gateway leans on',
    description:
      'Whether it is ready, as `/readyz` says it; the upstreams of your tenant by the calls that this gateway sent there, the embedding sidecar, its latency as this gateway sees it, what failed open since the start, Redis.',
    caller: 'observe',
    answers: { 200: { description: 'As it is now.', schema: systemViewSchema } },
  },
  {
    method: 'get',
    path: '/v1/openapi.json',
    tag: 'Operation',
    summary: 'This documentation for machines',
    caller: 'anybody',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: openApiSchema } },
  },
  {
    method: 'get',
    path: '/docs',
    tag: 'Operation',
    summary: 'This documentation for people',
    caller: 'anybody',
    answers: { 200: { description: 'A page.', mediaType: 'text/html' } },
  },
];
