/** What an audit entry without a session is about, in a few words. */
import type { AuditEntry } from '#contracts';

export function auditSummary({ action, detail }: Pick<AuditEntry, 'action' | 'detail'>): string {
  const { name, role, after, agent_id } = detail;
  if (action === 'config.update' && typeof after === 'object' && after !== null) {
    return Object.entries(after)
      .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      .join(', ');
  }
  if (typeof agent_id === 'string') return agent_id;
  if (typeof name !== 'string') return '';
  return typeof role === 'string' ? `${name}, ${role}` : name;
}
