import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { HEADERS, mayRole, ObservatoryError } from '#contracts';
import { isInternetName, isLoopback } from '#domain/auth';
import { Public } from '../auth/access.js';
import { AUTHENTICATOR, type Authenticator } from '../auth/authenticator.js';
import { METRICS } from '../tokens.js';
import { READINESS, type Readiness } from './readiness.js';

/** Headers a reverse proxy adds: with one of them a loopback peer speaks for somebody else. */
const FORWARDING_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'x-real-ip',
  'via',
];

/** For supervisors, load balancers and Prometheus. */
@Controller()
export class HealthController {
  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
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

  /** Open to this machine itself; anybody else sends an operator token. */
  @Get('metrics')
  @Public()
  async read(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    if (!isDirectLoopback(request)) this.#requireObserver(request);
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

function isDirectLoopback({ socket, headers }: FastifyRequest): boolean {
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && isLoopback(socket.remoteAddress ?? '') && !isInternetName(headers.host);
}
