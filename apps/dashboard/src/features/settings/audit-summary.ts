/** What an audit entry without a session is about, in a few words. */
import type { AuditEntry } from '#contracts';

export function auditSummary({ action, detail }: Pick<AuditEntry, 'action' | 'detail'>): string {
  const { name, role, after, agent_id, ...rest } = detail;
  if (action === 'config.update' && typeof after === 'object' && after !== null) return changes(after);
  if (typeof agent_id === 'string') return [agent_id, changes(rest)].filter(Boolean).join(': ');
  if (typeof name !== 'string') return '';
  return typeof role === 'string' ? `${name}, ${role}` : name;
}

/** Settings and what they became, as their API names them. */
const changes = (after: object): string =>
  Object.entries(after)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ');
