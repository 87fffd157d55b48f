/**
 * `POST /v1/decision-logs`, answered ahead of Fastify: what the framework and the hooks around it cost is as much as
 * everything the gateway does with a message. One object, a JSON array, or NDJSON; answers as the design's section 2
 * has them.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AgentPrincipal,
  type ErrorAnswer,
  type IngestAnswer,
  LIMITS,
  ObservatoryError,
  type RejectedAnswer,
} from '#contracts';
import type { JsonBounds } from '#kernel';
import type { FairShare } from '../fair-share.js';
import { requireWithin } from '../json-bounds.js';
import { type RawRoute, type SendRawError, sendJson } from '../raw-routes.js';
import { requireBatchSize } from './batch-size.js';
import { type BodyLimits, readBody } from './body-reader.js';
import { findDuplicateKey } from './duplicate-key.js';
import type { IngestEvents } from './ingest-events.js';
import type { IngestRate } from './ingest-rate.js';
import { parseJsonText } from './json-text.js';
import { type Incoming, trimmed } from './read-message.js';
import type { SchemaInterceptor } from './schema-interceptor.js';

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
  rate: IngestRate;
  limits: BodyLimits;
  /** Of all bodies from their reading to their answers: a small one may inflate to many bytes, and then never end. */
  bodyBytes: FairShare;
  sendError: SendRawError;
  events: IngestEvents;
}

const PATH = '/v1/decision-logs';

type BodyFormat = 'json' | 'ndjson';
/** Media type, in lower case and without parameters -> how the body is read. */
const FORMATS = new Map<string, BodyFormat>([
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
]);
/** True of a request without a key, and of one with a wrong key. */
const UNAUTHORIZED =
  'Send a valid agent key: Authorization: Bearer <agent key>. An operator token is none, nor is the key of a vendor.';
const RETRY_AFTER_SECONDS: Record<IngestRefusal, number> = { store_busy: 1, store_full: 5, draining: 2 };

export function ingestRoute(parts: IngestRouteParts): RawRoute {
  return {
    handles: (method, url) =>
      method === 'POST' && url.startsWith(PATH) && (url.length === PATH.length || url[PATH.length] === '?'),
    handle: (request, response) => {
      handle(parts, request, response).catch((error: unknown) => {
        if (error instanceof ObservatoryError) parts.events.refused(error.code);
        parts.sendError(response, error);
      });
    },
  };
}

async function handle(
  parts: IngestRouteParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { authorization, 'x-observatory-key': key } = request.headers;
  const principal = parts.authenticate(authorization, typeof key === 'string' ? key : undefined);
  if (principal === null) throw new ObservatoryError('unauthorized', UNAUTHORIZED);
  const format = bodyFormat(request);
  const refusal = parts.refusal();
  if (refusal !== null) {
    throw new ObservatoryError(refusal, undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS[refusal] });
  }
  parts.rate.check(principal.key_id);
  const { tenant_id } = principal;
  let takenBytes = 0;
  const take = (byteCount: number): boolean => {
    if (!parts.bodyBytes.take(tenant_id, byteCount)) return false;
    takenBytes += byteCount;
    return true;
  };
  try {
    await answerBody(
      parts,
      principal,
      { format, body: await readBody(request, parts.limits, take) },
      response,
    );
  } finally {
    parts.bodyBytes.giveBack(tenant_id, takenBytes);
  }
}

async function answerBody(
  parts: IngestRouteParts,
  principal: AgentPrincipal,
  { format, body }: { format: BodyFormat; body: Buffer },
  response: ServerResponse,
): Promise<void> {
  const startedMs = performance.now();
  if (!isUtf8(body)) throw new ObservatoryError('invalid_json', 'The body is not valid UTF-8.');
  requireWithin(body, JSON_BOUNDS);
  const { messages, isBatch } = format === 'ndjson' ? parseLines(body) : parseJson(body);
  parts.rate.take(principal.key_id, messages.length);
  const answers = await parts.interceptor.intercept(principal.tenant_id, messages);
  parts.events.answered(performance.now() - startedMs);
  if (isBatch) answerBatch(response, answers);
  else answerOne(response, answers[0] as IngestAnswer);
}

