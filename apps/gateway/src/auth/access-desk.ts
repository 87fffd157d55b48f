/**
 * Handing out and taking back access: agent keys and operator tokens. Each change is durable, in the audit and in
 * force before it is answered. Nobody manages what reaches beyond the tenants it may act for.
 */
import {
  type AgentKey,
  type AgentKeyRow,
  type AuditDraft,
  type DecisionStore,
  ObservatoryError,
  type OperatorPrincipal,
  type OperatorRow,
  type OperatorToken,
  type Role,
} from '#contracts';
import { coversTenants, createSecret, hasAllTenants, mayActFor } from '#domain/auth';
import { ChangeQueue, type Clock, type IdSource, type Timer } from '#kernel';
import { inForceUnsaved, storedInTime } from '../stored-in-time.js';
import { CREDENTIAL_LIMITS, type CredentialDirectory } from './credential-directory.js';
import { newCredential } from './new-credential.js';
import { type Auditor, SettingsAudit } from './settings-audit.js';

export const ACCESS_DESK = Symbol('AccessDesk');

const withoutHash = <Row extends { secret_hash: string }>({
  secret_hash: _,
  ...shown
}: Row): Omit<Row, 'secret_hash'> => shown;

const tenantsOf = ({ tenant_id, tenant_ids = [] }: Readonly<AgentKeyRow>): string[] => [
  tenant_id,
  ...tenant_ids,
];

/** The operator may act for every tenant that the key may. */
const reachOver = (operator: OperatorPrincipal, row: Readonly<AgentKeyRow>): boolean =>
  coversTenants(operator.tenant_ids, tenantsOf(row));

type Revocable = Readonly<Pick<AgentKeyRow | OperatorRow, 'revoked_at_ms'>>;

const liveCount = (rows: readonly Revocable[]): number =>
  rows.filter(({ revoked_at_ms }) => revoked_at_ms === null).length;

/** @param all rows of all tenants, revoked ones among them */
function requireRoom(all: readonly Revocable[], countMax: number, what: string): void {
  const count = liveCount(all);
  if (count >= countMax)
    throw new ObservatoryError(
      'forbidden',
      `There are ${count} ${what} already, the most this server keeps; revoke some first.`,
    );
}

/**
 * The places are those of all tenants, so who may not act for all of them fills half at most.
 *
 * @param own rows that lie wholly inside its tenants, revoked ones among them
 */
function requireShare(
  { tenant_ids }: OperatorPrincipal,
  own: readonly Revocable[],
  countMax: number,
  what: string,
): void {
  if (hasAllTenants(tenant_ids)) return;
  const count = liveCount(own);
  if (count >= countMax / 2)
    throw new ObservatoryError(
      'forbidden',
      `Your tenants have ${count} ${what} already, half of what this server keeps for all; revoke some first.`,
    );
}

interface GivenKey {
  name: string;
  tenantId: string;
  tenantIds?: string[];
  agentIds?: string[] | undefined;
}

interface GivenOperator {
  name: string;
  role: Role;
  tenantIds: string[];
}

export class AccessDesk {
  readonly #directory: CredentialDirectory;
  readonly #audit: SettingsAudit;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #timer: Timer;
  /** New ones one after another: each is counted by the next. */
  readonly #creations = new ChangeQueue<'agent_key' | 'operator'>();

  constructor(options: {
    directory: CredentialDirectory;
    store: Pick<DecisionStore, 'commitControl'>;
    clock: Clock;
    ids: IdSource;
    timer: Timer;
  }) {
    this.#directory = options.directory;
    this.#audit = new SettingsAudit(options.store, options.clock);
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#timer = options.timer;
  }

  /** Keys of the tenant acted for that reach no further than the operator, revoked ones included; newest first. */
  agentKeys(principal: OperatorPrincipal): AgentKey[] {
    const own = this.#directory
      .agentKeys()
      .filter((row) => row.tenant_id === principal.tenant_id && reachOver(principal, row));
    return own.map(withoutHash).sort((a, b) => b.created_at_ms - a.created_at_ms);
  }

