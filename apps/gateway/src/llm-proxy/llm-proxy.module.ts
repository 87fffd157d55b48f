import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DecisionStore, LivePublisher, ProxyStore, SecretBox, SpanSink } from '#contracts';
import type { Clock, IdSource } from '#kernel';
import { ALERT_MONITOR, type AlertMonitor } from '../alerts/alert-monitor.js';
import { AlertsModule } from '../alerts/alerts.module.js';
import type { GatewayConfig } from '../config/config.js';
import type { GatewaySecrets } from '../config/secrets.js';
import type { TracesConfig } from '../config/traces-config.js';
import { CONTROL_DESK, type ControlDesk } from '../hitl/control-desk.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { LlmCacheArea } from '../llm-cache/llm-cache.area.js';
import { LlmCacheModule } from '../llm-cache/llm-cache.module.js';
import { SemanticLoopArea } from '../semantic-loop/semantic-loop.area.js';
import { SemanticLoopModule } from '../semantic-loop/semantic-loop.module.js';
import {
  CLOCK,
  CONFIG,
  IDS,
  LIVE,
  LOGGER,
  METRICS,
  PROXY_STORE,
  SECRET_BOX,
  SECRETS,
  SPANS,
  STORE,
  TRACES_CONFIG,
} from '../tokens.js';
import { AgentsController } from './agents/agents.controller.js';
import { AllAgentsController } from './agents/all-agents.controller.js';
import { CallsController } from './calls/calls.controller.js';
import { gatewayIdOf } from './limits/gateway-id.js';
import { openLimiter } from './limits/limiter.js';
import { LlmProxyArea } from './llm-proxy.area.js';
import { UpstreamsController } from './upstreams/upstreams.controller.js';

@Module({
  imports: [HitlModule, AlertsModule, SemanticLoopModule, LlmCacheModule],
  controllers: [AgentsController, AllAgentsController, CallsController, UpstreamsController],
  providers: [
    {
      provide: LlmProxyArea,
      inject: [
        CLOCK,
        IDS,
        LOGGER,
        METRICS,
        CONFIG,
        SECRETS,
        STORE,
        PROXY_STORE,
        SECRET_BOX,
        LIVE,
        CONTROL_DESK,
        ALERT_MONITOR,
        SemanticLoopArea,
        LlmCacheArea,
        SPANS,
        TRACES_CONFIG,
      ],
      useFactory: async (
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        metrics: Registry,
        config: GatewayConfig,
        { upstreams: environmentUpstreams, redisUrls, forwardProxy }: GatewaySecrets,
        store: DecisionStore,
        proxyStore: ProxyStore,
        secrets: SecretBox,
        live: LivePublisher,
        desk: ControlDesk,
        alerts: AlertMonitor,
        semanticLoop: SemanticLoopArea,
        llmCache: LlmCacheArea,
        spans: SpanSink | null,
        { startedShare: startedTracesShare }: TracesConfig,
      ) =>
        new LlmProxyArea({
          clock,
          ids,
          logger,
          metrics,
          config,
          environmentUpstreams,
          forwardProxy,
          store,
          proxyStore,
          secrets,
          live,
          desk,
          alerts,
          limits: await openLimiter(redisUrls, () => gatewayIdOf(store, ids), clock, logger),
          semanticLoop,
          llmCache,
          spans,
          startedTracesShare,
        }),
    },
  ],
  exports: [LlmProxyArea],
})
export class LlmProxyModule {}
