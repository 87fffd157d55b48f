/**
 * Access before anybody could grant it: what the environment fixes, and on the very first start one operator token
 * and one agent key, whose plain values are known to this process only.
 */
import {
  type AgentKeyRow,
  ALL_TENANTS,
  DEFAULT_TENANT,
  ENVIRONMENT_ID,
  type OperatorRow,
  SYSTEM_OPERATOR,
} from '#contracts';
import { hasAllTenants } from '#domain/auth';
import type { Clock } from '#kernel';
import type { AccessDesk } from './access-desk.js';
import type { CredentialDirectory } from './credential-directory.js';
import { newCredential } from './new-credential.js';
import type { Auditor } from './settings-audit.js';

export const BOOTSTRAP = Symbol('Bootstrap');

/** Plain secrets this process knows: from the environment, or made just now. Never logged by this module. */
export interface Bootstrap {
  operatorToken: string | null;
  agentKey: string | null;
}

const SYSTEM: Auditor = { operator_id: SYSTEM_OPERATOR, role: 'system' };
const ALL: string[] = [ALL_TENANTS];

/**
 * Runs once per start, after the directory has loaded.
 *
 * - Environment secrets are valid while the variable is set: a changed value replaces the old one and ends its
 *   logins, an unset variable revokes it.
 * - No administrator left: one token is made. Never any agent key: one is made.
 * - `isOperatorTokenReset`: a new token is made and the earlier self-made ones are revoked.
 */
export async function bootstrapAccess(options: {
  directory: CredentialDirectory;
  desk: AccessDesk;
  clock: Clock;
  secrets: { operatorToken: string | null; agentKey: string | null };
  isOperatorTokenReset: boolean;
}): Promise<Bootstrap> {
  const { directory, desk, secrets } = options;
  const nowMs = options.clock.nowMs();
  await registerOperator(directory, secrets.operatorToken, nowMs);
  await registerAgentKey(directory, secrets.agentKey, nowMs);

  const known: Bootstrap = { ...secrets };
  const hasAdmin = directory
    .operators()
    .some((row) => row.revoked_at_ms === null && row.role === 'admin' && hasAllTenants(row.tenant_ids));
  if (!hasAdmin || options.isOperatorTokenReset) {
    const earlier = directory.operators().filter((row) => isSelfMade(row) && row.revoked_at_ms === null);
    const token = { name: 'admin', role: 'admin' as const, tenantIds: ALL };
    known.operatorToken = (await desk.issueOperator(SYSTEM, DEFAULT_TENANT, token)).secret;
    for (const row of earlier) await desk.endOperator(SYSTEM, DEFAULT_TENANT, row);
  }
  if (directory.agentKeys().every((row) => row.key_id === ENVIRONMENT_ID && row.revoked_at_ms !== null)) {
    const key = { name: 'default', tenantId: DEFAULT_TENANT };
    known.agentKey = (await desk.issueAgentKey(SYSTEM, key)).secret;
  }
  return known;
}

const isSelfMade = (row: Readonly<OperatorRow>): boolean =>
  row.created_by === SYSTEM_OPERATOR && row.token_id !== ENVIRONMENT_ID;

async function registerOperator(
  directory: CredentialDirectory,
  secret: string | null,
  nowMs: number,
): Promise<void> {
  const current = directory.operator(ENVIRONMENT_ID);
  if (secret === null) {
    if (current !== undefined && current.revoked_at_ms === null)
      await directory.revokeOperator(ENVIRONMENT_ID);
    return;
  }
  const row: OperatorRow = {
    token_id: ENVIRONMENT_ID,
    name: 'environment',
    role: 'admin',
    tenant_ids: ALL,
    ...newCredential(secret, SYSTEM_OPERATOR, nowMs),
  };
  if (isInForce(current, row.secret_hash)) return;
  await directory.putOperator(row);
}

async function registerAgentKey(
  directory: CredentialDirectory,
  secret: string | null,
  nowMs: number,
): Promise<void> {
  const current = directory.agentKey(ENVIRONMENT_ID);
  if (secret === null) {
    if (current !== undefined && current.revoked_at_ms === null)
      await directory.revokeAgentKey(ENVIRONMENT_ID);
    return;
  }
  const row: AgentKeyRow = {
    key_id: ENVIRONMENT_ID,
    tenant_id: DEFAULT_TENANT,
    name: 'environment',
    ...newCredential(secret, SYSTEM_OPERATOR, nowMs),
  };
  if (isInForce(current, row.secret_hash)) return;
  await directory.putAgentKey(row);
}

const isInForce = (
  row: { secret_hash: string; revoked_at_ms: number | null } | undefined,
  secretHash: string,
) => row !== undefined && row.secret_hash === secretHash && row.revoked_at_ms === null;
