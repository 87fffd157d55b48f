/**
 * What the agent sent and got, request by request, beside the request that was stopped. Marked is what it has in common
 * with that one. Texts are redacted and cut by the gateway.
 */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Incident, IncidentEvidence } from '#contracts';
import { Badge, cx, EmptyState, formatScore, Panel, plural, RelativeTime, Switch } from '../../ui';
import { EmphasisedText } from '../compared-texts/emphasised-text';
import { type EvidenceView, isRepeatedCall, pointsOf, viewEvidence } from './score';

interface EvidencePanelProps {
  incident: Incident;
  /** Also requests that did not count. */
  showsAll: boolean;
  onShowAll: (showsAll: boolean) => void;
}

export function EvidencePanel({ incident, showsAll, onShowAll }: EvidencePanelProps) {
  const view = useMemo(() => viewEvidence(incident.evidence), [incident.evidence]);
  const counted = view.earlier.filter((evidence) => pointsOf(evidence) > 0);
  const shown = showsAll ? view.earlier : counted;
  const hiddenCount = view.earlier.length - counted.length;
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
      bodyClassName=""
    >
      {view.stopped ? (
        <ol className="divide-y divide-line">
          <li>
            <Evidence evidence={view.stopped} view={view} isStopped />
          </li>
          {shown.map((evidence) => (
            <li key={evidence.call_id}>
              <Evidence evidence={evidence} view={view} />
            </li>
          ))}
        </ol>
      ) : (
        <EmptyState title="No evidence was kept" className="py-8" />
      )}
    </Panel>
  );
}

interface EvidenceProps {
  evidence: IncidentEvidence;
  view: EvidenceView;
  isStopped?: boolean;
}

function Evidence({ evidence, view, isStopped = false }: EvidenceProps) {
  const counts = pointsOf(evidence) > 0;
  return (
    <article
      data-testid="evidence"
      data-call-id={evidence.call_id}
      aria-label={isStopped ? 'The request that was stopped' : undefined}
      className={cx(
        'grid grid-cols-[8.5rem_1fr_1fr_1fr] gap-3 py-3 pr-3 max-lg:grid-cols-2 max-md:grid-cols-1',
        isStopped ? 'border-l-[3px] border-l-danger-solid bg-danger-soft/40 pl-[9px]' : 'pl-3',
        !isStopped && !counts && 'opacity-75',
      )}
    >
      <EvidenceHead evidence={evidence} isStopped={isStopped} />
      <Part
        title="Prompt"
        mark={evidence.is_similar_prompt && !isStopped ? 'similar' : null}
        note={distanceText(evidence, isStopped)}
      >
        {evidence.prompt === '' ? (
          <Nothing>No text of its own</Nothing>
        ) : (
          <EmphasisedText
            text={evidence.prompt}
            reference={evidence.is_similar_prompt && !isStopped ? (view.stopped?.prompt ?? '') : null}
            tone="prompt"
          />
        )}
      </Part>
      <Part title="Answer" mark={evidence.is_similar_response && !isStopped ? 'similar' : null}>
        {evidence.response === null ? (
          <Nothing>{isStopped ? 'None: it never reached the upstream' : 'None'}</Nothing>
        ) : evidence.response === '' ? (
          <Nothing>No text</Nothing>
        ) : (
          <EmphasisedText
            text={evidence.response}
            reference={evidence.is_similar_response ? view.referenceResponse : null}
            tone="response"
          />
        )}
      </Part>
      <Part
        title={isStopped ? 'Tool calls in this turn' : 'Tool calls'}
        mark={
          evidence.repeated_tool_call_count > 0 && !isStopped
            ? `${evidence.repeated_tool_call_count} repeated`
            : null
        }
      >
        <ToolCalls evidence={evidence} view={view} isStopped={isStopped} />
      </Part>
    </article>
  );
}

function EvidenceHead({ evidence, isStopped }: { evidence: IncidentEvidence; isStopped: boolean }) {
  const points = pointsOf(evidence);
  return (
    <div className="flex flex-col items-start gap-1 max-lg:col-span-full max-lg:flex-row max-lg:items-center max-lg:gap-3">
      {isStopped ? (
        <Badge tone="danger">Stopped</Badge>
      ) : (
        <span className={cx('nums font-semibold text-md', points === 0 && 'text-faint')}>
          +{formatScore(points)}
          <span className="ml-1 font-normal text-muted text-xs">{points === 1 ? 'point' : 'points'}</span>
        </span>
      )}
      <span className="text-muted text-xs">
        <RelativeTime atMs={evidence.at_ms} />
      </span>
      <Link
        to="/calls/$callId"
        params={{ callId: evidence.call_id }}
        className="text-accent text-xs hover:underline"
      >
        The call
      </Link>
    </div>
  );
}

function distanceText({ prompt_distance }: IncidentEvidence, isStopped: boolean): string | null {
  if (isStopped || prompt_distance === null) return null;
  return prompt_distance === 0 ? 'same fingerprint' : `${plural(prompt_distance, 'bit')} apart`;
}

interface PartProps {
  title: string;
  /** Why it counts. */
  mark: string | null;
  note?: string | null;
  children: ReactNode;
}

function Part({ title, mark, note = null, children }: PartProps) {
  return (
    <div className="min-w-0">
      <p className="mb-1 flex min-h-5 flex-wrap items-center gap-1.5 text-2xs text-muted">
        {title}
        {mark ? <Badge tone="warning">{mark}</Badge> : null}
        {note ? <span className="text-faint">{note}</span> : null}
      </p>
      {children}
    </div>
  );
}

const Nothing = ({ children }: { children: ReactNode }) => <p className="text-faint text-xs">{children}</p>;

function ToolCalls({ evidence, view, isStopped }: Required<EvidenceProps>) {
  if (evidence.tool_calls.length === 0) return <Nothing>None</Nothing>;
  return (
    <ul className="flex flex-col gap-1.5">
      {evidence.tool_calls.map((call, index) => {
        const isRepeated = !isStopped && evidence.repeated_tool_call_count > 0 && isRepeatedCall(call, view);
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list; the same call may occur twice.
            key={index}
            data-testid="tool-call"
            data-repeated={isRepeated}
            className={cx(
              'rounded-md border px-2 py-1 text-xs',
              isRepeated ? 'border-warning-line bg-warning-soft' : 'border-line bg-sunken',
            )}
          >
            <p className="font-mono [overflow-wrap:anywhere]">
              <span className={cx('font-semibold', isRepeated && 'text-warning')}>{call.name}</span>
              <span className={isRepeated ? 'text-fg' : 'text-muted'}>({call.arguments})</span>
            </p>
            {call.result ? (
              <p className="mt-0.5 line-clamp-4 text-muted [overflow-wrap:anywhere]">→ {call.result}</p>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
