/**
 * Every agent key, operator token and login in memory, the store behind them. Lookups are synchronous and by
 * hash; changes are written through. What has been revoked stays listed, up to a bound, but is found by no lookup.
 */
import type {
  AgentKeyRow,
  AgentPrincipal,
  AuditDraft,
  DecisionStore,
  LoginRow,
  OperatorRow,
} from '#contracts';
import { mayActFor } from '#domain/auth';
import { ChangeQueue, type Clock, type Timer } from '#kernel';
import { storedInTime } from '../stored-in-time.js';
import { UnsavedWrites } from '../unsaved-writes.js';
import type { OperatorCredential } from './access.js';

export const CREDENTIALS = Symbol('CredentialDirectory');

/** `last_used_at_ms` reaches the store at most this often per credential. */
const LAST_USED_SAVE_MS = 60_000;

/** Every bound on what operators may create, by name. */
export const CREDENTIAL_LIMITS = {
  agentKeysMax: 10_000,
  operatorsMax: 1_000,
  loginsPerTokenMax: 1_000,
  revokedAgentKeysMax: 10_000,
  revokedOperatorsMax: 1_000,
} as const;

export type Revocation =
  | { kind: 'agent_key'; key_id: string }
  | { kind: 'operator'; token_id: string }
  | { kind: 'login'; login_id: string };

/** The slice of the store that holds credentials. */
export type CredentialStore = Pick<
  DecisionStore,
  | 'saveAgentKey'
  | 'deleteAgentKey'
  | 'agentKeys'
  | 'saveOperator'
  | 'deleteOperator'
  | 'operators'
  | 'saveLogin'
  | 'deleteLogin'
  | 'logins'
>;

/** A row and when its last use was saved, by the steady clock. */
interface Kept<Row> {
  row: Row;
  usageSavedMs: number;
}

interface KeptAgent extends Kept<AgentKeyRow> {
  principal: AgentPrincipal;
}

export class CredentialDirectory {
  readonly #store: CredentialStore;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #onSaveFailed: (error: unknown) => void;
  readonly #onLoginUnsaved: (error: unknown) => void;
  readonly #agentKeys = new Map<string, AgentKeyRow>();
  /** By key id, then by the tenants the key may act for; of keys that are not revoked. */
  readonly #agentPrincipals = new Map<string, ReadonlyMap<string, AgentPrincipal>>();
  readonly #operators = new Map<string, OperatorRow>();
  /** Not revoked only. */
  readonly #agentsByHash = new Map<string, KeptAgent>();
  /** Not revoked only. */
  readonly #operatorsByHash = new Map<string, Kept<OperatorRow>>();
  readonly #logins = new Map<string, LoginRow>();
  /** What has ended in memory, by its id. */
  readonly #unsaved: UnsavedWrites<string>;
  /** By its id, too: whoever ends it again is answered once it is written. */
  readonly #ends = new ChangeQueue<string>();
  readonly #listeners = new Set<(revocation: Revocation) => void>();

  /**
   * @param options.onSaveFailed the time of a last use could not be written; nothing else is lost
   * @param options.onLoginUnsaved whoever has just logged in will have to again after a restart
   */
  constructor(options: {
    store: CredentialStore;
    clock: Clock;
    timer: Timer;
    onSaveFailed?: (error: unknown) => void;
    onLoginUnsaved?: (error: unknown) => void;
  }) {
    this.#store = options.store;
    this.#unsaved = new UnsavedWrites(options.timer);
    this.#clock = options.clock;
    this.#timer = options.timer;
    this.#onLoginUnsaved = options.onLoginUnsaved ?? (() => {});
    this.#onSaveFailed = options.onSaveFailed ?? (() => {});
  }

