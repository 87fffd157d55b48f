import { Body, Controller, Delete, Get, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  type AgentKey,
  createAgentKeyBodySchema,
  createOperatorBodySchema,
  DEFAULT_TENANT,
  type OperatorPrincipal,
  type OperatorToken,
  type Page,
} from '#contracts';
import { hashSecret } from '#domain/auth';
import type { GatewayConfig } from '../config/config.js';
import { parseFields } from '../errors/field-errors.js';
import { wholeList } from '../page-query.js';
import { CONFIG } from '../tokens.js';
import { Principal, Requires } from './access.js';
import { ACCESS_DESK, type AccessDesk } from './access-desk.js';
import { BOOTSTRAP, type Bootstrap } from './bootstrap.js';
import { CREDENTIALS, type CredentialDirectory } from './credential-directory.js';

/** What the empty dashboard shows: how to send a first message. */
export interface Onboarding {
  agent_key: string | null;
  ingest_url: string;
}

/** Agent keys, operators and tenants. */
@Controller('v1')
export class AccessController {
  constructor(
    @Inject(ACCESS_DESK) private readonly desk: AccessDesk,
    @Inject(CREDENTIALS) private readonly credentials: CredentialDirectory,
    @Inject(BOOTSTRAP) private readonly bootstrap: Bootstrap,
    @Inject(CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Get('agent-keys')
  @Requires('manage_access')
  agentKeys(@Principal() principal: OperatorPrincipal): Page<AgentKey> {
    return wholeList(this.desk.agentKeys(principal));
  }

  @Post('agent-keys')
  @Requires('manage_access')
  createAgentKey(@Body() body: unknown, @Principal() principal: OperatorPrincipal) {
    const asked = parseFields(createAgentKeyBodySchema, body);
    return this.desk.createAgentKey(principal, asked);
  }

  @Delete('agent-keys/:key_id')
  @Requires('manage_access')
  async revokeAgentKey(@Param('key_id') keyId: string, @Principal() principal: OperatorPrincipal) {
    await this.desk.revokeAgentKey(principal, keyId);
    return { status: 'ok' };
  }

  @Get('operators')
  @Requires('manage_access')
  operators(@Principal() principal: OperatorPrincipal): Page<OperatorToken> {
    return wholeList(this.desk.operators(principal));
  }

  @Post('operators')
  @Requires('manage_access')
  createOperator(@Body() body: unknown, @Principal() principal: OperatorPrincipal) {
    const asked = parseFields(createOperatorBodySchema, body);
    return this.desk.createOperator(principal, asked);
  }

  @Delete('operators/:token_id')
  @Requires('manage_access')
  async revokeOperator(@Param('token_id') tokenId: string, @Principal() principal: OperatorPrincipal) {
    await this.desk.revokeOperator(principal, tokenId);
    return { status: 'ok' };
  }

  @Get('tenants')
  @Requires('manage_access')
  tenants(@Principal() principal: OperatorPrincipal): Page<string> {
    return wholeList(this.desk.tenants(principal));
  }

  /** The key in the clear only for administrators of its tenant, and only while this process knows it. */
  @Get('onboarding')
  @Requires('observe')
  onboarding(@Principal() principal: OperatorPrincipal, @Req() request: FastifyRequest): Onboarding {
    const { agentKey } = this.bootstrap;
    const isValid = agentKey !== null && this.credentials.hasAgentKey(hashSecret(agentKey));
    const mayKnow = isValid && principal.role === 'admin' && principal.tenant_id === DEFAULT_TENANT;
    const origin = this.config.publicUrl ?? `${request.protocol}://${request.host}`;
    return { agent_key: mayKnow ? agentKey : null, ingest_url: `${origin}/v1/decision-logs` };
  }
}
