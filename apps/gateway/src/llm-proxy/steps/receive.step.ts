/**
 * Between identity and policy: the body, read once and parsed once, in the vendor's dialect; and with it the session.
 * The bytes are kept as they came, and are what the upstream gets unless a guard has something to say to the model.
 */
import type { IncomingMessage } from 'node:http';
import { ADDRESSABLE_ID, HEADERS, LIMITS, ObservatoryError, sessionKey } from '#contracts';
import { textOfHeader } from '#domain/auth';
import { DIALECT_LIMITS, dialectFor, nameInOtherCase, readUnreadRequest } from '#domain/llm-dialects';
import {
  BytePieces,
  duplicateKeyOf,
  leaveNow,
  parseJsonBytes,
  parseJsonExactly,
  passedBound,
  withoutMark,
} from '#kernel';
import type { FairShare } from '../../fair-share.js';
import { requireWithin } from '../../json-bounds.js';
import type { RetryClaims } from '../calls/retry-claims.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refused } from '../refusals.js';
import { roomFor } from '../requests/body-room.js';
import { type RequestBodyLimits, readRequestBody } from '../requests/request-body.js';
import type { ContinuedSession, ContinuedSessions } from '../sessions/continued-sessions.js';
import { sessionOf } from '../sessions/session-of-call.js';
import type { Step } from '../step.js';

/** To read a larger body takes so long that what is to leave in this turn does not wait for it. */
const LONG_WORK_BYTES = 64 * 1024;
const SPACE = 0x20;
const OPENING_BRACE = 0x7b;

export interface ReceiveParts {
  limits: RequestBodyLimits;
  /**
   * Bytes of all bodies from their reading to the end of their calls, held ones included; of some even longer, and of answers
   * that are held back. @see BodyHolder
   */
  bodyBytes: FairShare;
  retries: RetryClaims;
  continued: ContinuedSessions;
}

export const receiveStep = ({ limits, bodyBytes, retries, continued }: ReceiveParts): Step => ({
  name: 'receive',
  onFailure: 'closed',
  async run(call: ProxyCall): Promise<Verdict | undefined> {
    const { incoming, path } = call;
    const header = incoming.headers[HEADERS.session];
    const given = typeof header === 'string' && header !== '' ? textOfHeader(header) : null;
    if (given !== null && (given.length > LIMITS.idCharsMax || !ADDRESSABLE_ID.test(given)))
      return BAD_SESSION;
    call.dialect = dialectFor(call.upstream.kind, incoming.method as string, path);
    const hasBody =
      incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined;
    // What no guard can read goes no further; vendors' SDKs never compress what they send.
    if (call.dialect !== null && (incoming.headers['content-encoding'] ?? 'identity') !== 'identity')
      return ENCODED;
    if (call.dialect !== null && namesOtherCharset(incoming.rawHeaders)) return NOT_IN_UTF8;
    if (hasBody) call.body = await readRequestBody(incoming, limits, roomFor(call, bodyBytes));
    if (call.body !== null && call.body.byteCount > LONG_WORK_BYTES) leaveNow();
    if (call.dialect !== null) call.readAs((call.body ?? new BytePieces()).read(parseObject));
    else call.unread = readUnreadRequest(incoming.method as string, path, jsonIfAny(call));
    call.isSessionInferred = given === null && !call.request?.conversation;
    const before = continuedBy(call, continued);
    call.asked = before?.asked ?? [];
    const sessionId = given ?? before?.sessionId ?? sessionOf(call);
    if (sessionId !== null) {
      call.sessionId = sessionId;
      call.sessionKey = sessionKey(call.tenantId, sessionId);
      call.isRetry = retries.isRetry(call.sessionKey, attemptOf(incoming));
    }
    return undefined;
  },
  settle(call: ProxyCall): void {
    const answerId = call.isAnswered && call.summary?.is_kept && call.answer?.answer_id;
    const { scope, sessionId, asked } = call;
    // One that is given again from the cache stays in the session that it was made in.
    const isAnothers = answerId && call.cache !== null && continued.find(scope, answerId) !== null;
    if (answerId && sessionId !== null && !isAnothers) continued.note(scope, answerId, { sessionId, asked });
    const giveBack = () => bodyBytes.giveBack(call.tenantId, call.bodyBytesTaken);
    if (call.bodyHolder === null) giveBack();
    else call.bodyHolder.whenLetGo(giveBack);
  },
});

