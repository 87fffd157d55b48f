import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DecisionStore, LiveAudience, LivePublisher, ProxyStore, RuntimeConfigSource } from '#contracts';
import type { Clock, IdSource } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import { CONTROL_DESK, type ControlDesk } from '../hitl/control-desk.js';
import { HitlModule } from '../hitl/hitl.module.js';
import {
  CLOCK,
  CONFIG,
  IDS,
  LIVE,
  LOGGER,
  METRICS,
  PROXY_STORE,
  RUNTIME_CONFIG,
  SESSIONS,
  STORE,
} from '../tokens.js';
import { DecisionLogArea } from './decision-log.area.js';
import { SampleLoop } from './sample-loop.js';
import { SessionRegistry } from './session-registry.js';
import { SessionsController } from './sessions.controller.js';

@Module({
  imports: [HitlModule],
  controllers: [SessionsController],
  providers: [
    {
      provide: DecisionLogArea,
      inject: [CLOCK, IDS, LOGGER, METRICS, RUNTIME_CONFIG, STORE, PROXY_STORE, LIVE, CONTROL_DESK, CONFIG],
      useFactory: (
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        metrics: Registry,
        config: RuntimeConfigSource,
        store: DecisionStore,
        proxyStore: ProxyStore,
        live: LivePublisher & LiveAudience,
        desk: ControlDesk,
        { entropySessionsMax, entropySessionIdleMs }: GatewayConfig,
      ) => {
        const bounds = { windowCountMax: entropySessionsMax, windowIdleMs: entropySessionIdleMs };
        return new DecisionLogArea({
          clock,
          ids,
          logger,
          metrics,
          config,
          store,
          proxyStore,
          live,
          desk,
          ...bounds,
        });
      },
    },
    {
      provide: SessionRegistry,
      inject: [DecisionLogArea],
      useFactory: (area: DecisionLogArea) => area.registry,
    },
    { provide: SampleLoop, inject: [DecisionLogArea], useFactory: (area: DecisionLogArea) => area.sample },
    { provide: SESSIONS, inject: [DecisionLogArea], useFactory: (area: DecisionLogArea) => area.sessions },
  ],
  exports: [DecisionLogArea, SESSIONS],
})
export class DecisionLogModule {}
