/**
 * Who is calling: agent keys, operator tokens, login cookies. Synchronous and in memory, because it stands on the
 * ingest path; what it knows is kept by the CredentialDirectory. Decides only who somebody is and for which tenant
 * it acts; whether its role allows something is the guard's question.
 */
import { type AgentPrincipal, type ErrorCode, type OperatorPrincipal, SESSION_COOKIE } from '#contracts';
import {
  bearerToken,
  cookieValue,
  hashSecret,
  homeTenant,
  isOwnPage,
  mayActFor,
  parseOperatorId,
  parseOperatorIdHeader,
} from '#domain/auth';
import type { OperatorCredential } from './access.js';
import type { CredentialDirectory, Revocation } from './credential-directory.js';

export const AUTHENTICATOR = Symbol('Authenticator');

/** The headers an operator is known by. */
export interface OperatorCall {
  authorization?: string | undefined;
  cookie?: string | undefined;
  /** `X-Tenant-Id` */
  tenantHeader?: string | undefined;
  /** `X-Observatory-Operator-Id` */
  operatorIdHeader?: string | undefined;
  origin?: string | undefined;
  /** `Sec-Fetch-Site` */
  secFetchSite?: string | undefined;
  host?: string | undefined;
  method: string;
}

/** The handshake of an operator's socket: `auth: { token, operator_id?, tenant_id? }`, or its cookie. */
export interface SocketCall extends Omit<OperatorCall, 'method' | 'authorization' | 'operatorIdHeader'> {
  token?: string | undefined;
  operatorId?: string | undefined;
}

export type OperatorOutcome =
  | { ok: true; principal: OperatorPrincipal; credential: OperatorCredential }
  | { ok: false; code: ErrorCode; detail?: string };

/** What a namespace of sockets wants to know of it. */
export type SocketOutcome =
  | { ok: true; principal: OperatorPrincipal }
  | Extract<OperatorOutcome, { ok: false }>;

/** A principal before its tenant is settled. */
interface Caller {
  /** Null: the token was sent without a usable operator id. */
  operatorId: string | null;
  tokenName: string;
  role: OperatorPrincipal['role'];
  tenantIds: readonly string[];
  tenantId: string;
  credential: OperatorCredential;
}

/** Said where only agents come in, of no key and of a wrong one. @param how a key is sent there, as it follows "key" */
export const agentKeyWanted = (how: string): string =>
  `Send a valid agent key${how}. An operator token or a vendor's key does not work here. An administrator makes agent keys under Settings > Agent keys.`;
export const AGENT_KEY_WANTED = agentKeyWanted(': Authorization: Bearer <agent key>');

const UNAUTHORIZED = { ok: false, code: 'unauthorized' } as const;
const AGENT_KEY_ON_OPERATOR_ROUTE = {
  ok: false,
  code: 'forbidden',
  detail: 'This is an agent key; operators send an operator token.',
} as const;

/** Methods that change nothing. */
const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

export class Authenticator {
  readonly #directory: CredentialDirectory;
  readonly #allowedOrigins: readonly string[];

  constructor(options: { directory: CredentialDirectory; allowedOrigins: readonly string[] }) {
    this.#directory = options.directory;
    this.#allowedOrigins = options.allowedOrigins;
  }

  /**
   * The agent behind a key, or null. About 2 us; returns the same object for every call with one key.
   *
   * @param authorization the `Authorization` header: `Bearer <agent key>`
   * @param observatoryKey the `X-Observatory-Key` header; wins, because then `Authorization` is the vendor's
   */
  agent(authorization: string | undefined, observatoryKey?: string | undefined): AgentPrincipal | null {
    const secret = observatoryKey ?? bearerToken(authorization);
    return secret === undefined ? null : this.#directory.agentByHash(hashSecret(secret));
  }

  /** The same key acting for a tenant that its call names; null where it may not. */
  agentFor(principal: AgentPrincipal, tenantId: string): AgentPrincipal | null {
    return this.#directory.agentFor(principal, tenantId);
  }

