/** Agents of the proxy: what they may do, what they spend, and their kill switch. */
import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  AGENT_ID,
  AGENT_ID_WORDS,
  type AgentPolicy,
  type AgentScope,
  type AgentView,
  agentPolicyPatchSchema,
  agentScope,
  type KillSwitchAnswer,
  killSwitchPatchSchema,
  LIMITS,
  ObservatoryError,
  type OperatorPrincipal,
} from '#contracts';
import { Principal, Requires } from '../../auth/access.js';
import { parseFields } from '../../errors/field-errors.js';
import { LlmProxyArea } from '../llm-proxy.area.js';
import { deactivateBodySchema } from './agent-bodies.js';

export const agentsQuery = z.object({
  q: z.string().max(LIMITS.idCharsMax).optional().describe('Found in the agent id, whatever the case.'),
});

@Controller('v1/agents')
export class AgentsController {
  constructor(private readonly proxy: LlmProxyArea) {}

  @Get()
  @Requires('observe')
  async list(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<{ items: AgentView[] }> {
    return { items: await this.proxy.views.list(tenant_id, parseFields(agentsQuery, query).q) };
  }

  @Get(':agent_id')
  @Requires('observe')
  one(@Principal() { tenant_id }: OperatorPrincipal, @Param('agent_id') agentId: string): AgentView {
    if (!this.proxy.views.isKnown(tenant_id, agentId)) throw new ObservatoryError('agent_not_found');
    return this.proxy.views.view(tenant_id, agentId);
  }

  @Get(':agent_id/policy')
  @Requires('observe')
  policy(@Principal() { tenant_id }: OperatorPrincipal, @Param('agent_id') agentId: string): AgentPolicy {
    return this.proxy.agents.policy(this.scopeOf(tenant_id, agentId));
  }

  /** An agent need not have been seen: limits may be set before its first call. */
  @Patch(':agent_id/policy')
  @Requires('configure')
  async changePolicy(
    @Principal() operator: OperatorPrincipal,
    @Param('agent_id') agentId: string,
    @Body() body: unknown,
  ): Promise<AgentPolicy> {
    const scope = this.scopeOf(operator.tenant_id, agentId);
    const patch = parseFields(agentPolicyPatchSchema, body);
    const policy = await this.proxy.commands.patchPolicy(operator, agentId, patch);
    if (patch.active === true && !this.proxy.agents.policy(scope).active)
      throw new ObservatoryError('agent_stopped_again');
    return policy;
  }

  @Get(':agent_id/kill-switch')
  @Requires('observe')
  killSwitch(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Param('agent_id') agentId: string,
  ): KillSwitchAnswer {
    return this.proxy.views.killSwitch(this.scopeOf(tenant_id, agentId));
  }

  @Patch(':agent_id/kill-switch')
  @Requires('configure')
  async changeKillSwitch(
    @Principal() operator: OperatorPrincipal,
    @Param('agent_id') agentId: string,
    @Body() body: unknown,
  ): Promise<KillSwitchAnswer> {
    const scope = this.scopeOf(operator.tenant_id, agentId);
    const patch = parseFields(killSwitchPatchSchema, body);
    await this.proxy.commands.patchKillSwitch(operator, agentId, patch);
    return this.proxy.views.killSwitch(scope);
  }

  @Post(':agent_id/deactivate')
  @HttpCode(200)
  @Requires('command')
  async deactivate(
    @Principal() operator: OperatorPrincipal,
    @Param('agent_id') agentId: string,
    @Body() body: unknown,
  ): Promise<{ status: 'ok'; note?: 'already_inactive' }> {
    this.scopeOf(operator.tenant_id, agentId);
    const { reason } = parseFields(deactivateBodySchema, body);
    const isNews = await this.proxy.commands.deactivate(operator, agentId, reason);
    return isNews ? { status: 'ok' } : { status: 'ok', note: 'already_inactive' };
  }

  @Post(':agent_id/reactivate')
  @HttpCode(200)
  @Requires('command')
  async reactivate(
    @Principal() operator: OperatorPrincipal,
    @Param('agent_id') agentId: string,
  ): Promise<{ status: 'ok'; note?: 'already_active' }> {
    this.scopeOf(operator.tenant_id, agentId);
    const outcome = await this.proxy.commands.reactivate(operator, agentId);
    if (outcome === 'stopped_again') throw new ObservatoryError('agent_stopped_again');
    return outcome === 'reactivated' ? { status: 'ok' } : { status: 'ok', note: outcome };
  }

  /**
   * Of an id that an agent can have, or has from before control characters and marks of direction were refused.
   * @throws ObservatoryError invalid_request
   */
  private scopeOf(tenantId: string, agentId: string): AgentScope {
    const isId = agentId.length <= LIMITS.idCharsMax && AGENT_ID.test(agentId);
    if (isId || this.proxy.views.isKnown(tenantId, agentId)) return agentScope(tenantId, agentId);
    throw new ObservatoryError(
      'invalid_request',
      `agent_id: give, in 1 to ${LIMITS.idCharsMax} characters, ${AGENT_ID_WORDS}.`,
    );
  }
}
