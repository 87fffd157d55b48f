import { Controller, Get, Inject } from '@nestjs/common';
import type { OperatorPrincipal, SystemView } from '#contracts';
import type { Clock } from '#kernel';
import { Principal, Requires } from '../auth/access.js';
import type { GatewayConfig } from '../config/config.js';
import { READINESS, type Readiness } from '../health/readiness.js';
import { LlmProxyArea } from '../llm-proxy/llm-proxy.area.js';
import { SemanticLoopArea } from '../semantic-loop/semantic-loop.area.js';
import { CLOCK, CONFIG } from '../tokens.js';

/** The parts this gateway leans on, for the System page. */
@Controller('v1/system')
export class SystemController {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl'>,
    @Inject(READINESS) private readonly readiness: Pick<Readiness, 'reasons'>,
    private readonly proxy: LlmProxyArea,
    private readonly semanticLoop: SemanticLoopArea,
  ) {}

  @Get()
  @Requires('observe')
  async read(@Principal() { tenant_id }: OperatorPrincipal): Promise<SystemView> {
    const [not_ready, loops, health] = await Promise.all([
      this.readiness.reasons(),
      this.semanticLoop.view(),
      this.proxy.health(tenant_id),
    ]);
    return {
      at_ms: this.clock.nowMs(),
      uptime_s: Math.round(process.uptime()),
      not_ready,
      public_url: this.config.publicUrl,
      ...loops,
      ...health,
    };
  }
}
