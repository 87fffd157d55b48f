/**
 * Asks who is calling and whether it may, before any handler runs. What no annotation grants is denied: a
 * forgotten annotation is a closed door and a line in the log, not an open one.
 */
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { HEADERS, mayRole, ObservatoryError, type Permission } from '#contracts';
import { ACCESS, type Access, type AuthenticatedRequest } from './access.js';
import { AGENT_KEY_WANTED, type Authenticator, type OperatorCall } from './authenticator.js';

/** Agents that send their vendor's key in `Authorization` send ours here. */
export const AGENT_KEY_HEADER = 'x-observatory-key';

export class AccessGuard implements CanActivate {
  readonly #authenticator: Authenticator;
  readonly #reflector: Pick<Reflector, 'getAllAndOverride'>;
  readonly #logger: Pick<Logger, 'error'>;

  constructor(options: {
    authenticator: Authenticator;
    reflector: Pick<Reflector, 'getAllAndOverride'>;
    logger: Pick<Logger, 'error'>;
  }) {
    this.#authenticator = options.authenticator;
    this.#reflector = options.reflector;
    this.#logger = options.logger;
  }

  /** True, or throws ObservatoryError: unauthorized, missing_operator_id, forbidden, origin_refused. */
  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    const access = this.#reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      handler,
      context.getClass(),
    ]);
    if (access === undefined || context.getType() !== 'http') {
      const route = `${context.getClass().name}.${handler.name}`;
      this.#logger.error(
        { route },
        'programming error: a handler says nothing about access, so it is closed',
      );
      throw new ObservatoryError('forbidden');
    }
    if (access.caller === 'anybody') return true;
    this.#admit(context.switchToHttp().getRequest<AuthenticatedRequest>(), access);
    return true;
  }

  #admit(request: AuthenticatedRequest, access: Exclude<Access, { caller: 'anybody' }>): void {
    if (access.caller !== 'operator') {
      const key = headerOf(request, AGENT_KEY_HEADER);
      const agent = this.#authenticator.agent(request.headers.authorization, key);
      if (agent !== null) {
        request.principal = agent;
        return;
      }
      if (access.caller === 'agent') throw new ObservatoryError('unauthorized', AGENT_KEY_WANTED);
    }
    this.#admitOperator(request, access.permission);
  }

  #admitOperator(request: AuthenticatedRequest, permission: Permission): void {
    const outcome = this.#authenticator.operator(operatorCall(request));
    if (!outcome.ok) throw new ObservatoryError(outcome.code, outcome.detail);
    const { principal, credential } = outcome;
    if (!mayRole(principal.role, permission)) {
      throw new ObservatoryError(
        'forbidden',
        `This takes the permission "${permission}", which ${principal.role}s lack.`,
      );
    }
    request.principal = principal;
    request.credential = credential;
  }
}

/** What the authenticator wants to know of a request. */
export const operatorCall = (request: Pick<FastifyRequest, 'headers' | 'method' | 'host'>): OperatorCall => ({
  method: request.method,
  authorization: request.headers.authorization,
  cookie: request.headers.cookie,
  tenantHeader: headerOf(request, HEADERS.tenant),
  operatorIdHeader: headerOf(request, HEADERS.operatorId),
  origin: request.headers.origin,
  secFetchSite: headerOf(request, 'sec-fetch-site'),
  host: request.host,
});

function headerOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
