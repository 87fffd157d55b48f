/**
 * What the agent sent and got: the request that was stopped on the left, where it stays in sight, and beside it the earlier
 * ones, whose number makes the score; in a narrow window and on paper one below the other.
 */
import { useId, useMemo } from 'react';
import type { Incident } from '#contracts';
import { cx, EmptyState, Panel, plural, Switch } from '../../ui';
import { EvidenceRequest } from './evidence-request';
import { type EvidenceView, pointsOf, viewEvidence } from './score';

interface EvidencePanelProps {
  incident: Incident;
  /** Also requests that did not count. */
  showsAll: boolean;
  onShowAll: (showsAll: boolean) => void;
}

export function EvidencePanel({ incident, showsAll, onShowAll }: EvidencePanelProps) {
  const view = useMemo(() => viewEvidence(incident.evidence), [incident.evidence]);
  const hiddenCount = view.earlier.filter((evidence) => pointsOf(evidence) === 0).length;
  return (
    <Panel
      title="Evidence"
      aside={
        <span className="text-muted text-xs">{plural(incident.evidence.length, 'request')}, redacted</span>
      }
      actions={
        hiddenCount > 0 ? (
          <Switch checked={showsAll} onChange={onShowAll}>
            Show {hiddenCount} that did not count
          </Switch>
        ) : null
      }
      bodyClassName="@container"
    >
      {view.stopped ? (
        <SideBySide view={view} showsAll={showsAll} />
      ) : (
        <EmptyState title="No evidence was kept" className="py-8" />
      )}
    </Panel>
  );
}

const columnHeading = 'px-3 pt-2.5 font-medium text-xs';

function SideBySide({ view, showsAll }: { view: EvidenceView; showsAll: boolean }) {
  const id = useId();
  const { stopped } = view;
  const shown = showsAll ? view.earlier : view.earlier.filter((evidence) => pointsOf(evidence) > 0);
  return (
    <div className="@3xl:not-print:grid @3xl:not-print:grid-cols-[2fr_3fr]">
      <section
        aria-labelledby={`${id}-stopped`}
        className="min-w-0 border-line border-b border-l-[3px] border-l-danger-solid bg-danger-soft/40 @3xl:not-print:rounded-bl-lg @3xl:not-print:border-r @3xl:not-print:border-b-0"
      >
        {/* What is longer than the page is high scrolls by itself: it could not be read to its end otherwise. */}
        <div className="-ml-[3px] @3xl:not-print:sticky @3xl:not-print:top-0 @3xl:not-print:max-h-[100cqh] @3xl:not-print:overflow-y-auto">
          <h3 id={`${id}-stopped`} className={cx(columnHeading, 'text-danger')}>
            The request that was stopped
          </h3>
          {stopped ? <EvidenceRequest evidence={stopped} view={view} /> : null}
        </div>
      </section>
      <section aria-labelledby={`${id}-earlier`} className="min-w-0">
        <h3 id={`${id}-earlier`} className={cx(columnHeading, 'text-muted')}>
          Earlier requests, newest first
        </h3>
        <ol className="divide-y divide-line">
          {shown.map((evidence) => (
            <li key={evidence.call_id}>
              <EvidenceRequest evidence={evidence} view={view} />
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}
