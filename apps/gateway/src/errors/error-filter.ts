import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { LostRequests } from '../openapi/lost-request.js';
import type { SendError } from './send-error.js';

/** Nest's errors, and through Nest Fastify's own (404, body parsing), into the catalogue. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #sendError: SendError;
  readonly #lost: LostRequests;

  constructor(sendError: SendError, lost: LostRequests) {
    this.#sendError = sendError;
    this.#lost = lost;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { method, url } = reply.request;
    // Our own say what they did not find; Nest's is of a request that no route takes.
    this.#sendError(reply, error instanceof NotFoundException ? this.#lost.refusal(method, url) : error);
  }
}
