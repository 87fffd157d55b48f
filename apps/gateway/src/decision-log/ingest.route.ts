/**
 * `POST /v1/decision-logs`, on the raw Fastify instance: the hot path goes around Nest's router and pipes.
 * One object, a JSON array, or NDJSON; answers as the design's section 2 has them.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type AgentPrincipal,
  type ErrorAnswer,
  type IngestAnswer,
  LIMITS,
  ObservatoryError,
  type RejectedAnswer,
} from '#contracts';
import type { SendError } from '../errors/send-error.js';
import { type BodyLimits, readBody } from './body-reader.js';
import { findDuplicateKey } from './duplicate-key.js';
import type { IngestEvents } from './ingest-events.js';
import { parseJsonText } from './json-text.js';
import type { Incoming, SchemaInterceptor } from './schema-interceptor.js';

/** Why nothing can be taken right now. */
export type IngestRefusal = 'store_busy' | 'store_full' | 'draining';

export interface IngestRouteParts {
  authenticate: (
    authorization: string | undefined,
    observatoryKey: string | undefined,
  ) => AgentPrincipal | null;
  interceptor: SchemaInterceptor;
  /** Why nothing can be stored right now, or null. */
  refusal: () => IngestRefusal | null;
  limits: BodyLimits;
  sendError: SendError;
  events: IngestEvents;
}

const JSON_TYPES = ['application/json', 'text/json'];
const NDJSON_TYPES = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
];
const RETRY_AFTER_SECONDS: Record<IngestRefusal, number> = { store_busy: 1, store_full: 5, draining: 2 };

/** Must be registered before the app listens; brings its own body parsing and touches no other route's. */
export async function ingestRoute(fastify: FastifyInstance, parts: IngestRouteParts): Promise<void> {
  await fastify.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser([...JSON_TYPES, ...NDJSON_TYPES], (_request, payload, done) =>
      done(null, payload),
    );
    scope.addHook('onRequest', (request, _reply, done) => {
      const { authorization, 'x-observatory-key': key } = request.headers;
      const principal = parts.authenticate(authorization, typeof key === 'string' ? key : undefined);
      if (principal === null) {
        done(new ObservatoryError('unauthorized', 'Send an agent key: Authorization: Bearer <agent key>.'));
        return;
      }
      (request as IngestRequest).agent = principal;
      done();
    });
    scope.setErrorHandler((error, request, reply) => {
      const known = error as { code?: string };
      const refused =
        known.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
          ? new ObservatoryError('unsupported_media_type')
          : error;
      if (refused instanceof ObservatoryError) parts.events.refused(refused.code);
      // An unread body would be taken for the next request.
      if (!request.raw.complete) reply.header('connection', 'close');
      parts.sendError(reply, refused);
    });
    scope.post('/v1/decision-logs', (request, reply) => handle(parts, request as IngestRequest, reply));
  });
}

interface IngestRequest extends FastifyRequest {
  agent: AgentPrincipal;
}

async function handle(
  parts: IngestRouteParts,
  request: IngestRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = parts.refusal();
  if (refusal !== null) {
    throw new ObservatoryError(refusal, undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS[refusal] });
  }
  const body = await readBody(request.raw, parts.limits);
  const startedMs = performance.now();
  if (!isUtf8(body)) throw new ObservatoryError('invalid_json', 'The body is not valid UTF-8.');
  const text = body.toString('utf8');
  const isNdjson = NDJSON_TYPES.some((type) => request.headers['content-type']?.startsWith(type));
  const { messages, isBatch } = isNdjson ? parseLines(text) : parseJson(text);
  const answers = await parts.interceptor.intercept(request.agent.tenant_id, messages);
  parts.events.answered(performance.now() - startedMs);
  return isBatch ? answerBatch(reply, answers) : answerOne(reply, answers[0] as IngestAnswer);
}

interface Parsed {
  messages: Incoming[];
  isBatch: boolean;
}

function parseJson(text: string): Parsed {
  const read = parseJsonText(text);
  if (!read.ok) throw new ObservatoryError('invalid_json', read.detail);
  const { value } = read;
  if (!Array.isArray(value)) return { messages: [{ value, text: text.trim() }], isBatch: false };
  requireBatchSize(value.length);
  const duplicate = findDuplicateKey(text);
  if (duplicate !== null) {
    throw new ObservatoryError('invalid_json', `duplicate key: ${JSON.stringify(duplicate.slice(0, 80))}`);
  }
  return { messages: value.map((element: unknown) => ({ value: element, text: null })), isBatch: true };
}

/** Blank lines are skipped; a line that does not parse is answered in its place, its neighbours are taken. */
function parseLines(text: string): Parsed {
  const messages: Incoming[] = [];
  let lineNumber = 0;
  for (const line of text.split('\n')) {
    lineNumber += 1;
    const trimmed = line.trim();
    if (trimmed === '') continue;
    messages.push({ line: trimmed, lineNumber });
  }
  requireBatchSize(messages.length);
  return { messages, isBatch: true };
}

function requireBatchSize(count: number): void {
  if (count === 0)
    throw new ObservatoryError('invalid_request', 'The batch is empty; send at least one DecisionLog.');
  if (count > LIMITS.batchCountMax) {
    throw new ObservatoryError(
      'payload_too_large',
      `The batch holds ${count} DecisionLogs; send at most ${LIMITS.batchCountMax} at once.`,
    );
  }
}

function answerOne(reply: FastifyReply, answer: IngestAnswer): FastifyReply {
  if (answer.status === 'accepted') return reply.code(202).send(answer);
  if (answer.reason === 'invalid_json') return reply.code(400).send(invalidJson(answer));
  return reply.code(422).send(answer);
}

const invalidJson = ({ detail }: RejectedAnswer): ErrorAnswer => ({
  status: 'error',
  reason: 'invalid_json',
  detail,
});

function answerBatch(reply: FastifyReply, results: IngestAnswer[]): FastifyReply {
  const accepted = results.filter((answer) => answer.status === 'accepted').length;
  return reply.code(accepted === results.length ? 202 : accepted > 0 ? 207 : 422).send({ results });
}
