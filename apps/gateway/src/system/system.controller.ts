import { Controller, Get } from '@nestjs/common';
import type { SystemView } from '#contracts';
import { Requires } from '../auth/access.js';
import { LlmProxyArea } from '../llm-proxy/llm-proxy.area.js';
import { SemanticLoopArea } from '../semantic-loop/semantic-loop.area.js';

/** The parts this gateway leans on, for the System page. */
@Controller('v1/system')
export class SystemController {
  constructor(
    private readonly proxy: LlmProxyArea,
    private readonly semanticLoop: SemanticLoopArea,
  ) {}

  @Get()
  @Requires('observe')
  async read(): Promise<SystemView> {
    return {
      at_ms: Date.now(),
      uptime_s: Math.round(process.uptime()),
      ...(await this.semanticLoop.view()),
      ...this.proxy.health(),
    };
  }
}