  /** The operator behind a request, or why there is none. Never throws. */
  operator(call: OperatorCall): OperatorOutcome {
    const token = bearerToken(call.authorization);
    if (token !== undefined) {
      const caller = this.#byToken(token, parseOperatorIdHeader(call.operatorIdHeader));
      if (!('credential' in caller)) return caller;
      if (caller.operatorId === null && !isReading(call.method))
        return { ok: false, code: 'missing_operator_id' };
      return this.#settleTenant(caller, call.tenantHeader);
    }
    if (call.authorization !== undefined) return UNAUTHORIZED;
    const caller = this.#byCookie(call.cookie);
    if (!('credential' in caller)) return caller;
    const isForeign = !isReading(call.method) && !this.#isOwnPage(call);
    return isForeign ? { ok: false, code: 'origin_refused' } : this.#settleTenant(caller, call.tenantHeader);
  }

  /**
   * The operator behind a socket. A cookie is taken from an allowed origin only, always: browsers let any page
   * open a WebSocket to anywhere, cookies included. A token needs no operator id, since sockets only observe.
   */
  operatorSocket(call: SocketCall): OperatorOutcome {
    if (call.token !== undefined) {
      const caller = this.#byToken(
        call.token,
        call.operatorId === undefined ? null : parseOperatorId(call.operatorId),
      );
      return 'credential' in caller ? this.#settleTenant(caller, call.tenantHeader) : caller;
    }
    const caller = this.#byCookie(call.cookie);
    if (!('credential' in caller)) return caller;
    return this.#isOwnPage(call)
      ? this.#settleTenant(caller, call.tenantHeader)
      : { ok: false, code: 'origin_refused' };
  }

  /** False once the key behind this principal is revoked; asked again of whoever waited. Cheap enough for every call. */
  isInForce(principal: AgentPrincipal): boolean {
    return this.#directory.isInForce(principal);
  }

  /** Called at once when a key, a token or a login ends: cut its sockets. Returns the detach function. */
  onRevoked(listener: (revocation: Revocation) => void): () => void {
    return this.#directory.onRevoked(listener);
  }

  #isOwnPage(call: Omit<SocketCall, 'token'>): boolean {
    const source = { origin: call.origin, secFetchSite: call.secFetchSite, host: call.host };
    return isOwnPage(source, this.#allowedOrigins);
  }

  #byToken(token: string, operatorId: string | null): Caller | Extract<OperatorOutcome, { ok: false }> {
    const tokenHash = hashSecret(token);
    const row = this.#directory.operatorByHash(tokenHash);
    if (row === null)
      return this.#directory.hasAgentKey(tokenHash) ? AGENT_KEY_ON_OPERATOR_ROUTE : UNAUTHORIZED;
    return {
      operatorId,
      tokenName: row.name,
      role: row.role,
      tenantIds: row.tenant_ids,
      tenantId: homeTenant(row.tenant_ids),
      credential: { token_id: row.token_id, login_id: null },
    };
  }

  #byCookie(cookie: string | undefined): Caller | Extract<OperatorOutcome, { ok: false }> {
    const value = cookieValue(cookie, SESSION_COOKIE);
    const found = value === undefined ? null : this.#directory.login(hashSecret(value));
    if (found === null) return UNAUTHORIZED;
    return {
      operatorId: found.login.operator_id,
      tokenName: found.operator.name,
      role: found.operator.role,
      tenantIds: found.operator.tenant_ids,
      tenantId: found.login.tenant_id,
      credential: { token_id: found.operator.token_id, login_id: found.login.cookie_hash },
    };
  }

  #settleTenant(caller: Caller, tenantHeader: string | undefined): OperatorOutcome {
    const tenantId = tenantHeader || caller.tenantId;
    if (!mayActFor(caller.tenantIds, tenantId)) {
      return { ok: false, code: 'forbidden', detail: 'You may not act for this tenant.' };
    }
    const { credential } = caller;
    const principal: OperatorPrincipal = {
      kind: 'operator',
      operator_id: caller.operatorId ?? caller.tokenName,
      role: caller.role,
      tenant_id: tenantId,
      tenant_ids: caller.tenantIds,
      isInForce: () => this.#directory.isLive(credential),
    };
    return { ok: true, principal, credential };
  }
}
