import { Global, Module } from '@nestjs/common';
import type { DecisionStore } from '#contracts';
import { steadyClock } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import { CONFIG, STORE } from '../tokens.js';
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
      inject: [STORE, DRAIN],
      useFactory: (store: DecisionStore, drain: Drain) => new Readiness({ store, drain, clock: steadyClock }),
    },
  ],
  exports: [DRAIN, READINESS],
})
export class HealthModule {}
