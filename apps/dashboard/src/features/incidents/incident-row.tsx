/** One incident in a list, as wide as the list's container lets it be: who was stopped, by how much, on what, and whether somebody has dealt with it. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Incident } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import { isOpenIncident } from '../../app/stopped-agents';
import { Badge, CutMiddle, cx, formatScore, RelativeTime } from '../../ui';
import { signalsText } from './signals-text';

export const IncidentRow = memo(function IncidentRow({
  incident,
  hidesAgent = false,
}: {
  incident: Incident;
  hidesAgent?: boolean;
}) {
  const isOpen = isOpenIncident(incident);
  const { breakdown } = incident;
  return (
    <article
      data-testid="incident-row"
      className="relative flex items-center gap-3 px-3 py-2.5 hover:bg-hover @max-xl:flex-wrap @max-xl:gap-x-2 @max-xl:gap-y-1"
    >
      <span
        className={cx(
          'nums flex min-w-16 shrink-0 flex-col items-center rounded-md px-1.5 py-0.5 font-semibold leading-5',
          isOpen ? 'bg-danger-soft text-danger' : 'bg-sunken text-muted',
        )}
      >
        <span className="sr-only">Score </span>
        {formatScore(breakdown.score)}
        <span className="font-normal text-2xs">above {formatScore(incident.threshold)}</span>
      </span>
      <div className="flex min-w-0 flex-1 flex-col @max-xl:basis-[calc(100%-5rem)]">
        {/* Its face covers the row: all of it can be clicked. */}
        <Link
          {...rowFocus}
          to="/incidents/$incidentId"
          params={{ incidentId: incident.incident_id }}
          title={hidesAgent ? undefined : incident.agent_id}
          className="focus-inset font-medium after:absolute after:inset-0"
        >
          {hidesAgent ? 'Stopped by the kill switch' : <CutMiddle text={incident.agent_id} />}
        </Link>
        <span className="truncate text-muted text-xs">{signalsText(breakdown)}</span>
      </div>
      <span
        className="w-40 shrink-0 truncate text-muted text-xs @max-3xl:hidden"
        title={incident.model ?? ''}
      >
        {incident.model ?? incident.upstream}
      </span>
      <span className="w-20 shrink-0 text-right text-muted text-xs @max-xl:order-last @max-xl:ml-auto @max-xl:w-auto">
        <RelativeTime atMs={incident.at_ms} />
      </span>
      <span className="flex w-44 shrink-0 justify-end @max-xl:w-auto">
        <IncidentState incident={incident} />
      </span>
    </article>
  );
});

export function IncidentState({ incident }: { incident: Incident }) {
  if (isOpenIncident(incident)) return <Badge tone="danger">Open</Badge>;
  return (
    <Badge tone="success" className="max-w-full" title={incident.reactivated_by ?? undefined}>
      <span className="truncate">
        Reactivated{incident.reactivated_by ? ` · ${incident.reactivated_by}` : ''}
      </span>
    </Badge>
  );
}
