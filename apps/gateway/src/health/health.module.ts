import { Global, Module } from '@nestjs/common';
import type { DecisionStore } from '#contracts';
import type { Clock } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import { CLOCK, CONFIG, STORE } from '../tokens.js';
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
      provide: READINESS,
      inject: [STORE, DRAIN, CLOCK],
      useFactory: (store: DecisionStore, drain: Drain, clock: Clock) =>
        new Readiness({ store, drain, clock }),
    },
  ],
  exports: [DRAIN, READINESS],
})
export class HealthModule {}
