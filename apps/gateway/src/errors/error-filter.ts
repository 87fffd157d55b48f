import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { SendError } from './send-error.js';

/** Nest's errors, and through Nest Fastify's own (404, body parsing), into the catalogue. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #sendError: SendError;

  constructor(sendError: SendError) {
    this.#sendError = sendError;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    this.#sendError(host.switchToHttp().getResponse<FastifyReply>(), error);
  }
}
