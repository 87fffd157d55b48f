/** Configuration in three steps: names (env.ts), values (config.ts), secrets (secrets.ts); and the runtime settings. */
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { DecisionStore } from '#contracts';
import type { Clock } from '#kernel';
import { SettingsAudit } from '../auth/settings-audit.js';
import { requireSidecarSettings } from '../semantic-loop/sidecar-environment.js';
import {
  CLOCK,
  CONFIG,
  LLM_CACHE_CONFIG,
  RUNTIME_CONFIG,
  SECRET_BOX,
  SECRETS,
  SIDECAR_ENVIRONMENT,
  STORE,
  TRACES_CONFIG,
} from '../tokens.js';
import { ConfigController } from './config.controller.js';
import { type GatewayConfig, parseConfig } from './config.js';
import { type Environment, readEnvironment } from './env.js';
import { type LlmCacheConfig, needsSidecar, parseLlmCacheConfig } from './llm-cache-config.js';
import { RuntimeConfigStore } from './runtime-config-store.js';
import { openSecretBox } from './secret-box.js';
import { type GatewaySecrets, parseSecrets } from './secrets.js';
import { parseTracesConfig, type TracesConfig } from './traces-config.js';

/** Everything that is known before Nest starts. */
export interface StartSettings {
  config: GatewayConfig;
  llmCache: LlmCacheConfig;
  traces: TracesConfig;
  secrets: GatewaySecrets;
  environment: Environment;
}

/**
 * @param memoryBytes what the container may have; 0: not known
 * @throws ConfigError with a message made to be printed as it is
 */
export function readStartSettings(
  source: Record<string, string | undefined> = process.env,
  args: readonly string[] = process.argv.slice(2),
  memoryBytes = process.constrainedMemory(),
): StartSettings {
  const environment = readEnvironment(source);
  const config = parseConfig(environment.config, args, memoryBytes || Number.POSITIVE_INFINITY);
  const llmCache = parseLlmCacheConfig(environment.llmCache);
  const isSidecarNeeded = config.isLoopDetectionEnabled || needsSidecar(llmCache);
  if (isSidecarNeeded && config.embeddingSidecarSocket === null) requireSidecarSettings(environment.sidecar);
  return {
    config,
    llmCache,
    traces: parseTracesConfig(environment.traces),
    secrets: parseSecrets(environment.secrets, config, environment.upstreams),
    environment,
  };
}

@Global()
@Module({ controllers: [ConfigController] })
export class ConfigModule {}

/** The module around settings that were read before Nest, so that a bad one stops the start with its own words. */
export const configModule = ({
  config,
  llmCache,
  traces,
  secrets,
  environment,
}: StartSettings): DynamicModule => ({
  module: ConfigModule,
  providers: [
    { provide: CONFIG, useValue: config },
    { provide: LLM_CACHE_CONFIG, useValue: llmCache },
    { provide: TRACES_CONFIG, useValue: traces },
    { provide: SECRETS, useValue: secrets },
    { provide: SIDECAR_ENVIRONMENT, useValue: environment.sidecar },
    {
      provide: SECRET_BOX,
      // After the store: it makes the data folder.
      inject: [STORE],
      useFactory: () => openSecretBox(config.dataDir, secrets.secretKey),
    },
    {
      provide: RUNTIME_CONFIG,
      inject: [STORE, CLOCK],
      useFactory: async (store: DecisionStore, clock: Clock) => {
        const runtimeConfig = new RuntimeConfigStore({
          store,
          audit: new SettingsAudit(store, clock),
          environment: environment.runtime,
        });
        await runtimeConfig.load();
        return runtimeConfig;
      },
    },
  ],
  exports: [
    CONFIG,
    LLM_CACHE_CONFIG,
    TRACES_CONFIG,
    SECRETS,
    SIDECAR_ENVIRONMENT,
    SECRET_BOX,
    RUNTIME_CONFIG,
  ],
});
