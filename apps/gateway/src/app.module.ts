import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { AlertsModule } from './alerts/alerts.module.js';
import { AuthModule } from './auth/auth.module.js';
import { configModule, type StartSettings } from './config/config.module.js';
import { DecisionLogModule } from './decision-log/decision-log.module.js';
import { ErrorsModule } from './errors/errors.module.js';
import { HealthModule } from './health/health.module.js';
import { HitlModule } from './hitl/hitl.module.js';
import { LlmCacheModule } from './llm-cache/llm-cache.module.js';
import { LlmProxyModule } from './llm-proxy/llm-proxy.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { PlatformModule } from './platform.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { SemanticLoopModule } from './semantic-loop/semantic-loop.module.js';
import { SystemModule } from './system/system.module.js';
import { telemetryModule } from './telemetry/telemetry.module.js';

@Module({})
export class AppModule {}

export const appModule = (settings: StartSettings, logger: Logger): DynamicModule => ({
  module: AppModule,
  imports: [
    configModule(settings),
    telemetryModule(logger),
    PlatformModule,
    ErrorsModule,
    AuthModule,
    RealtimeModule,
    HitlModule,
    DecisionLogModule,
    SemanticLoopModule,
    LlmCacheModule,
    LlmProxyModule,
    AlertsModule,
    HealthModule,
    SystemModule,
    OpenApiModule,
  ],
});
