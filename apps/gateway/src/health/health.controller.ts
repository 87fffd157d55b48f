import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { HEADERS, mayRole, ObservatoryError } from '#contracts';
import { isInternetName } from '#domain/auth';
import { isLoopback } from '#kernel';
import { Public } from '../auth/access.js';
import { AUTHENTICATOR, type Authenticator } from '../auth/authenticator.js';
import type { GatewayConfig } from '../config/config.js';
import { isForwarded } from '../forwarded-host.js';
import { CONFIG, METRICS } from '../tokens.js';
import { READINESS, type Readiness } from './readiness.js';

/** For supervisors, load balancers and Prometheus. */
@Controller()
export class HealthController {
  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(CONFIG) private readonly config: Pick<GatewayConfig, 'isBehindProxy'>,
  ) {}

  /** Liveness: answers as long as the event loop turns. */
  @Get('healthz')
  @Public()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 503 while the store cannot write or the process drains. */
  @Get('readyz')
  @Public()
  async ready(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: string; reasons?: string[] }> {
    const reasons = await this.readiness.reasons();
    reply.header('cache-control', 'no-store');
    if (reasons.length === 0) return { status: 'ok' };
    reply.code(503);
    return { status: 'unavailable', reasons };
  }

  /** Open to this machine itself, unless a proxy there speaks for others and may not say so; anybody else sends an operator token. */
  @Get('metrics')
  @Public()
  async read(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    if (this.config.isBehindProxy || !isDirectLoopback(request)) this.#requireObserver(request);
    reply.header('content-type', this.metrics.contentType).header('cache-control', 'no-store');
    return this.metrics.metrics();
  }

  #requireObserver({ method, headers }: FastifyRequest): void {
    const outcome = this.authenticator.operator({
      method,
      authorization: headers.authorization,
      cookie: headers.cookie,
      tenantHeader: headers[HEADERS.tenant]?.toString(),
    });
    if (!outcome.ok) throw new ObservatoryError(outcome.code, outcome.detail);
    if (!mayRole(outcome.principal.role, 'observe')) throw new ObservatoryError('forbidden');
  }
}

const isDirectLoopback = ({ socket, headers }: FastifyRequest): boolean =>
  !isForwarded(headers) && isLoopback(socket.remoteAddress ?? '') && !isInternetName(headers.host);
