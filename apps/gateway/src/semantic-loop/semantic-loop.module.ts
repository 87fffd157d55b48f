/**
 * Semantic loops: the embedding sidecar, what is asked of it, and what follows a loop. The application starts the area
 * once it has its live hub, and stops it when it ends. Others get the sidecar as `EMBEDDING_SERVICE`.
 */
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { LivePublisher, ProxyStore } from '#contracts';
import type { Clock, IdSource } from '#kernel';
import { ALERT_MONITOR, type AlertMonitor } from '../alerts/alert-monitor.js';
import { AlertsModule } from '../alerts/alerts.module.js';
import type { GatewayConfig } from '../config/config.js';
import { type LlmCacheConfig, needsSidecar } from '../config/llm-cache-config.js';
import { DecisionLogArea } from '../decision-log/decision-log.area.js';
import { DecisionLogModule } from '../decision-log/decision-log.module.js';
import { CONTROL_DESK, type ControlDesk } from '../hitl/control-desk.js';
import { HitlModule } from '../hitl/hitl.module.js';
import {
  CLOCK,
  CONFIG,
  EMBEDDING_SERVICE,
  IDS,
  LIVE,
  LLM_CACHE_CONFIG,
  LOGGER,
  METRICS,
  PROXY_STORE,
  SIDECAR_ENVIRONMENT,
} from '../tokens.js';
import { SemanticLoopArea } from './semantic-loop.area.js';
import { SemanticLoopsController } from './semantic-loops.controller.js';

@Module({
  imports: [HitlModule, AlertsModule, DecisionLogModule],
  controllers: [SemanticLoopsController],
  providers: [
    {
      provide: SemanticLoopArea,
      inject: [
        CLOCK,
        IDS,
        LOGGER,
        METRICS,
        CONFIG,
        LLM_CACHE_CONFIG,
        SIDECAR_ENVIRONMENT,
        PROXY_STORE,
        LIVE,
        CONTROL_DESK,
        ALERT_MONITOR,
        DecisionLogArea,
      ],
      useFactory: (
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        metrics: Registry,
        config: GatewayConfig,
        llmCache: LlmCacheConfig,
        sidecarEnvironment: Readonly<Record<string, string>>,
        proxyStore: ProxyStore,
        live: LivePublisher,
        desk: ControlDesk,
        alerts: AlertMonitor,
        { registry }: DecisionLogArea,
      ) =>
        new SemanticLoopArea({
          clock,
          ids,
          logger,
          metrics,
          config,
          isSidecarShared: needsSidecar(llmCache),
          sidecarEnvironment,
          proxyStore,
          live,
          desk,
          alerts,
          sessions: registry,
        }),
    },
    {
      provide: EMBEDDING_SERVICE,
      inject: [SemanticLoopArea],
      useFactory: (area: SemanticLoopArea) => area.embedding,
    },
  ],
  exports: [SemanticLoopArea, EMBEDDING_SERVICE],
})
export class SemanticLoopModule {}
