import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { type DecisionStore, type StoredStep, TOPICS } from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import type { Clock } from '#kernel';
import { CLOCK, LIVE, LOGGER, STORE } from '../tokens.js';
import { LiveHub } from './live-hub.js';

@Global()
@Module({
  providers: [
    {
      provide: LiveHub,
      inject: [STORE, LOGGER, CLOCK],
      useFactory: (store: DecisionStore, logger: Logger, clock: Clock) =>
        new LiveHub({
          // By the clock no restored backup, nor an empty folder, brings back numbers that an open page knows: it would take
          // what happens now for what followed then. No gateway publishes a thousand events in each millisecond.
          reserveSequences: (count) => store.reserveSequences(count, clock.nowMs() * 1_000),
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
