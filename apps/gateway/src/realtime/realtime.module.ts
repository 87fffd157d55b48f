import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { type DecisionStore, type StoredStep, TOPICS } from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import { LIVE, LOGGER, STORE } from '../tokens.js';
import { LiveHub } from './live-hub.js';

@Global()
@Module({
  providers: [
    {
      provide: LiveHub,
      inject: [STORE, LOGGER],
      useFactory: (store: DecisionStore, logger: Logger) =>
        new LiveHub({
          reserveSequences: (count) => store.reserveSequences(count),
          onReserveFailed: (error) =>
            logger.error(
              { event: 'sequence_reserve_failed', err: error },
              'live sequence numbers could not be reserved',
            ),
          views: { [TOPICS.messages]: (step) => stepViewOf(step as StoredStep) },
        }),
    },
    { provide: LIVE, useExisting: LiveHub },
  ],
  exports: [LiveHub, LIVE],
})
export class RealtimeModule {}
