/** What an audit entry is about: the things that have a page of their own, and the rest in a few words. Pure. */
import type { AuditEntry } from '#contracts';

export type AuditThing = 'session' | 'agent' | 'all_agents' | 'incident' | 'rule' | 'channel' | 'call';

export interface AuditLink {
  thing: AuditThing;
  id: string;
  /** The id where people know the thing by it. */
  label: string;
}

export interface AuditSummary {
  /** What it concerns comes first. */
  links: readonly AuditLink[];
  /** "" where the links say it all. */
  words: string;
}

type Detail = AuditEntry['detail'];

export function auditSummary({
  action,
  session_id,
  detail,
}: Pick<AuditEntry, 'action' | 'session_id' | 'detail'>): AuditSummary {
  if (session_id) return { links: [{ thing: 'session', id: session_id, label: session_id }], words: '' };
  const { agent_id, incident_id, rule_id, channel_id, call_id, name, ...rest } = detail;
  if (isText(agent_id)) {
    const incident = isText(incident_id) ? [linkTo('incident', incident_id, 'See the incident')] : [];
    return { links: [linkTo('agent', agent_id, agent_id), ...incident], words: changes(rest) };
  }
  if (rest.all_agents === true) {
    const { all_agents: _, ...changed } = rest;
    return { links: [linkTo('all_agents', '', 'All agents')], words: changes(changed) };
  }
  if (isText(rule_id)) return named('rule', rule_id, action, detail);
  if (isText(channel_id)) return named('channel', channel_id, action, detail);
  if (isText(call_id))
    return { links: [linkTo('call', call_id, 'See the call')], words: asText(rest.verdict) };
  return { links: [], words: wordsOf(action, detail) };
}

/** One that was deleted has no page any more. */
function named(thing: 'rule' | 'channel', id: string, action: string, { name, after }: Detail): AuditSummary {
  const label = isText(name) ? name : `See the ${thing}`;
  const words = isObject(after) ? changes(after) : '';
  return action.endsWith('.delete')
    ? { links: [], words: label }
    : { links: [linkTo(thing, id, label)], words };
}

function wordsOf(action: string, { name, role, after }: Detail): string {
  if (action === 'config.update' && isObject(after)) return changes(after);
  if (!isText(name)) return '';
  return isText(role) ? `${name}, ${role}` : name;
}

/** Settings and what they became, as their API names them; a reason in the words of whoever gave it. */
const changes = ({ reason, ...after }: Detail): string =>
  [
    ...Object.entries(after).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    ...(isText(reason) ? [reason] : []),
  ].join(', ');

const linkTo = (thing: AuditThing, id: string, label: string): AuditLink => ({ thing, id, label });
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const asText = (value: unknown): string => (isText(value) ? value.replaceAll('_', ' ') : '');
const isObject = (value: unknown): value is Detail => typeof value === 'object' && value !== null;
