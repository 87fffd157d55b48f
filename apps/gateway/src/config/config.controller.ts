import { Body, Controller, Get, Inject, Patch } from '@nestjs/common';
import type { OperatorPrincipal, RuntimeConfigAnswer } from '#contracts';
import { Principal, Requires } from '../auth/access.js';
import { RUNTIME_CONFIG } from '../tokens.js';
import type { RuntimeConfigStore } from './runtime-config-store.js';

/** Settings that take effect without a restart. */
@Controller('v1/config')
export class ConfigController {
  constructor(@Inject(RUNTIME_CONFIG) private readonly runtimeConfig: RuntimeConfigStore) {}

  @Get()
  @Requires('observe')
  read(): RuntimeConfigAnswer {
    return this.runtimeConfig.effective();
  }

  @Patch()
  @Requires('configure')
  change(@Body() body: unknown, @Principal() principal: OperatorPrincipal): Promise<RuntimeConfigAnswer> {
    return this.runtimeConfig.patch(body, principal);
  }
}
