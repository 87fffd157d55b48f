import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import { type GatewayConfig, localUrl } from '../config/config.js';
import { CONFIG } from '../tokens.js';
import { DOCUMENTATION, Documentation } from './documentation.js';
import { KnownParameters } from './known-parameters.js';
import { OpenApiController } from './openapi.controller.js';
import { ROUTES } from './routes.js';

/** `/v1/openapi.json` and `/docs`, and the refusal of what they do not list. */
@Module({
  controllers: [OpenApiController],
  providers: [
    {
      provide: DOCUMENTATION,
      inject: [CONFIG, HttpAdapterHost],
      useFactory: (config: GatewayConfig, { httpAdapter }: HttpAdapterHost) =>
        new Documentation({
          serverUrl: () => config.publicUrl ?? localUrl(config, httpAdapter.getHttpServer().address().port),
        }),
    },
    { provide: APP_INTERCEPTOR, useFactory: () => new KnownParameters(ROUTES) },
  ],
})
export class OpenApiModule {}
