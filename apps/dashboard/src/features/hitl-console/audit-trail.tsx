/** Who did what to this session: the append-only audit, newest first. */
import { type AuditEntry, LIMITS } from '#contracts';
import { Badge, Panel, RelativeTime } from '../../ui';
import { reasonText } from './control-texts';

const ACTIONS: Record<string, string> = {
  pause: 'paused',
  resume: 'resumed',
  inject: 'injected guidance',
  rewrite: 'rewrote a held message',
  terminate: 'terminated',
  'hitl.acknowledge': 'acknowledged the pause',
  'hitl.expire': 'let the pause expire',
};

/** The gateway writes down, and the agent, or the proxy for it, is who has done it. */
const actorOf = ({ action, operator_id, detail }: AuditEntry): string =>
  action !== 'hitl.acknowledge' ? operator_id : detail.via === 'proxy' ? 'The proxy' : 'The agent';

/** The argument worth reading at a glance. */
function gist({ detail }: AuditEntry): string | null {
  for (const name of ['reason', 'prompt', 'trace_id']) {
    const value = detail[name];
    if (typeof value === 'string' && value) return name === 'reason' ? reasonText(value) : value;
  }
  return null;
}

export function AuditTrail({ entries }: { entries: readonly AuditEntry[] }) {
  const hasMore = entries.length >= LIMITS.sessionAuditEntriesMax;
  return (
    <Panel
      title="Audit"
      aside={
        <Badge>
          {entries.length}
          {hasMore ? '+' : ''}
        </Badge>
      }
      bodyClassName=""
    >
      {entries.length === 0 ? (
        <p className="p-3 text-muted text-xs">Nobody has touched this session.</p>
      ) : (
        <section
          aria-label="Commands, newest first"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to be reachable by keyboard.
          tabIndex={0}
          className="focus-inset max-h-96 overflow-y-auto"
        >
          <ol>
            {entries.toReversed().map((entry) => (
              <AuditLine key={entry.seq} entry={entry} />
            ))}
          </ol>
          {hasMore ? (
            <p className="px-3 py-2 text-muted text-xs">
              The latest {entries.length}. What was done before is in the audit of the settings.
            </p>
          ) : null}
        </section>
      )}
    </Panel>
  );
}

function AuditLine({ entry }: { entry: AuditEntry }) {
  const isOk = entry.outcome === 'ok';
  const text = gist(entry);
  return (
    <li
      data-testid="audit-entry"
      title={`Entry ${entry.seq}, hash ${entry.hash.slice(0, 12)}…`}
      className="border-line border-b px-3 py-2 last:border-b-0"
    >
      <div className="flex items-baseline gap-1.5">
        <span className="font-medium">{actorOf(entry)}</span>
        <span className="truncate text-muted">{ACTIONS[entry.action] ?? entry.action}</span>
        {isOk ? null : <Badge tone="warning">{entry.outcome.replaceAll('_', ' ')}</Badge>}
        <span className="ml-auto shrink-0 text-faint text-xs">
          <RelativeTime atMs={entry.at_ms} />
        </span>
      </div>
      {text ? <p className="line-clamp-2 text-muted text-xs">{text}</p> : null}
      {entry.before_state !== entry.after_state ? (
        <p className="text-faint text-xs">
          {stateWord(entry.before_state)} → {stateWord(entry.after_state)}
        </p>
      ) : null}
    </li>
  );
}

const stateWord = (state: string | null): string => state?.replaceAll('_', ' ') ?? 'none';
