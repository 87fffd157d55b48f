/**
 * What a route demands of its caller, written on its handler or controller. The guard denies by default: a
 * handler without one of these annotations answers 403.
 *
 *     @Requires('observe')            an operator whose role may observe
 *     @RequiresAgent()                an agent key
 *     @RequiresAgentOr('observe')     either
 *     @Public()                       anybody
 */
import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AgentPrincipal, OperatorPrincipal, Permission } from '#contracts';

export type Access =
  | { readonly caller: 'anybody' }
  | { readonly caller: 'agent' }
  | { readonly caller: 'operator'; readonly permission: Permission }
  | { readonly caller: 'agent_or_operator'; readonly permission: Permission };

/** Metadata key under which the annotations are kept. */
export const ACCESS = 'observatory:access';

/**
 * An operator with this permission. Anything but GET and HEAD also needs to know who it is: bearer tokens send
 * `X-Observatory-Operator-Id`, a login cookie has it from the login.
 */
export const Requires = (permission: Permission) =>
  SetMetadata<string, Access>(ACCESS, { caller: 'operator', permission });

/** An agent key, or an operator with this permission. */
export const RequiresAgentOr = (permission: Permission) =>
  SetMetadata<string, Access>(ACCESS, { caller: 'agent_or_operator', permission });

/** An agent key. */
export const RequiresAgent = () => SetMetadata<string, Access>(ACCESS, { caller: 'agent' });

/** Anybody, without credentials. */
export const Public = () => SetMetadata<string, Access>(ACCESS, { caller: 'anybody' });

export type AnyPrincipal = OperatorPrincipal | AgentPrincipal;

/** The credential behind an operator's request: what a revocation names. */
export interface OperatorCredential {
  token_id: string;
  /** Null for a bearer token. */
  login_id: string | null;
}

/** What the guard leaves on the request. */
export interface AuthenticatedRequest extends FastifyRequest {
  principal?: AnyPrincipal;
  credential?: OperatorCredential;
}

/** Parameter: whoever passed the guard. Undefined on `@Public()` routes. */
export const Principal = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().principal,
);

/** Parameter: the credential behind an operator. Undefined for agents and on `@Public()` routes. */
export const Credential = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().credential,
);
