/** All agents of a tenant taken together: what they may do and spend as one, and the stop of all of them. */
import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import {
  ALL_AGENTS,
  type AllAgentsPolicy,
  type AllAgentsView,
  allAgentsPolicyPatchSchema,
  type OperatorPrincipal,
} from '#contracts';
import { Principal, Requires } from '../../auth/access.js';
import { parseFields } from '../../errors/field-errors.js';
import { LlmProxyArea } from '../llm-proxy.area.js';
import { deactivateBodySchema } from './agent-bodies.js';

@Controller('v1/all-agents')
export class AllAgentsController {
  constructor(private readonly proxy: LlmProxyArea) {}

  @Get()
  @Requires('observe')
  view(@Principal() { tenant_id }: OperatorPrincipal): AllAgentsView {
    return this.proxy.views.allAgents(tenant_id);
  }

  @Get('policy')
  @Requires('observe')
  policy(@Principal() { tenant_id }: OperatorPrincipal): AllAgentsPolicy {
    return this.proxy.views.allAgents(tenant_id).policy;
  }

  @Patch('policy')
  @Requires('configure')
  async changePolicy(
    @Principal() operator: OperatorPrincipal,
    @Body() body: unknown,
  ): Promise<AllAgentsPolicy> {
    const patch = parseFields(allAgentsPolicyPatchSchema, body);
    await this.proxy.commands.patchPolicy(operator, ALL_AGENTS, patch);
    return this.policy(operator);
  }

  @Post('deactivate')
  @HttpCode(200)
  @Requires('command')
  async deactivate(
    @Principal() operator: OperatorPrincipal,
    @Body() body: unknown,
  ): Promise<{ status: 'ok'; note?: 'already_inactive' }> {
    const { reason } = parseFields(deactivateBodySchema, body);
    const isNews = await this.proxy.commands.deactivate(operator, ALL_AGENTS, reason);
    return isNews ? { status: 'ok' } : { status: 'ok', note: 'already_inactive' };
  }

  /** Who was stopped apart from the others stays so. */
  @Post('reactivate')
  @HttpCode(200)
  @Requires('command')
  async reactivate(
    @Principal() operator: OperatorPrincipal,
  ): Promise<{ status: 'ok'; note?: 'already_active' }> {
    const outcome = await this.proxy.commands.reactivate(operator, ALL_AGENTS);
    return outcome === 'already_active' ? { status: 'ok', note: outcome } : { status: 'ok' };
  }
}
