/**
 * `POST /v1/decision-logs`, answered ahead of Fastify: what the framework and the hooks around it cost is as much as
 * everything the gateway does with a message. One object, a JSON array, or NDJSON; answers as the design's section 2
 * has them.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  type AgentPrincipal,
  type ErrorAnswer,
  type IngestAnswer,
  LIMITS,
  ObservatoryError,
  type RejectedAnswer,
} from '#contracts';
import { findDuplicateKey, type JsonBounds } from '#kernel';
import { AGENT_KEY_WANTED } from '../auth/authenticator.js';
import { codeToldOf } from '../errors/refusal.js';
import type { FairShare } from '../fair-share.js';
import type { LaneRoute } from '../fast-lane/lane-connection.js';
import type { PlainHead } from '../fast-lane/plain-head.js';
import type { PlainAnswer } from '../fast-lane/plain-message.js';
import { requireWithin } from '../json-bounds.js';
import { type AnswerError, type RawRoute, sendJson } from '../raw-routes.js';
import { answersText, answerText, asciiText } from './answer-text.js';
import { requireBatchSize } from './batch-size.js';
import { type BodyLimits, noRoom, readBody, type TakeBytes } from './body-reader.js';

import type { IngestEvents } from './ingest-events.js';
import type { IngestRate } from './ingest-rate.js';
import { parseJsonText } from './json-text.js';
import type { KnownSenders, KnownSendersParts } from './known-senders.js';
import { type Incoming, trimmed } from './read-message.js';
import type { SchemaInterceptor } from './schema-interceptor.js';

/** Why nothing can be taken right now. */
export type IngestRefusal = 'store_busy' | 'store_full' | 'draining';

export interface IngestRouteParts {
  authenticate: KnownSendersParts['authenticate'];
  isInForce: KnownSendersParts['isInForce'];
  senders: KnownSenders;
  interceptor: SchemaInterceptor;
  /** Why nothing can be stored right now, or null. */
  refusal: (tenantId: string) => IngestRefusal | null;
  rate: IngestRate;
  limits: BodyLimits;
  /** Of all bodies from their reading to their answers: a small one may inflate to many bytes, and then never end. */
  bodyBytes: FairShare;
  answerError: AnswerError;
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
const RETRY_AFTER_SECONDS: Record<IngestRefusal, number> = { store_busy: 1, store_full: 5, draining: 2 };

export function ingestRoute(parts: IngestRouteParts): RawRoute & LaneRoute {
  return {
    handles: (method, url) =>
      method === 'POST' && url.startsWith(PATH) && (url.length === PATH.length || url[PATH.length] === '?'),
    handle: (request, response) => {
      const read: ReadBody = (take) => readBody(request, parts.limits, take);
      ingest(parts, askedOf(request, parts.authenticate), read).then(({ status, text, headers }) =>
        sendJson(response, status, text, headers),
      );
    },
    path: PATH,
    bodyBytesMax: parts.limits.bodyBytesMax,
    answer: (head, body) =>
      ingest(parts, askedOfPlain(head, body, parts.senders), (take) => {
        if (!take(body.length)) throw noRoom();
        return body;
      }),
  };
}

/** What a request says in its head. */
interface Asked {
  /** Null: nobody who may send. */
  sender: () => AgentPrincipal | null;
  contentType: string | undefined;
  /** It has no body. */
  isEmpty: boolean;
}

type ReadBody = (take: TakeBytes) => Buffer | Promise<Buffer>;

const askedOfPlain = (head: PlainHead, body: Buffer, senders: KnownSenders): Asked => ({
  sender: () => senders.of(head),
  contentType: head.contentType,
  isEmpty: body.length === 0,
});

function askedOf({ headers }: IncomingMessage, authenticate: IngestRouteParts['authenticate']): Asked {
  const key = headers['x-observatory-key'];
  return {
    sender: () => authenticate(headers.authorization, typeof key === 'string' ? key : undefined),
    contentType: headers['content-type'],
    isEmpty: headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0,
  };
}

/** Answers whatever happens: never rejects. */
async function ingest(parts: IngestRouteParts, asked: Asked, read: ReadBody): Promise<PlainAnswer> {
  let tenantId = '';
  let takenBytes = 0;
  try {
    const principal = asked.sender();
    if (principal === null) throw new ObservatoryError('unauthorized', AGENT_KEY_WANTED);
    tenantId = principal.tenant_id;
    const format = bodyFormat(asked);
    const refusal = parts.refusal(tenantId);
    if (refusal !== null) {
      throw new ObservatoryError(refusal, undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS[refusal] });
    }
    parts.rate.check(principal.key_id);
    const coming = read((byteCount) => {
      if (!parts.bodyBytes.take(tenantId, byteCount)) return false;
      takenBytes += byteCount;
      return true;
    });
    const body = coming instanceof Promise ? await coming : coming;
    // The key may have been revoked while the body came.
    if (!parts.isInForce(principal)) throw new ObservatoryError('unauthorized', AGENT_KEY_WANTED);
    const startedMs = performance.now();
    const { messages, isBatch } = messagesIn(body, format);
    parts.rate.take(principal.key_id, messages.length);
    const answers = await parts.interceptor.intercept(tenantId, messages, principal);
    parts.events.answered(performance.now() - startedMs);
    return isBatch ? batchAnswer(answers) : oneAnswer(answers[0] as IngestAnswer);
  } catch (error) {
    parts.events.refused(codeToldOf(error));
    return parts.answerError(error, { method: 'POST', url: PATH });
  } finally {
    parts.bodyBytes.giveBack(tenantId, takenBytes);
  }
}

function messagesIn(body: Buffer, format: BodyFormat): Parsed {
  if (!isUtf8(body)) throw new ObservatoryError('invalid_json', 'The body is not valid UTF-8.');
  requireWithin(body, JSON_BOUNDS);
  return format === 'ndjson' ? parseLines(body) : parseJson(body);
}

/** @throws ObservatoryError unsupported_media_type; a request without a body need not name its type */
function bodyFormat({ contentType: type, isEmpty }: Asked): BodyFormat {
  if (type === undefined) {
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

function oneAnswer(answer: IngestAnswer): PlainAnswer {
  const ordinary = asciiText(answer);
  if (ordinary !== null) return { status: 202, text: ordinary, byteCount: ordinary.length, headers: [] };
  if (answer.status === 'accepted') return jsonAnswer(202, answerText(answer));
  if (answer.reason === 'invalid_json') return jsonAnswer(400, JSON.stringify(invalidJson(answer)));
  return jsonAnswer(answer.reason === 'agent_refused' ? 403 : 422, answerText(answer));
}

const jsonAnswer = (status: number, text: string): PlainAnswer => ({ status, text, headers: [] });

const invalidJson = ({ detail }: RejectedAnswer): ErrorAnswer => ({
  status: 'error',
  reason: 'invalid_json',
  detail,
});

function batchAnswer(results: IngestAnswer[]): PlainAnswer {
  const accepted = results.filter((answer) => answer.status === 'accepted').length;
  const status = accepted === results.length ? 202 : accepted > 0 ? 207 : 422;
  return jsonAnswer(status, answersText(results));
}
