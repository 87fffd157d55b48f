/** The one way an error leaves over HTTP: from Nest's filter and from raw Fastify routes alike. */
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { IdSource } from '#kernel';
import { type Refusal, toRefusal } from './refusal.js';

export interface ErrorParts {
  logger: Logger;
  ids: IdSource;
}

export const SEND_ERROR = Symbol('SendError');

/** Answers and, for what is our own fault, logs with a correlation id. Never throws. */
export type SendError = (reply: FastifyReply, error: unknown) => void;

/**
 * For a raw route: `route.catch((error) => sendError(reply, error))`; for Fastify's own errors:
 * `setErrorHandler((error, _request, reply) => sendError(reply, error))`, and `frameworkErrors` alike.
 */
export function createSendError(parts: ErrorParts): SendError {
  return (reply, error) => {
    const refusal = loggedRefusal(parts, error, reply.request);
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    reply.code(refusal.status).headers(refusal.headers).send(refusal.answer);
  };
}

/** What the caller may see; what is our own fault is logged with a correlation id. Never throws. */
export function loggedRefusal(
  { logger, ids }: ErrorParts,
  error: unknown,
  { method, url = '' }: { method?: string; url?: string },
): Refusal {
  const refusal = toRefusal(error, ids);
  if (refusal.isInternal) {
    const err = error instanceof Error ? error : new Error(`thrown value of type ${typeof error}`);
    const { correlation_id } = refusal.answer;
    logger.error({ err, correlation_id, request: { method, path: url.split('?', 1)[0] } }, 'request failed');
  }
  return refusal;
}