  /**
   * @throws ObservatoryError forbidden for a tenant it may not act for, or when there are too many keys, its own or of all
   */
  async createAgentKey(
    principal: OperatorPrincipal,
    body: {
      name: string;
      tenant_id?: string | undefined;
      tenant_ids?: string[] | undefined;
      agent_ids?: string[] | undefined;
    },
  ): Promise<{ key: AgentKey; secret: string }> {
    const tenantId = body.tenant_id ?? principal.tenant_id;
    const tenantIds = [...new Set([tenantId, ...(body.tenant_ids ?? [])])];
    const beyond = tenantIds.find((one) => !mayActFor(principal.tenant_ids, one));
    if (beyond !== undefined) {
      throw new ObservatoryError('forbidden', `You may not create keys for the tenant ${beyond}.`);
    }
    return this.#creations.run('agent_key', async () => {
      const own = this.#directory.agentKeys().filter((row) => reachOver(principal, row));
      requireShare(principal, own, CREDENTIAL_LIMITS.agentKeysMax, 'agent keys');
      const { name, agent_ids: agentIds } = body;
      return this.#issueAgentKey(principal, { name, tenantId, tenantIds, agentIds });
    });
  }

  /** Creates a key without asking whether somebody may. */
  issueAgentKey(by: Auditor, given: GivenKey): Promise<{ key: AgentKey; secret: string }> {
    return this.#creations.run('agent_key', () => this.#issueAgentKey(by, given));
  }

  async #issueAgentKey(
    by: Auditor,
    { name, tenantId, tenantIds = [], agentIds }: GivenKey,
  ): Promise<{ key: AgentKey; secret: string }> {
    requireRoom(this.#directory.agentKeys(), CREDENTIAL_LIMITS.agentKeysMax, 'agent keys');
    const secret = createSecret('agent', this.#ids);
    const reach = {
      ...(tenantIds.length > 1 && { tenant_ids: tenantIds }),
      ...(agentIds && { agent_ids: [...new Set(agentIds)] }),
    };
    const row: AgentKeyRow = {
      key_id: `key_${this.#ids.next()}`,
      tenant_id: tenantId,
      ...reach,
      name,
      ...newCredential(secret, by.operator_id, this.#clock.nowMs()),
    };
    const detail = { key_id: row.key_id, name, prefix: row.prefix, ...reach };
    await this.#directory.putAgentKey(row, this.#audit.draft(by, tenantId, 'agent_key.create', detail));
    return { key: withoutHash(row), secret };
  }

  /** In force at once, also for open sockets. Revoking what is revoked changes and writes nothing, and is fine. */
  async revokeAgentKey(principal: OperatorPrincipal, keyId: string): Promise<void> {
    const row = this.#directory.agentKey(keyId);
    if (row === undefined || !reachOver(principal, row)) {
      throw new ObservatoryError('not_found', 'No such agent key.');
    }
    const detail = { key_id: keyId, name: row.name };
    const audit = this.#audit.draft(principal, row.tenant_id, 'agent_key.revoke', detail);
    await this.#inTime(this.#directory.revokeAgentKey(keyId, audit));
  }

  /** Tokens whose tenants are all its own, revoked ones included; newest first. */
  operators(principal: OperatorPrincipal): OperatorToken[] {
    return this.#ownOperators(principal)
      .map(withoutHash)
      .sort((a, b) => b.created_at_ms - a.created_at_ms);
  }

  /** As of a key. Tenants default to the one acted for. @throws ObservatoryError forbidden beyond its own tenants */
  async createOperator(
    principal: OperatorPrincipal,
    body: { name: string; role: Role; tenant_ids?: string[] | undefined },
  ): Promise<{ operator: OperatorToken; secret: string }> {
    const tenantIds = [...new Set(body.tenant_ids ?? [principal.tenant_id])];
    if (!coversTenants(principal.tenant_ids, tenantIds)) {
      throw new ObservatoryError('forbidden', 'You may grant only tenants that you may act for.');
    }
    const given = { name: body.name, role: body.role, tenantIds };
    return this.#creations.run('operator', async () => {
      requireShare(principal, this.#ownOperators(principal), CREDENTIAL_LIMITS.operatorsMax, 'operators');
      return this.#issueOperator(principal, principal.tenant_id, given);
    });
  }

  /** Creates a token without asking whether somebody may. */
  issueOperator(
    by: Auditor,
    auditTenantId: string,
    given: GivenOperator,
  ): Promise<{ operator: OperatorToken; secret: string }> {
    return this.#creations.run('operator', () => this.#issueOperator(by, auditTenantId, given));
  }

  async #issueOperator(
    by: Auditor,
    auditTenantId: string,
    { name, role, tenantIds }: GivenOperator,
  ): Promise<{ operator: OperatorToken; secret: string }> {
    requireRoom(this.#directory.operators(), CREDENTIAL_LIMITS.operatorsMax, 'operators');
    const secret = createSecret('operator', this.#ids);
    const row: OperatorRow = {
      token_id: `op_${this.#ids.next()}`,
      name,
      role,
      tenant_ids: tenantIds,
      ...newCredential(secret, by.operator_id, this.#clock.nowMs()),
    };
    const detail = { token_id: row.token_id, name, role, tenant_ids: tenantIds, prefix: row.prefix };
    await this.#directory.putOperator(row, this.#audit.draft(by, auditTenantId, 'operator.create', detail));
    return { operator: withoutHash(row), secret };
  }

  /**
   * Ends the token, its logins and its sockets at once.
   *
   * @throws ObservatoryError not_found outside its own tenants; forbidden for the last admin of all tenants
   */
  async revokeOperator(principal: OperatorPrincipal, tokenId: string): Promise<void> {
    const row = this.#directory.operator(tokenId);
    if (row === undefined || !coversTenants(principal.tenant_ids, row.tenant_ids)) {
      throw new ObservatoryError('not_found', 'No such operator.');
    }
    if (row.revoked_at_ms === null && this.#isLastAdmin(row)) {
      throw new ObservatoryError(
        'forbidden',
        'This is the last administrator of all tenants; create another before revoking it.',
      );
    }
    const audit = this.#endOf(row, principal, principal.tenant_id);
    await this.#inTime(this.#directory.revokeOperator(tokenId, audit));
  }

  /** Revokes without asking whether somebody may. */
  async endOperator(by: Auditor, auditTenantId: string, row: Readonly<OperatorRow>): Promise<void> {
    await this.#directory.revokeOperator(row.token_id, this.#endOf(row, by, auditTenantId));
  }

  #endOf({ token_id, name, role }: Readonly<OperatorRow>, by: Auditor, auditTenantId: string): AuditDraft {
    return this.#audit.draft(by, auditTenantId, 'operator.revoke', { token_id, name, role });
  }

  /** Of what is in force: whoever asked for it does not wait for a disk that hangs. */
  #inTime(written: Promise<void>): Promise<void> {
    return storedInTime(written, this.#timer).catch(inForceUnsaved('revocation'));
  }

  /** Tenants that a key may act for and that the operator may act for, and the one it acts for; sorted. */
  tenants(principal: OperatorPrincipal): string[] {
    const known = this.#directory.agentKeys().flatMap(tenantsOf);
    const own = known.filter((tenantId) => mayActFor(principal.tenant_ids, tenantId));
    return [...new Set([...own, principal.tenant_id])].sort();
  }

  #ownOperators({ tenant_ids }: OperatorPrincipal): Readonly<OperatorRow>[] {
    return this.#directory.operators().filter((row) => coversTenants(tenant_ids, row.tenant_ids));
  }

  #isLastAdmin(row: Readonly<OperatorRow>): boolean {
    const isFullAdmin = (one: Readonly<OperatorRow>) =>
      one.revoked_at_ms === null && one.role === 'admin' && hasAllTenants(one.tenant_ids);
    return isFullAdmin(row) && this.#directory.operators().filter(isFullAdmin).length === 1;
  }
}
