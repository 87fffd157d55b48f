import { batchAnswerSchema, decisionLogSchema } from '#contracts';
import type { Route } from '../route.js';
import { decisionLogBatchSchema, refusedAnswerSchema, storedAnswerSchema } from '../schemas.js';
import { EXAMPLE } from './parameters.js';

const decisionLog = {
  meta: { trace_id: EXAMPLE.traceId, timestamp: '2026-01-05T10:15:30Z', session_id: EXAMPLE.sessionId },
  identity: { agent_id: EXAMPLE.agentId, agent_type: 'researcher', capability_version: '1.4.0' },
  cognition: { intent: 'Find the current price', reasoning_chain: ['The cached price is a day old'] },
  action: {
    status: 'success',
    tool_call: 'web_search',
    tool_input: { query: 'price of copper' },
    duration_ms: 812,
  },
};

const accepted = {
  status: 'accepted',
  trace_id: EXAMPLE.traceId,
  session_id: EXAMPLE.sessionId,
  entropy: { score: 1, severity: 'normal', window_size: 1 },
  control: { state: 'active', directives: [] },
};

const rejected = {
  status: 'rejected',
  reason: 'schema_violation',
  detail: 'missing required field: meta.trace_id',
  trace_id: null,
};

export const INGEST_ROUTES: readonly Route[] = [
  {
    method: 'post',
    path: '/v1/decision-logs',
    tag: 'Ingest',
    summary: 'Report what an agent did',
    description:
      'One DecisionLog, an array of them, or one per line. 202 means stored: the answer leaves after the commit. ' +
      'A batch is not atomic; its results are in the order of the request. The same trace_id with the same body is ' +
      'the same step and counts once. The answer carries what operators want of the agent: its state and the ' +
      'directives it has not taken yet. Whole numbers beyond 2^53 in `action.tool_input`, such as ids of 64 bits, are ' +
      'kept as text, and a warning says so. Bodies may be compressed with gzip, deflate or br (brotli).',
    caller: 'agent',
    body: {
      content: {
        'application/json': decisionLogSchema,
        'application/json; batch': decisionLogBatchSchema,
        'application/x-ndjson': null,
      },
      example: decisionLog,
    },
    answers: {
      202: { description: 'All stored.', schema: storedAnswerSchema, example: accepted },
      207: {
        description: 'Of a batch, some were stored.',
        schema: batchAnswerSchema,
        example: { results: [accepted, rejected] },
      },
      422: {
        description: 'Does not fit the schema; of a batch, none did.',
        schema: refusedAnswerSchema,
        example: rejected,
      },
    },
    errors: [
      'invalid_request',
      'body_timeout',
      'rate_limited',
      'too_many_bytes',
      'store_busy',
      'store_full',
      'draining',
    ],
  },
];
