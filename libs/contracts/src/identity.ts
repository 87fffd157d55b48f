/** The hard scope of every record: tenant -> agent -> session -> step. */
import type { Brand } from '#kernel';

/** A session id together with its tenant: the only key under which per-session state may be kept. */
export type SessionKey = Brand<string, 'SessionKey'>;

/** NUL cannot occur in a tenant id, so keys of different tenants never meet. */
export const sessionKey = (tenantId: string, sessionId: string): SessionKey =>
  `${tenantId}\0${sessionId}` as SessionKey;

export function splitSessionKey(key: SessionKey): { tenantId: string; sessionId: string } {
  const at = key.indexOf('\0');
  return { tenantId: key.slice(0, at), sessionId: key.slice(at + 1) };
}

/** An agent's id together with its tenant. */
export type AgentScope = Brand<string, 'AgentScope'>;

export const agentScope = (tenantId: string, agentId: string): AgentScope =>
  `${tenantId}\0${agentId}` as AgentScope;

export function splitAgentScope(scope: AgentScope): { tenantId: string; agentId: string } {
  const at = scope.indexOf('\0');
  return { tenantId: scope.slice(0, at), agentId: scope.slice(at + 1) };
}

/** Operator id under which the gateway itself acts, in control and audit. */
export const SYSTEM_OPERATOR = 'system';
