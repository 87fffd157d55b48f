import { sessionAnswerSchema } from '#contracts';
import { alertsQuery, sessionsQuery, stepsQuery } from '../../decision-log/sessions.controller.js';
import { pageQuery } from '../../page-query.js';
import type { Route } from '../route.js';
import { pages } from '../schemas.js';
import { EXAMPLE, sessionParams } from './parameters.js';

export const SESSION_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/sessions',
    tag: 'Sessions',
    summary: 'List sessions',
    description: 'Most recently seen first.',
    caller: 'agent_or_observe',
    query: sessionsQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.sessions } },
  },
  {
    method: 'get',
    path: '/v1/sessions/{session_id}',
    tag: 'Sessions',
    summary: 'Look into one session',
    description: 'Its row as in the list, and the entropy alerts it raised; null for none.',
    caller: 'agent_or_observe',
    params: sessionParams,
    readsStore: true,
    answers: { 200: { description: 'The session.', schema: sessionAnswerSchema } },
    errors: ['session_not_found'],
  },
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/decision-logs',
    tag: 'Sessions',
    summary: 'Page through the steps of a session',
    description: 'Scores and severities are those of the gateway.',
    caller: 'agent_or_observe',
    params: sessionParams,
    query: stepsQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.steps } },
    errors: ['session_not_found'],
  },
  {
    method: 'get',
    path: '/v1/alerts',
    tag: 'Sessions',
    summary: 'List entropy alerts',
    description: 'Newest first: every step at which a session was found going round in circles.',
    caller: 'observe',
    query: alertsQuery,
    readsStore: true,
    answers: {
      200: {
        description: 'One page.',
        schema: pages.alerts,
        example: {
          items: [
            {
              event_type: 'entropy_alert',
              session_id: EXAMPLE.sessionId,
              agent_id: EXAMPLE.agentId,
              entropy_score: 0.2,
              window_size: 5,
              repeated_pattern: {
                intent: 'Find the price',
                tool_call: 'web_search',
                action_status: 'failure',
              },
              occurrence_count: 5,
              at_ms: EXAMPLE.atMs,
              seq: 41,
            },
          ],
          next_cursor: null,
        },
      },
    },
  },
  {
    method: 'get',
    path: '/v1/violations',
    tag: 'Sessions',
    summary: 'List messages that were rejected',
    description: 'Newest first. The message itself is never kept, only its hash.',
    caller: 'observe',
    query: pageQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.violations } },
  },
];
