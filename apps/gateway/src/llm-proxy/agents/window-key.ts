/** Under which key the kill switch keeps a window, and whose it is. */
import { agentScope, type KillSwitchSettings } from '#contracts';
import type { ProxyCall } from '../proxy-call.js';

/** NUL occurs in no id: windows of different tenants, agents and sessions never meet. */
export const windowKey = (
  { tenantId, agentId, sessionId }: Pick<ProxyCall, 'tenantId' | 'agentId' | 'sessionId'>,
  { scope }: KillSwitchSettings,
): string =>
  scope === 'agent' ? `${agentScope(tenantId, agentId)}\0` : `${agentScope(tenantId, agentId)}\0${sessionId}`;

/** Every window of an agent begins with this. */
export const windowPrefix = (tenantId: string, agentId: string): string =>
  `${agentScope(tenantId, agentId)}\0`;

/** The agent scope a window's key begins with. */
export const agentOfWindow = (key: string): string => key.slice(0, key.indexOf('\0', key.indexOf('\0') + 1));