  /** Reads everything from the store; logins that expired meanwhile are deleted there, on a full disk once it takes that. */
  async load(): Promise<void> {
    for (const row of await this.#store.agentKeys()) this.#rememberAgentKey(row);
    for (const row of await this.#store.operators()) this.#rememberOperator(row);
    for (const login of await this.#store.logins()) {
      this.#logins.set(login.cookie_hash, login);
      if (this.login(login.cookie_hash) === null) await this.endLogin(login.cookie_hash).catch(() => {});
    }
  }

  /** Ends that the store has refused are tried again, or the next start would let them in. Never rejects. */
  async stop(): Promise<void> {
    await this.#ends.idle();
    await this.#unsaved.stop();
  }

  /** The principal of a key that is not revoked; notes its use. */
  agentByHash(secretHash: string): AgentPrincipal | null {
    const kept = this.#agentsByHash.get(secretHash);
    if (kept === undefined) return null;
    if (this.#noteUse(kept)) this.#store.saveAgentKey({ ...kept.row }).catch(this.#onSaveFailed);
    return kept.principal;
  }

  /** False once the key that this principal came with is revoked or has another secret. A look-up in a map. */
  isInForce(principal: AgentPrincipal): boolean {
    return this.agentFor(principal, principal.tenant_id) === principal;
  }

  /** The same key acting for that tenant; null where it may not, or is not in force. Two look-ups in maps. */
  agentFor({ key_id }: AgentPrincipal, tenantId: string): AgentPrincipal | null {
    return this.#agentPrincipals.get(key_id)?.get(tenantId) ?? null;
  }

  hasAgentKey(secretHash: string): boolean {
    return this.#agentsByHash.has(secretHash);
  }

  /** The row of a token that is not revoked; notes its use. */
  operatorByHash(secretHash: string): Readonly<OperatorRow> | null {
    const kept = this.#operatorsByHash.get(secretHash);
    if (kept === undefined) return null;
    if (this.#noteUse(kept)) this.#store.saveOperator({ ...kept.row }).catch(this.#onSaveFailed);
    return kept.row;
  }

  /** A login that has not expired, with its token, which is not revoked and may act for the login's tenant. */
  login(cookieHash: string): { login: Readonly<LoginRow>; operator: Readonly<OperatorRow> } | null {
    const login = this.#logins.get(cookieHash);
    const operator = login && this.#operators.get(login.token_id);
    if (!operator || operator.revoked_at_ms !== null || login.expires_at_ms <= this.#clock.nowMs())
      return null;
    return mayActFor(operator.tenant_ids, login.tenant_id) ? { login, operator } : null;
  }

  isLive({ token_id, login_id }: OperatorCredential): boolean {
    const operator = this.#operators.get(token_id);
    if (operator === undefined || operator.revoked_at_ms !== null) return false;
    return login_id === null || this.login(login_id) !== null;
  }

  /** Oldest first. */
  agentKeys(): Readonly<AgentKeyRow>[] {
    return [...this.#agentKeys.values()];
  }

  agentKey(keyId: string): Readonly<AgentKeyRow> | undefined {
    return this.#agentKeys.get(keyId);
  }

  /** Oldest first. */
  operators(): Readonly<OperatorRow>[] {
    return [...this.#operators.values()];
  }

  operator(tokenId: string): Readonly<OperatorRow> | undefined {
    return this.#operators.get(tokenId);
  }

  /** Adds a key, or replaces the one with this id; valid as soon as it is stored, with its entry in the audit if there is one. */
  async putAgentKey(row: AgentKeyRow, audit?: AuditDraft): Promise<void> {
    await this.#store.saveAgentKey({ ...row }, audit);
    const replaced = this.#agentKeys.get(row.key_id);
    this.#rememberAgentKey(row);
    if (replaced !== undefined && replaced.secret_hash !== row.secret_hash) {
      this.#announce({ kind: 'agent_key', key_id: row.key_id });
    }
  }

  /** Adds a token, or replaces the one with this id; another secret or fewer rights end its logins. */
  async putOperator(row: OperatorRow, audit?: AuditDraft): Promise<void> {
    await this.#store.saveOperator({ ...row }, audit);
    const replaced = this.#operators.get(row.token_id);
    this.#rememberOperator(row);
    if (replaced !== undefined && replaced.secret_hash !== row.secret_hash) {
      this.#announce({ kind: 'operator', token_id: row.token_id });
      await this.#endLoginsOf(row.token_id);
    }
  }

  /**
   * Ends a key in memory at once, then in the store, with its entry in the audit if there is one. Rejects where that refuses it
   * for now; repeating it repeats the write, and else writes nothing.
   */
  async revokeAgentKey(keyId: string, audit?: AuditDraft): Promise<void> {
    const row = this.#agentKeys.get(keyId);
    if (row === undefined) return;
    if (row.revoked_at_ms !== null) return this.#repeatEnd(keyId);
    const revoked = { ...row, revoked_at_ms: this.#clock.nowMs() };
    this.#rememberAgentKey(revoked);
    this.#announce({ kind: 'agent_key', key_id: keyId });
    await this.#writeEnd(keyId, () => this.#store.saveAgentKey({ ...revoked }, audit));
    const gone = overdue(this.#agentKeys, CREDENTIAL_LIMITS.revokedAgentKeysMax, (one) => one.tenant_id);
    await this.#letGo(gone, this.#agentKeys, (id) => this.#store.deleteAgentKey(id));
  }

  /** Ends a token and its logins in memory at once, then in the store; else as of a key. */
  async revokeOperator(tokenId: string, audit?: AuditDraft): Promise<void> {
    const row = this.#operators.get(tokenId);
    if (row === undefined) return;
    if (row.revoked_at_ms !== null) return this.#repeatEnd(tokenId);
    const revoked = { ...row, revoked_at_ms: this.#clock.nowMs() };
    this.#rememberOperator(revoked);
    this.#announce({ kind: 'operator', token_id: tokenId });
    await this.#writeEnd(tokenId, () => this.#store.saveOperator({ ...revoked }, audit));
    await this.#endLoginsOf(tokenId);
    const { revokedOperatorsMax } = CREDENTIAL_LIMITS;
    const gone = overdue(this.#operators, revokedOperatorsMax, (one) => JSON.stringify(one.tenant_ids));
    await this.#letGo(gone, this.#operators, (id) => this.#store.deleteOperator(id));
  }

  /**
   * Adds a login. It holds also where the store refuses it or takes its time, until the next start if that has not changed by then:
   * whoever wants to stop an agent on a disk that fails has to get in. At the bound the token's login that expires first is ended.
   */
  async putLogin(login: LoginRow): Promise<void> {
    const others = [...this.#logins.values()].filter((other) => other.token_id === login.token_id);
    if (others.length >= CREDENTIAL_LIMITS.loginsPerTokenMax) {
      const first = others.reduce((a, b) => (a.expires_at_ms <= b.expires_at_ms ? a : b));
      await this.endLogin(first.cookie_hash).catch(this.#onLoginUnsaved);
    }
    await this.#putLogin({ ...login });
  }

  /** The login acts for that tenant from now on, as it was let in: whatever the disk does. False: it has ended meanwhile. */
  async moveLogin(login: Readonly<LoginRow>, tenantId: string): Promise<boolean> {
    if (this.#logins.has(login.cookie_hash)) await this.#putLogin({ ...login, tenant_id: tenantId });
    return this.#logins.has(login.cookie_hash);
  }

  async #putLogin(login: LoginRow): Promise<void> {
    const { cookie_hash: id } = login;
    this.#logins.set(id, login);
    const write = async () => {
      // Unless it has ended, or gone over to another tenant.
      if (this.#logins.get(id) === login) await this.#store.saveLogin({ ...login });
      this.#unsaved.delete(id, write);
    };
    const written = write().catch((error: unknown) => {
      if (this.#logins.get(id) === login) this.#unsaved.add(id, write);
      throw error;
    });
    await storedInTime(written, this.#timer).catch(this.#onLoginUnsaved);
  }

  /** In memory at once. Rejects where the store refuses it for now, or takes its time. */
  async endLogin(cookieHash: string): Promise<void> {
    if (this.#logins.delete(cookieHash)) this.#announce({ kind: 'login', login_id: cookieHash });
    await storedInTime(this.#deleteLogin(cookieHash), this.#timer);
  }

  onRevoked(listener: (revocation: Revocation) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #endLoginsOf(tokenId: string): Promise<void> {
    const ending = [...this.#logins.values()].filter((login) => login.token_id === tokenId);
    for (const login of ending) this.#logins.delete(login.cookie_hash);
    for (const login of ending) await this.#deleteLogin(login.cookie_hash);
  }

  #deleteLogin(cookieHash: string): Promise<void> {
    return this.#writeEnd(cookieHash, () => this.#store.deleteLogin(cookieHash));
  }

  /** Rejects as the first attempt does; it is not the last. */
  #writeEnd(id: string, write: () => Promise<void>): Promise<void> {
    const attempt = async () => {
      await write();
      this.#unsaved.delete(id);
    };
    return this.#ends.run(id, () =>
      attempt().catch((error: unknown) => {
        this.#unsaved.add(id, attempt);
        throw error;
      }),
    );
  }

  /** What the store refused so far is written now. */
  #repeatEnd(id: string): Promise<void> {
    return this.#ends.run(id, () => this.#unsaved.writeNow(id));
  }

  /** Of what is listed only: it ended long ago. One whose end is not written yet stays, or the next start would let it in. */
  async #letGo(id: string | null, from: Map<string, unknown>, remove: (id: string) => Promise<void>) {
    if (id === null || this.#unsaved.has(id)) return;
    from.delete(id);
    await remove(id).catch(this.#onSaveFailed);
  }

  #announce(revocation: Revocation): void {
    for (const listener of this.#listeners) listener(revocation);
  }

  #rememberAgentKey(row: AgentKeyRow): void {
    const replaced = this.#agentKeys.get(row.key_id);
    if (replaced !== undefined) this.#forget(this.#agentsByHash, replaced.secret_hash, replaced);
    this.#agentKeys.set(row.key_id, row);
    this.#agentPrincipals.delete(row.key_id);
    if (row.revoked_at_ms !== null) return;
    const { key_id, name, agent_ids = null } = row;
    const principalOf = (tenant_id: string): AgentPrincipal =>
      Object.freeze({ kind: 'agent', key_id, key_name: name, tenant_id, agent_ids });
    const principal = principalOf(row.tenant_id);
    const byTenant = new Map((row.tenant_ids ?? []).map((tenantId) => [tenantId, principalOf(tenantId)]));
    this.#agentPrincipals.set(key_id, byTenant.set(row.tenant_id, principal));
    this.#agentsByHash.set(row.secret_hash, { row, principal, usageSavedMs: Number.NEGATIVE_INFINITY });
  }

  #rememberOperator(row: OperatorRow): void {
    const replaced = this.#operators.get(row.token_id);
    if (replaced !== undefined) this.#forget(this.#operatorsByHash, replaced.secret_hash, replaced);
    this.#operators.set(row.token_id, row);
    if (row.revoked_at_ms === null)
      this.#operatorsByHash.set(row.secret_hash, { row, usageSavedMs: Number.NEGATIVE_INFINITY });
  }

  /** Drops a hash only while it stands for this very row: two rows may share one secret. */
  #forget<Row>(byHash: Map<string, Kept<Row>>, secretHash: string, row: Row): void {
    if (byHash.get(secretHash)?.row === row) byHash.delete(secretHash);
  }

  /** True when the use should be saved now. */
  #noteUse(kept: Kept<{ last_used_at_ms: number | null }>): boolean {
    kept.row.last_used_at_ms = this.#clock.nowMs();
    const steadyMs = this.#clock.steadyMs();
    if (steadyMs - kept.usageSavedMs < LAST_USED_SAVE_MS) return false;
    kept.usageSavedMs = steadyMs;
    return true;
  }
}

/**
 * Of revoked rows beyond their number the one that ended first, of the owner that has most of them; null: they are no more. O(rows)
 */
function overdue<Row extends { revoked_at_ms: number | null }>(
  rows: ReadonlyMap<string, Row>,
  countMax: number,
  ownerOf: (row: Row) => string,
): string | null {
  const revoked = [...rows].filter(([, row]) => row.revoked_at_ms !== null);
  if (revoked.length <= countMax) return null;
  const byOwner = new Map<string, [string, Row][]>();
  for (const one of revoked) {
    const owner = ownerOf(one[1]);
    const own = byOwner.get(owner);
    if (own === undefined) byOwner.set(owner, [one]);
    else own.push(one);
  }
  const most = [...byOwner.values()].reduce((a, b) => (b.length > a.length ? b : a));
  const [id] = most.reduce((a, b) => ((b[1].revoked_at_ms ?? 0) < (a[1].revoked_at_ms ?? 0) ? b : a));
  return id;
}
