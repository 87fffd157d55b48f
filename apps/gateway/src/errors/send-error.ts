/** The one way an error leaves over HTTP: from Nest's filter and from raw Fastify routes alike. */
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { IdSource } from '#kernel';
import { toRefusal } from './refusal.js';

export const SEND_ERROR = Symbol('SendError');

/** Answers and, for what is our own fault, logs with a correlation id. Never throws. */
export type SendError = (reply: FastifyReply, error: unknown) => void;

/**
 * For a raw route: `route.catch((error) => sendError(reply, error))`; for Fastify's own errors:
 * `setErrorHandler((error, _request, reply) => sendError(reply, error))`, and `frameworkErrors` alike.
 */
export function createSendError({ logger, ids }: { logger: Logger; ids: IdSource }): SendError {
  return (reply, error) => {
    const refusal = toRefusal(error, ids);
    if (refusal.isInternal) {
      const { method, url } = reply.request;
      const request = { method, path: url.split('?', 1)[0] };
      const { correlation_id } = refusal.answer;
      logger.error({ err: asError(error), correlation_id, request }, 'request failed');
    }
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    reply.code(refusal.status).headers(refusal.headers).send(refusal.answer);
  };
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(`thrown value of type ${typeof error}`);
