/**
 * Logins of people: a token once, then a cookie that scripts cannot read. The cookie's value is kept as a hash
 * only, and ends after 30 days, with its token, or at logout.
 */
import {
  type LoginRow,
  type Me,
  mayRole,
  ObservatoryError,
  type OperatorPrincipal,
  PERMISSIONS,
  SESSION_COOKIE,
} from '#contracts';
import {
  createCookieValue,
  hashSecret,
  homeTenant,
  type LoginThrottle,
  mayActFor,
  parseOperatorId,
} from '#domain/auth';
import { type Clock, DAY_MS, type IdSource } from '#kernel';
import type { OperatorCredential } from './access.js';
import type { CredentialDirectory } from './credential-directory.js';

export const LOGIN_DESK = Symbol('LoginDesk');

const LOGIN_DAYS = 30;
const LOGIN_MS = LOGIN_DAYS * DAY_MS;

/** `GET /v1/auth/me` for a principal. */
export const describe = (principal: Omit<OperatorPrincipal, 'kind' | 'isInForce'>): Me => ({
  operator_id: principal.operator_id,
  role: principal.role,
  tenant_id: principal.tenant_id,
  tenant_ids: [...principal.tenant_ids],
  permissions: PERMISSIONS.filter((permission) => mayRole(principal.role, permission)),
});

/** `Set-Cookie` for a login, or for its end (`value` null). */
export function loginCookie(value: string | null, isSecure: boolean): string {
  const age = value === null ? 0 : LOGIN_MS / 1_000;
  const cookie = `${SESSION_COOKIE}=${value ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}`;
  return isSecure ? `${cookie}; Secure` : cookie;
}

export class LoginDesk {
  readonly #directory: CredentialDirectory;
  readonly #throttle: LoginThrottle;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #onAttempt: (outcome: 'ok' | 'refused' | 'throttled') => void;
  readonly #onLogoutUnsaved: (error: unknown) => void;

  constructor(options: {
    directory: CredentialDirectory;
    throttle: LoginThrottle;
    clock: Clock;
    ids: IdSource;
    onAttempt?: (outcome: 'ok' | 'refused' | 'throttled') => void;
    /** A login has ended, and the store does not have that yet. */
    onLogoutUnsaved?: (error: unknown) => void;
  }) {
    this.#directory = options.directory;
    this.#throttle = options.throttle;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#onAttempt = options.onAttempt ?? (() => {});
    this.#onLogoutUnsaved = options.onLogoutUnsaved ?? (() => {});
  }

  /**
   * @param address of the client, for the throttle
   * @throws ObservatoryError rate_limited, unauthorized (the same for every wrong token), invalid_fields
   */
  async login(
    body: { token: string; operator_id: string },
    address: string,
  ): Promise<{ cookie: string; me: Me }> {
    const operatorId = parseOperatorId(body.operator_id);
    if (operatorId === null) {
      throw new ObservatoryError(
        'invalid_fields',
        'operator_id: a name of 1 to 100 characters, not "system" or "kill_switch".',
        {
          fields: ['operator_id'],
        },
      );
    }
    const retryAfterSeconds = this.#throttle.retryAfterSeconds(address);
    if (retryAfterSeconds > 0) {
      this.#onAttempt('throttled');
      throw new ObservatoryError('rate_limited', 'Too many failed logins; wait before the next.', {
        retryAfterSeconds,
      });
    }
    const operator = this.#directory.operatorByHash(hashSecret(body.token.trim()));
    if (operator === null) {
      this.#throttle.recordFailure(address);
      this.#onAttempt('refused');
      throw new ObservatoryError('unauthorized', 'This is not a valid operator token.');
    }
    const cookie = createCookieValue(this.#ids);
    const login: LoginRow = {
      cookie_hash: hashSecret(cookie),
      token_id: operator.token_id,
      operator_id: operatorId,
      tenant_id: homeTenant(operator.tenant_ids),
      expires_at_ms: this.#clock.nowMs() + LOGIN_MS,
    };
    await this.#directory.putLogin(login);
    this.#onAttempt('ok');
    const { role, tenant_ids } = operator;
    const { operator_id, tenant_id } = login;
    return { cookie, me: describe({ operator_id, role, tenant_id, tenant_ids }) };
  }

  /** Ends the login behind a cookie's value, if there is one; the browser forgets the cookie whatever the disk does. */
  async logout(cookie: string | undefined): Promise<void> {
    const cookieHash = cookie === undefined ? null : hashSecret(cookie);
    if (cookieHash !== null && this.#directory.login(cookieHash) !== null)
      await this.#directory.endLogin(cookieHash).catch(this.#onLogoutUnsaved);
  }

  /** The login acts for another tenant from now on. Sockets that are open keep theirs. */
  async switchTenant(
    principal: OperatorPrincipal,
    credential: OperatorCredential,
    tenantId: string,
  ): Promise<Me> {
    if (!mayActFor(principal.tenant_ids, tenantId)) {
      throw new ObservatoryError('forbidden', `You may not act for the tenant ${tenantId}.`);
    }
    const found = credential.login_id === null ? null : this.#directory.login(credential.login_id);
    if (found === null) {
      throw new ObservatoryError(
        'invalid_request',
        'Only a login has a tenant of its own; with a token send X-Tenant-Id on each request.',
      );
    }
    if (!(await this.#directory.moveLogin(found.login, tenantId))) throw new ObservatoryError('unauthorized');
    return describe({ ...principal, tenant_id: tenantId });
  }
}
