import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER, METRICS } from '../tokens.js';
import { createMetrics } from './metrics.js';

/** Log and metrics, for everybody. */
@Global()
@Module({})
export class TelemetryModule {}

/** @param logger made before Nest, so that its start is logged too */
export const telemetryModule = (logger: Logger): DynamicModule => ({
  module: TelemetryModule,
  providers: [
    { provide: LOGGER, useValue: logger },
    { provide: METRICS, useFactory: createMetrics },
  ],
  exports: [LOGGER, METRICS],
});
