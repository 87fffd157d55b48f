/** What an audit entry is about, in a column of its own or below the action: links to what has a page, and words. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { AuditEntry } from '#contracts';
import { CutMiddle, cx } from '../../ui';
import { type AuditLink, auditSummary } from './audit-summary';

/** Ids of these are what people know them by. */
const SHOWN_IDS: readonly AuditLink['thing'][] = ['session', 'agent'];
const ID_CHARS_MAX = 24;

export function AuditConcerning({ entry }: { entry: AuditEntry }) {
  const { links, words } = auditSummary(entry);
  return (
    <>
      {links.map((link) => (
        <Link
          key={link.thing}
          {...placeOf(link)}
          title={SHOWN_IDS.includes(link.thing) ? link.id : undefined}
          className={cx(
            'block w-fit max-w-full hover:text-accent hover:underline',
            SHOWN_IDS.includes(link.thing) ? 'font-mono' : 'truncate underline underline-offset-2',
          )}
        >
          {SHOWN_IDS.includes(link.thing) ? (
            <CutMiddle text={link.label} charsMax={ID_CHARS_MAX} />
          ) : (
            link.label
          )}
        </Link>
      ))}
      {words === '' ? null : (
        <span title={words} className="line-clamp-2 whitespace-normal [overflow-wrap:anywhere]">
          {words}
        </span>
      )}
    </>
  );
}

function placeOf({ thing, id }: AuditLink): Pick<LinkProps, 'to' | 'params' | 'search'> {
  switch (thing) {
    case 'session':
      return { to: '/sessions/$sessionId', params: { sessionId: id } };
    case 'agent':
      return { to: '/agents/$agentId', params: { agentId: id } };
    case 'all_agents':
      return { to: '/all-agents' };
    case 'incident':
      return { to: '/incidents/$incidentId', params: { incidentId: id } };
    case 'call':
      return { to: '/calls/$callId', params: { callId: id } };
    case 'channel':
      return { to: '/alerts', search: { tab: 'channels', named: id } };
    case 'rule':
      return { to: '/alerts', search: { named: id } };
  }
}
