import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { SpanSink } from '#contracts';
import type { TracesConfig } from '../config/traces-config.js';
import { VERSION } from '../openapi/documentation.js';
import { LOGGER, METRICS, SPANS, TRACES_CONFIG } from '../tokens.js';
import { createMetrics } from './metrics.js';
import { spanTelemetry } from './span-telemetry.js';

const SERVICE_NAME = 'observatory-gateway';

/** Log, metrics and spans, for everybody. */
@Global()
@Module({})
export class TelemetryModule {}

/** @param logger made before Nest, so that its start is logged too */
export const telemetryModule = (logger: Logger): DynamicModule => ({
  module: TelemetryModule,
  providers: [
    { provide: LOGGER, useValue: logger },
    { provide: METRICS, useFactory: createMetrics },
    {
      provide: SPANS,
      inject: [TRACES_CONFIG, METRICS],
      useFactory: async ({ url, protocol }: TracesConfig, metrics: Registry): Promise<SpanSink | null> => {
        if (url === null) return null;
        // A seventh of all the files of a start, for those alone who have a collector.
        const { OtlpSpanSink } = await import('#adapters/otel');
        return new OtlpSpanSink({
          url,
          protocol,
          serviceName: SERVICE_NAME,
          serviceVersion: VERSION,
          onEvent: spanTelemetry(logger, metrics),
        });
      },
    },
  ],
  exports: [LOGGER, METRICS, SPANS],
});
