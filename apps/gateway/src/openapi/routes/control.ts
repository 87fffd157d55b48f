import {
  ackAnswerSchema,
  commandAnswerSchema,
  commandBodySchemas,
  controlPollAnswerSchema,
} from '#contracts';
import { pollQuery } from '../../hitl/agent-control.controller.js';
import type { Route } from '../route.js';
import { acknowledgeBodySchema, sampleLoopAnswerSchema } from '../schemas.js';
import { EXAMPLE, sessionParams } from './parameters.js';

/** What the five commands have in common. */
const command = {
  method: 'post',
  tag: 'Control',
  caller: 'command',
  params: sessionParams,
} as const;

const commandErrors = [
  'session_not_found',
  'session_terminated',
  'invalid_fields',
  'too_many_directives',
  'store_busy',
  'store_full',
] as const;

export const CONTROL_ROUTES: readonly Route[] = [
  {
    ...command,
    path: '/v1/sessions/{session_id}/pause',
    summary: 'Pause a session',
    description:
      'From now on its messages are stored but held back, its proxied calls wait, and the agent is told, with the reason. ' +
      'An abandoned pause expires as configured.',
    body: {
      content: { 'application/json': commandBodySchemas.pause },
      example: { reason: 'It has searched for the same thing five times' },
    },
    answers: {
      200: { description: 'Paused, or was already.', schema: commandAnswerSchema, example: { status: 'ok' } },
    },
    errors: commandErrors,
  },
  {
    ...command,
    path: '/v1/sessions/{session_id}/resume',
    summary: 'Resume a session',
    description: 'What was held is published in order. The body may be left out.',
    body: {
      content: { 'application/json': commandBodySchemas.resume },
      example: { reason: 'The order was found by hand' },
    },
    answers: {
      200: {
        description: 'Active again, or was already.',
        schema: commandAnswerSchema,
        example: { status: 'ok', flushed_count: 3 },
      },
    },
    errors: commandErrors,
  },
  {
    ...command,
    path: '/v1/sessions/{session_id}/inject',
    summary: 'Give an agent a hint',
    description:
      'The prompt reaches the agent as a directive, at least once; repeats have the same directive_id.',
    body: {
      content: { 'application/json': commandBodySchemas.inject },
      example: { prompt: 'The price list is in the attachment; do not search for it.' },
    },
    answers: {
      200: { description: 'On its way.', schema: commandAnswerSchema, example: { status: 'ok' } },
    },
    errors: commandErrors,
  },
  {
    ...command,
    path: '/v1/sessions/{session_id}/rewrite',
    summary: 'Rewrite a held message',
    description: 'Replaces the tool input of a step that a pause holds back.',
    body: {
      content: { 'application/json': commandBodySchemas.rewrite },
      example: { trace_id: EXAMPLE.traceId, new_content: { query: 'copper price LME today' } },
    },
    answers: { 200: { description: 'Rewritten.', schema: commandAnswerSchema, example: { status: 'ok' } } },
    errors: [...commandErrors, 'held_message_not_found'],
  },
  {
    ...command,
    path: '/v1/sessions/{session_id}/terminate',
    summary: 'End a session',
    description:
      'Cannot be undone. Calls of the session that are held, or at their upstream, end with 403 `call_terminated`; a stream that has begun ends with an error event. The agent is told the reason.',
    body: {
      content: { 'application/json': commandBodySchemas.terminate },
      example: { reason: 'Wrong customer' },
    },
    answers: {
      200: {
        description: 'Terminated, or was already.',
        schema: commandAnswerSchema,
        example: { status: 'ok' },
      },
    },
    errors: commandErrors,
  },
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/control',
    tag: 'Control',
    summary: 'Wait for control',
    description:
      'For agents (operators may look): answers at once if there is something after the cursor, else as soon as there is, or after wait_s ' +
      'seconds with what is known. An agent that polls is under cooperative control.',
    caller: 'agent_or_observe',
    params: sessionParams,
    query: pollQuery,
    answers: {
      200: {
        description: 'State and directives.',
        schema: controlPollAnswerSchema,
        example: { session_id: EXAMPLE.sessionId, state: 'paused', directives: [], cursor: 4 },
      },
    },
    errors: ['session_not_found', 'too_many_polls', 'draining'],
  },
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/control/ack',
    tag: 'Control',
    summary: 'Confirm directives',
    description:
      'For agents: what was obeyed, up to a seq or one by one. Confirming a pause makes it acknowledged; confirming twice, or what was never given, does nothing.',
    caller: 'agent',
    params: sessionParams,
    body: { content: { 'application/json': acknowledgeBodySchema }, example: { seq: 4 } },
    answers: {
      200: {
        description: 'Noted; or nothing of it was waiting.',
        schema: ackAnswerSchema,
        example: { status: 'ok' },
      },
    },
    errors: ['session_not_found', 'invalid_fields'],
  },
  {
    method: 'post',
    path: '/v1/sample-loop',
    tag: 'Control',
    summary: 'Send a sample loop',
    description: 'Feeds a few steps of an agent that repeats itself, to see what an alert looks like.',
    caller: 'command',
    answers: { 202: { description: 'Sent; watch the dashboard.', schema: sampleLoopAnswerSchema } },
    errors: ['store_busy', 'store_full', 'answer_late'],
  },
];
