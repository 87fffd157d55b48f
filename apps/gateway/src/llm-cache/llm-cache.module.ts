/** The LLM cache. The proxy asks it through `LlmCacheArea.desk`; the application stops it when it ends. */
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DecisionStore, EmbeddingService } from '#contracts';
import type { Clock, IdSource } from '#kernel';
import { SettingsAudit } from '../auth/settings-audit.js';
import type { GatewayConfig } from '../config/config.js';
import type { LlmCacheConfig } from '../config/llm-cache-config.js';
import type { GatewaySecrets } from '../config/secrets.js';
import { SemanticLoopModule } from '../semantic-loop/semantic-loop.module.js';
import {
  CLOCK,
  CONFIG,
  EMBEDDING_SERVICE,
  IDS,
  LLM_CACHE_CONFIG,
  LOGGER,
  METRICS,
  SECRETS,
  STORE,
} from '../tokens.js';
import { CacheController } from './cache.controller.js';
import { LlmCacheArea } from './llm-cache.area.js';
import { openLlmCache } from './open-llm-cache.js';

@Module({
  imports: [SemanticLoopModule],
  controllers: [CacheController],
  providers: [
    {
      provide: LlmCacheArea,
      inject: [CLOCK, IDS, LOGGER, METRICS, CONFIG, LLM_CACHE_CONFIG, SECRETS, STORE, EMBEDDING_SERVICE],
      useFactory: async (
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        metrics: Registry,
        { embeddingSidecarTimeoutMs: sidecarTimeoutMs }: GatewayConfig,
        config: LlmCacheConfig,
        secrets: GatewaySecrets,
        store: DecisionStore,
        sidecar: EmbeddingService,
      ) =>
        new LlmCacheArea({
          clock,
          ids,
          metrics,
          config,
          embeddingApiKey: secrets.cacheEmbeddingKey,
          cache: await openLlmCache(config, secrets, { clock, logger }),
          sidecar,
          sidecarTimeoutMs,
          audit: new SettingsAudit(store, clock),
        }),
    },
  ],
  exports: [LlmCacheArea],
})
export class LlmCacheModule {}
