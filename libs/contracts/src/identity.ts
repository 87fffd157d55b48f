/** The hard scope of every record: tenant -> agent -> session -> step. */
import type { Brand } from '#kernel';

/** A session id together with its tenant: the only key under which per-session state may be kept. */
export type SessionKey = Brand<string, 'SessionKey'>;

/** NUL cannot occur in a tenant id, so keys of different tenants never meet. */
export const sessionKey = (tenantId: string, sessionId: string): SessionKey =>
  `${tenantId}\0${sessionId}` as SessionKey;

/** The text that was cut from a key last: most keys in a row are of one tenant, and maps know a text again that they have seen. */
let latestTenantId = '';

export function tenantIdOf(key: SessionKey | AgentScope): string {
  const at = key.indexOf('\0');
  if (at !== latestTenantId.length || !key.startsWith(latestTenantId)) latestTenantId = key.slice(0, at);
  return latestTenantId;
}

export function splitSessionKey(key: SessionKey): { tenantId: string; sessionId: string } {
  const tenantId = tenantIdOf(key);
  return { tenantId, sessionId: key.slice(tenantId.length + 1) };
}

/** An agent's id together with its tenant. */
export type AgentScope = Brand<string, 'AgentScope'>;

export const agentScope = (tenantId: string, agentId: string): AgentScope =>
  `${tenantId}\0${agentId}` as AgentScope;

export function splitAgentScope(scope: AgentScope): { tenantId: string; agentId: string } {
  const tenantId = tenantIdOf(scope);
  return { tenantId, agentId: scope.slice(tenantId.length + 1) };
}

/** All agents of a tenant together, where a subject is named by its agent's id; no agent is called so. */
export const ALL_AGENTS = '';

/** What holds for all of them together is kept under this. */
export const allAgents = (tenantId: string): AgentScope => agentScope(tenantId, ALL_AGENTS);

/** Ids from before control characters were refused may end with a NUL of their own. */
export const isAllAgents = (scope: AgentScope): boolean => scope.indexOf('\0') === scope.length - 1;

/** Operator id under which the gateway itself acts, in control and audit. */
export const SYSTEM_OPERATOR = 'system';