const continuedBy = ({ scope, request }: ProxyCall, continued: ContinuedSessions): ContinuedSession | null =>
  request?.continues ? continued.find(scope, request.continues) : null;

/** OpenAI's and Anthropic's SDKs say it; zero for all others. */
const attemptOf = ({ headers }: IncomingMessage): number =>
  Math.max(0, Number(headers['x-stainless-retry-count'] ?? 0) || 0);

/** @throws ObservatoryError invalid_json: a request no guard can read goes no further */
function parseObject(bytes: Buffer): unknown {
  requireWithin(bytes, DIALECT_LIMITS.json);
  let value: unknown;
  try {
    value = parseJsonExactly(bytes);
  } catch {
    throw new ObservatoryError('invalid_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ObservatoryError('invalid_json', 'The body is not a JSON object.');
  // The last counts for us; which one for the upstream, nobody knows.
  const duplicate = duplicateKeyOf(bytes, value);
  if (duplicate !== null)
    throw new ObservatoryError('invalid_json', `duplicate key: ${JSON.stringify(duplicate.slice(0, 80))}`);
  const name = nameInOtherCase(value as Record<string, unknown>);
  if (name !== null)
    throw new ObservatoryError(
      'invalid_json',
      `${name}: this API has no such name; write "${name.toLowerCase()}".`,
    );
  return value;
}

const OTHER_CHARSET = /charset(?!\s*=\s*"?(?:utf-?8|us-ascii)"?\s*(?:[;,]|$))/i;
/** Guards read UTF-8. Some servers read what is named here, in the first content-type or in another: in UTF-7 each letter has a second spelling. */
const namesOtherCharset = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.some(
    (text, at) =>
      at % 2 === 1 && OTHER_CHARSET.test(text) && rawHeaders[at - 1]?.toLowerCase() === 'content-type',
  );

/**
 * Some bytes themselves of an upload; undefined for what is no body; null for JSON that nobody can read, or that one may read one way and
 * another otherwise: it is the upstream's to refuse. What looks like an object is read whatever it is called: many servers look no
 * further than that either.
 */
function jsonIfAny({ incoming, body }: ProxyCall): unknown {
  if (body === null || body.byteCount === 0) return undefined;
  const isCalledJson = /[/+]json\b/i.test(incoming.headers['content-type'] ?? '');
  return body.read((bytes) => {
    const first = withoutMark(bytes).find((byte) => byte > SPACE);
    if (!isCalledJson && first !== OPENING_BRACE) return body.all[0];
    if (namesOtherCharset(incoming.rawHeaders) || passedBound(bytes, DIALECT_LIMITS.json) !== null)
      return null;
    try {
      const value = parseJsonBytes(bytes);
      return typeof value === 'object' && value !== null && isAmbiguous(bytes, value) ? null : value;
    } catch {
      return null;
    }
  });
}

const isAmbiguous = (bytes: Buffer, value: object): boolean =>
  duplicateKeyOf(bytes, value) !== null || nameInOtherCase(value as Record<string, unknown>) !== null;

const ENCODED = refused('unsupported_media_type', 'Send the request without content-encoding.');
const NOT_IN_UTF8 = refused(
  'unsupported_media_type',
  'Send the request in UTF-8, and name no other charset in content-type.',
);
const BAD_SESSION = refused(
  'invalid_request',
  `x-observatory-session: give an id of at most ${LIMITS.idCharsMax} characters that a URL can name, so neither "." nor "..".`,
);
