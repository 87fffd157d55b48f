import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { DecisionStore } from '#contracts';
import { steadyClock } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import { CONFIG, LOGGER, STORE } from '../tokens.js';
import { Descriptors } from './descriptors.js';
import { DRAIN, Drain } from './drain.js';
import { HealthController } from './health.controller.js';
import { READINESS, Readiness } from './readiness.js';

/** Liveness, readiness, metrics, and the orderly end. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [
    {
      provide: DRAIN,
      inject: [CONFIG],
      useFactory: (config: GatewayConfig) => new Drain({ timeoutMs: config.drainTimeoutMs }),
    },
    {
      provide: Descriptors,
      inject: [LOGGER],
      useFactory: (logger: Logger) => new Descriptors({ logger, clock: steadyClock }),
    },
    {
      provide: READINESS,
      inject: [STORE, DRAIN, Descriptors],
      useFactory: (store: DecisionStore, drain: Drain, descriptors: Descriptors) =>
        new Readiness({ store, drain, descriptors, clock: steadyClock }),
    },
  ],
  exports: [DRAIN, READINESS, Descriptors],
})
export class HealthModule {}