/** @throws ObservatoryError unsupported_media_type; a request without a body need not name its type */
function bodyFormat({ headers }: IncomingMessage): BodyFormat {
  const type = headers['content-type'];
  if (type === undefined) {
    const isEmpty =
      headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    if (isEmpty) return 'json';
    throw new ObservatoryError('unsupported_media_type');
  }
  const format = FORMATS.get(type) ?? FORMATS.get(mediaTypeOf(type));
  if (format === undefined) throw new ObservatoryError('unsupported_media_type');
  return format;
}

const mediaTypeOf = (header: string): string => (header.split(';', 1)[0] as string).trim().toLowerCase();

interface Parsed {
  messages: Incoming[];
  isBatch: boolean;
}

function parseJson(body: Buffer): Parsed {
  const { text, bytes } = trimmed(body);
  const read = parseJsonText(text);
  if (!read.ok) throw new ObservatoryError('invalid_json', read.detail);
  const { value } = read;
  if (!Array.isArray(value)) return { messages: [{ value, text, bytes }], isBatch: false };
  requireBatchSize(value.length);
  const duplicate = findDuplicateKey(text);
  if (duplicate !== null) {
    throw new ObservatoryError('invalid_json', `duplicate key: ${JSON.stringify(duplicate.slice(0, 80))}`);
  }
  return { messages: value.map((element: unknown) => ({ value: element, text: null })), isBatch: true };
}

/** Lines of a body, blank ones among them: each is looked at, however short it is, and a small body inflates to millions. */
const LINES_MAX = 20 * LIMITS.batchCountMax;

/**
 * Blank lines are skipped; a line that does not parse is answered in its place, its neighbours are taken. Split as
 * bytes: a line is made into text when its turn comes, and hashed as it came. Looks no further than it has to.
 */
function parseLines(body: Buffer): Parsed {
  const messages: Incoming[] = [];
  for (let from = 0, lineNumber = 1; from < body.length; lineNumber += 1) {
    const end = body.indexOf(LINE_FEED, from);
    const to = end === -1 ? body.length : end;
    const isBlank = body[from] !== OPENING_BRACE && body.toString('utf8', from, to).trim() === '';
    if (!isBlank) messages.push({ line: body.subarray(from, to), lineNumber });
    if (messages.length > LIMITS.batchCountMax) break;
    if (lineNumber > LINES_MAX)
      throw new ObservatoryError('payload_too_large', `The body holds more than ${LINES_MAX} lines.`);
    from = to + 1;
  }
  requireBatchSize(messages.length);
  return { messages, isBatch: true };
}

const LINE_FEED = 0x0a;
const OPENING_BRACE = 0x7b;

/** Of all messages in it. How deep each may be is told of each. */
const JSON_BOUNDS: JsonBounds = {
  depthMax: Number.POSITIVE_INFINITY,
  valuesMax: LIMITS.jsonValuesMax,
  namesMax: LIMITS.jsonNamesMax,
};

function answerOne(response: ServerResponse, answer: IngestAnswer): void {
  if (answer.status === 'accepted') sendJson(response, 202, JSON.stringify(answer));
  else if (answer.reason === 'invalid_json') sendJson(response, 400, JSON.stringify(invalidJson(answer)));
  else sendJson(response, 422, JSON.stringify(answer));
}

const invalidJson = ({ detail }: RejectedAnswer): ErrorAnswer => ({
  status: 'error',
  reason: 'invalid_json',
  detail,
});

function answerBatch(response: ServerResponse, results: IngestAnswer[]): void {
  const accepted = results.filter((answer) => answer.status === 'accepted').length;
  const status = accepted === results.length ? 202 : accepted > 0 ? 207 : 422;
  sendJson(response, status, JSON.stringify({ results }));
}
