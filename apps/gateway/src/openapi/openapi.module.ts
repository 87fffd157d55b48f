import { Module } from '@nestjs/common';
import { type GatewayConfig, localUrl } from '../config/config.js';
import { CONFIG } from '../tokens.js';
import { DOCUMENTATION, Documentation } from './documentation.js';
import { OpenApiController } from './openapi.controller.js';

/** `/v1/openapi.json` and `/docs`. */
@Module({
  controllers: [OpenApiController],
  providers: [
    {
      provide: DOCUMENTATION,
      inject: [CONFIG],
      useFactory: (config: GatewayConfig) =>
        new Documentation({ serverUrl: config.publicUrl ?? localUrl(config) }),
    },
  ],
})
export class OpenApiModule {}
