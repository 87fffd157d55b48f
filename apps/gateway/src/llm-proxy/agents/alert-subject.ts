/** Of whom an alert's events speak. */
import { type AgentScope, splitAgentScope } from '#contracts';
import type { AlertEvent } from '#domain/alerts';
import type { ProxyCall } from '../proxy-call.js';

export type AlertSubject = Pick<AlertEvent, 'tenant_id' | 'agent_id' | 'session_id'>;

/** In no session. @param scope or all agents together */
export function agentAlone(scope: AgentScope): AlertSubject {
  const { tenantId, agentId } = splitAgentScope(scope);
  return { tenant_id: tenantId, agent_id: agentId, session_id: null };
}

export const subjectOf = ({ tenantId, agentId, sessionId }: ProxyCall): AlertSubject => ({
  tenant_id: tenantId,
  agent_id: agentId,
  session_id: sessionId,
});
