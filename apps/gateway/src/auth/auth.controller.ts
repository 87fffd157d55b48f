import { Body, Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  loginBodySchema,
  type Me,
  ObservatoryError,
  type OperatorPrincipal,
  SESSION_COOKIE,
  tenantIdSchema,
} from '#contracts';
import { cookieValue, isOwnPage } from '#domain/auth';
import type { GatewayConfig } from '../config/config.js';
import { parseFields } from '../errors/field-errors.js';
import { CONFIG, LOGGER } from '../tokens.js';
import { operatorCall } from './access.guard.js';
import { Credential, type OperatorCredential, Principal, Public, Requires } from './access.js';
import { describe, LOGIN_DESK, type LoginDesk, loginCookie } from './login-desk.js';
import { proxyMisfit } from './proxy-misfit.js';

export const switchTenantBodySchema = z.strictObject({ tenant_id: tenantIdSchema });

/** Logins of people. Programs send their token with each request instead. */
@Controller('v1/auth')
export class AuthController {
  #isMisfitSaid = false;

  constructor(
    @Inject(LOGIN_DESK) private readonly logins: LoginDesk,
    @Inject(CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Post('login')
  @HttpCode(200)
  @Public()
  async login(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Me> {
    this.#requireOwnPage(request);
    const { cookie, me } = await this.logins.login(parseFields(loginBodySchema, body), request.ip);
    reply.header('set-cookie', loginCookie(cookie, this.#isSecure(request)));
    this.#sayMisfit(request);
    return me;
  }

  /** Public, because logging out of nothing is fine. */
  @Post('logout')
  @HttpCode(200)
  @Public()
  async logout(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: 'ok' }> {
    this.#requireOwnPage(request);
    await this.logins.logout(cookieValue(request.headers.cookie, SESSION_COOKIE));
    reply.header('set-cookie', loginCookie(null, this.#isSecure(request)));
    return { status: 'ok' };
  }

  @Get('me')
  @Requires('observe')
  me(@Principal() principal: OperatorPrincipal): Me {
    return describe(principal);
  }

  @Post('tenant')
  @HttpCode(200)
  @Requires('observe')
  switchTenant(
    @Body() body: unknown,
    @Principal() principal: OperatorPrincipal,
    @Credential() credential: OperatorCredential,
  ): Promise<Me> {
    return this.logins.switchTenant(
      principal,
      credential,
      parseFields(switchTenantBodySchema, body).tenant_id,
    );
  }

  /** A foreign page may neither log somebody in nor out. Programs send no Origin and are fine. */
  #requireOwnPage(request: FastifyRequest): void {
    const { origin, secFetchSite, host } = operatorCall(request);
    if (origin === undefined && secFetchSite === undefined) return;
    if (!isOwnPage({ origin, secFetchSite, host }, this.config.allowedOrigins)) {
      throw new ObservatoryError('origin_refused');
    }
  }

  /** Of who is let in: strangers write headers as they like. */
  #sayMisfit({ headers }: FastifyRequest): void {
    const misfit = proxyMisfit(headers, this.config.trustProxy);
    if (misfit === null || this.#isMisfitSaid) return;
    this.#isMisfitSaid = true;
    this.logger.warn({ event: 'proxy_misfit' }, misfit);
  }

  #isSecure(request: FastifyRequest): boolean {
    return request.protocol === 'https' || this.config.publicUrl?.startsWith('https:') === true;
  }
}
