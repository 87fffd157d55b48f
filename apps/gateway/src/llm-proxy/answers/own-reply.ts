/** Answers of our own, shaped as the vendor shapes its answers: whole, streamed, or into a stream that has begun. */
import { ERRORS, type ErrorCode, HEADERS } from '#contracts';
import { type Dialect, defaultDialect } from '#domain/llm-dialects';
import { atTurnEnd } from '#kernel';
import { PROXY_HEADERS } from '../../errors/security-headers.js';
import { endOnceRead } from '../../raw-routes.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';

type Refusal = Extract<Verdict, { kind: 'refuse' }>;

/** Ends the call with the verdict. A client that has left gets nothing. */
export function sendVerdict(call: ProxyCall, verdict: Verdict): void {
  call.decision = verdict.decision;
  call.detail = verdict.detail ?? (verdict.kind === 'refuse' ? ERRORS[verdict.code].text : null);
  const dialect = call.dialect ?? defaultDialect(call.upstream.kind);
  if (verdict.kind === 'refuse') refuse(call, dialect, verdict);
  else if (verdict.kind === 'replay') {
    call.status = 200;
    call.isAnswered = true;
    send(call, { status: 200, ...verdict.own, headers: {} });
  } else {
    call.status = 200;
    const { contentType, body } = dialect.writeAnswer({
      id: call.id,
      model: call.summary?.model ?? 'observatory',
      text: verdict.text,
      stream: call.summary?.stream ?? false,
      atMs: call.startedAtMs,
      query: call.target.query,
    });
    send(call, { status: 200, contentType, body, headers: {} });
  }
}

function refuse(call: ProxyCall, dialect: Dialect, verdict: Refusal): void {
  const { code, shouldRetry, retryAfterSeconds } = verdict;
  const { text } = ERRORS[code];
  const status = statusOf(call, verdict);
  call.status = status;
  const error = { status, code: code satisfies ErrorCode, message: verdict.detail ?? text };
  if (call.outgoing.headersSent) {
    call.outgoing.end(dialect.writeStreamError(error));
    return;
  }
  const { contentType, body } = dialect.writeError(error);
  const headers: Record<string, string> = {};
  if (shouldRetry !== undefined) headers['x-should-retry'] = String(shouldRetry);
  if (retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  send(call, { status, contentType, body, headers });
}

/** Google's SDKs know no `x-should-retry`: they go by the status alone, and never try a conflict again, as the others do when told to. */
function statusOf({ upstream }: ProxyCall, { code, shouldRetry }: Refusal): number {
  const { status } = ERRORS[code];
  return upstream.kind === 'gemini' && shouldRetry && status === CONFLICT ? UNAVAILABLE : status;
}
const CONFLICT = 409;
const UNAVAILABLE = 503;

function send(
  call: ProxyCall,
  answer: { status: number; contentType: string; body: string; headers: Record<string, string> },
): void {
  const { incoming, outgoing } = call;
  call.firstByteMs ??= call.elapsedMs();
  if (outgoing.headersSent) {
    outgoing.end(answer.body);
    return;
  }
  // An unread rest of the request would be taken for the next one.
  if (!incoming.complete) outgoing.setHeader('connection', 'close');
  const { contentType, body, headers } = answer;
  outgoing.writeHead(answer.status, [
    ...ownHeaders(call, { ...call.answerHeaders, ...headers }),
    ...['content-type', contentType, 'content-length', String(Buffer.byteLength(body))],
    ...['cache-control', 'no-store'],
  ]);
  atTurnEnd(() => endOnceRead(incoming, outgoing, body));
}

/** A reverse proxy hands a stream on as it comes: nginx collects what it is not told not to. */
export const UNBUFFERED: readonly string[] = ['x-accel-buffering', 'no'];

const FIXED_HEADERS: readonly string[] = Object.entries(PROXY_HEADERS).flat();

/**
 * What every answer of the proxy carries: name, value, name, value ... Hot path: an object would be built to be taken apart.
 *
 * @param isDecided false where an answer is begun before anybody knows what becomes of the call
 */
export function ownHeaders(call: ProxyCall, more = call.answerHeaders, isDecided = true): string[] {
  const headers = [...FIXED_HEADERS, HEADERS.call, call.id];
  if (isDecided) headers.push(HEADERS.decision, call.decision);
  for (const name in more) headers.push(name, more[name] as string);
  return headers;
}
