/**
 * Routes answered on the bare HTTP server, ahead of Fastify: for the few paths where the framework's share of a
 * request is worth saving, or where a body must be streamed untouched. Everything else goes on to Fastify.
 *
 * A raw route does for itself what Fastify would have done: it authenticates, bounds the body and answers every
 * error. What is here helps it to answer as the rest of the gateway does.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { FastifyServerFactory } from 'fastify';
import { JSON_HEADERS } from './errors/security-headers.js';
import { type ErrorParts, loggedRefusal } from './errors/send-error.js';
import type { PlainAnswer } from './fast-lane/plain-message.js';
import { leaveBodiesUnread } from './realtime/ignore-upgrades.js';
import { refuseConnect } from './refuse-connect.js';
import { inTurn, isSentAhead, mayWait } from './sent-ahead.js';

export interface RawRoute {
  /** @param url as on the request line: path and query. Called for every request, so it must cost next to nothing. */
  handles(method: string, url: string): boolean;
  /** Answers, sooner or later, whatever happens; must not throw. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * For Fastify's option of that name. The list may grow until the server listens: routes need parts that are built
 * with the application. The first route that takes a request has it.
 */
export function serverFactory(rawRoutes: readonly RawRoute[]): FastifyServerFactory {
  return (toFastify, options) => {
    const server = createServer(httpOptionsOf(options), listenerOf(rawRoutes, toFastify));
    leaveBodiesUnread(server);
    refuseConnect(server);
    // What Fastify sets on a server it makes itself.
    const { keepAliveTimeout, requestTimeout, connectionTimeout, maxRequestsPerSocket } = options as Timeouts;
    if (keepAliveTimeout !== undefined) server.keepAliveTimeout = keepAliveTimeout;
    if (requestTimeout !== undefined) server.requestTimeout = requestTimeout;
    if (connectionTimeout !== undefined) server.setTimeout(connectionTimeout);
    if (maxRequestsPerSocket) server.maxRequestsPerSocket = maxRequestsPerSocket;
    return server;
  };
}

interface Timeouts {
  keepAliveTimeout?: number;
  requestTimeout?: number;
  connectionTimeout?: number;
  maxRequestsPerSocket?: number | null;
}

const httpOptionsOf = (options: object) => (options as { http?: object | null }).http ?? {};

function listenerOf(rawRoutes: readonly RawRoute[], toFastify: unknown): RequestListener {
  const passOn = inTurn(toFastify as RequestListener);
  return (request, response) => {
    if (isSentAhead(response) && !mayWait(response)) return;
    const { method = '', url = '' } = request;
    for (const route of rawRoutes) {
      if (route.handles(method, url)) {
        route.handle(request, response);
        return;
      }
    }
    passOn(request, response);
  };
}

/** Status, security headers and a body of JSON text, in one write. Does nothing once the headers have left. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: readonly string[],
): void {
  if (response.headersSent || response.destroyed) return;
  const { req: request } = response;
  const length = String(Buffer.byteLength(text));
  const all = [...JSON_HEADERS, 'content-length', length, ...headers];
  // An unread body would be taken for the next request; a server that stops listening wants its connections back.
  if (!request.complete || !isListening(request)) all.push('connection', 'close');
  response.writeHead(status, all);
  endOnceRead(request, response, text);
}

/** A sender that is still talking gets this long to read why it should stop. */
const LINGER_MS = 1_000;

/**
 * Answers at once and, where the request still comes, closes a little later: a connection closed on what was not read yet
 * is reset, and the reset takes the answer with it. What still comes is thrown away.
 */
export function endOnceRead(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (request.complete) {
    response.end(text);
    return;
  }
  response.write(text);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).on('error', end);
  request.resume();
}

/** Node's sockets know their server, its types do not. */
const isListening = (request: IncomingMessage): boolean =>
  (request.socket as { server?: Server }).server?.listening !== false;

/** The catalogue's answer to an error; what is our own fault is logged, with a correlation id. Never throws. */
export type AnswerError = (error: unknown, request: { method?: string; url?: string }) => PlainAnswer;

export function createAnswerError(parts: ErrorParts): AnswerError {
  return (error, request) => {
    const { status, answer, headers } = loggedRefusal(parts, error, request);
    return { status, text: JSON.stringify(answer), headers: Object.entries(headers).flat() };
  };
}

export type SendRawError = (response: ServerResponse, error: unknown) => void;

export const createSendRawError =
  (answerError: AnswerError): SendRawError =>
  (response, error) => {
    const { status, text, headers } = answerError(error, response.req);
    if (response.headersSent) response.destroy();
    else sendJson(response, status, text, headers);
  };
