import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import type { Logger } from 'pino';
import type { IdSource } from '#kernel';
import { LostRequests } from '../openapi/lost-request.js';
import { ROUTES } from '../openapi/routes.js';
import { IDS, LOGGER } from '../tokens.js';
import { AnsweredInTime } from './answered-in-time.js';
import { ErrorFilter } from './error-filter.js';
import { createSendError, SEND_ERROR, type SendError } from './send-error.js';

/** One shape for every refusal. */
@Global()
@Module({
  providers: [
    {
      provide: SEND_ERROR,
      inject: [LOGGER, IDS],
      useFactory: (logger: Logger, ids: IdSource) => createSendError({ logger, ids }),
    },
    {
      provide: APP_FILTER,
      inject: [SEND_ERROR],
      useFactory: (sendError: SendError) => new ErrorFilter(sendError, new LostRequests(ROUTES)),
    },
    { provide: APP_INTERCEPTOR, useFactory: () => new AnsweredInTime() },
  ],
  exports: [SEND_ERROR],
})
export class ErrorsModule {}
