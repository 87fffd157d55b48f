/** Why the session was flagged: the pattern that fired, and the window as it is now. */
import { PROXY_SOURCE, type SessionDetail } from '#contracts';
import { Badge, formatEntropy, Panel, plural, RelativeTime } from '../../ui';
import { markTuples } from '../session-clusters/tuple-groups';
import { TupleDot } from '../session-clusters/window-dots';
import { STATUS_TONES } from './step-row';

export function FiredWindow({ detail }: { detail: SessionDetail }) {
  const { alert, window, session } = detail;
  const marks = markTuples(window);
  const distinct = marks.filter(
    (mark, index) => marks.findIndex((other) => sameTuple(other, mark)) === index,
  );
  const hasNumbers = session.source_app === PROXY_SOURCE && window.some(({ intent }) => intent.includes('#'));
  return (
    <Panel
      title={session.severity === 'loop' ? 'Window that fired' : 'Window'}
      aside={
        <span className="nums text-muted text-xs">
          score {formatEntropy(session.entropy_score)}
          {window.length > 0 ? ` · ${distinct.length} of ${window.length} distinct` : null}
        </span>
      }
      bodyClassName="flex flex-col"
    >
      {alert ? (
        <p className="border-line border-b px-3 py-2 text-muted text-xs">
          {plural(alert.alert_count, 'alert')} (latest: <RelativeTime atMs={alert.last_at_ms} />
          ). {alert.latest.occurrence_count} of {alert.latest.window_size} steps were the same:
          <span
            title={alert.latest.repeated_pattern.intent}
            className="line-clamp-3 text-fg [overflow-wrap:anywhere]"
          >
            {alert.latest.repeated_pattern.intent}
          </span>
        </p>
      ) : null}
      {session.control.held_count > 0 ? (
        <p className="border-line border-b px-3 py-2 text-muted text-xs">
          Without {plural(session.control.held_count, 'held message')}: what is held counts once it is
          released.
        </p>
      ) : null}
      <ol aria-label="Steps in the window, oldest first">
        {marks.map((mark, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in the window is the identity.
          <li key={index} className="relative flex min-h-8 items-center gap-2.5 px-3 py-1">
            {mark.continuesPrevious ? (
              <span aria-hidden="true" className="absolute bottom-1/2 left-[15.5px] h-8 w-[3px] bg-fg/30" />
            ) : null}
            <TupleDot mark={mark} />
            <span className="min-w-0 flex-1 truncate" title={mark.tuple.intent}>
              <bdi>{mark.tuple.intent}</bdi>
              {mark.tuple.tool_call ? (
                <bdi className="ml-2 font-mono text-muted text-xs">{mark.tuple.tool_call}</bdi>
              ) : null}
            </span>
            {mark.occurrenceCount > 1 && !mark.continuesPrevious ? (
              <span className="nums font-semibold text-xs">×{mark.occurrenceCount}</span>
            ) : null}
            <Badge tone={STATUS_TONES[mark.tuple.action_status]}>{mark.tuple.action_status}</Badge>
          </li>
        ))}
      </ol>
      {hasNumbers ? (
        <p className="border-line border-t px-3 py-2 text-muted text-xs">
          # stands for a number: questions that differ in their numbers alone count as the same.
        </p>
      ) : null}
    </Panel>
  );
}

type Mark = ReturnType<typeof markTuples>[number];

const sameTuple = (a: Mark, b: Mark): boolean =>
  a.tuple.intent === b.tuple.intent &&
  a.tuple.tool_call === b.tuple.tool_call &&
  a.tuple.action_status === b.tuple.action_status;
