/** Every time the kill switch fired, newest first. */
import { getRouteApi } from '@tanstack/react-router';
import { SearchX, ShieldCheck } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Incident } from '#contracts';
import { useRowFocus } from '../../app/keyboard/use-row-focus';
import { isOpenIncident } from '../../app/stopped-agents';
import { TextLink } from '../../app/text-link';
import { useChangeSearch } from '../../app/use-change-search';
import { useScrollPlace } from '../../app/use-scroll-place';
import { splitNewer } from '../../realtime';
import {
  Button,
  Callout,
  EmptyState,
  FilterChip,
  formatCount,
  ListFoot,
  NewPill,
  Skeleton,
  usePointing,
} from '../../ui';
import { Segmented } from '../../ui/segmented';
import { IncidentRow } from './incident-row';
import type { IncidentState, IncidentsSearch } from './incidents-search';
import { useIncidents } from './use-incidents';

const route = getRouteApi('/shell/incidents');

const STATES: readonly { value: IncidentState | 'all'; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'closed', label: 'Reactivated' },
];

export function IncidentsPage() {
  const search = route.useSearch();
  const change = useChangeSearch<IncidentsSearch>();
  const source = useIncidents(search.agent, search.state);
  const list = useRef<HTMLElement>(null);
  useRowFocus(list);
  useScrollPlace(list, source.incidents.length > 0);
  const { shown, waitingCount, release, hold } = useHeldIncidents(source.incidents, JSON.stringify(search));
  const pointing = usePointing(hold);
  const isKnown = !source.isLoading && (source.incidents.length > 0 || !source.failure);
  const openCount = search.state ? 0 : source.incidents.filter(isOpenIncident).length;
  const countText = `${formatCount(source.incidents.length)}${source.hasOlder ? '+' : ''}`;
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Incidents</h1>
      <div className="flex flex-wrap items-center gap-2 border-line border-b bg-surface px-3 py-2">
        <Segmented
          label="State"
          value={search.state ?? 'all'}
          options={STATES}
          onChange={(state) => change({ state: state === 'all' ? undefined : state })}
        />
        {search.agent ? (
          <FilterChip name="agent" value={search.agent} onRemove={() => change({ agent: undefined })} />
        ) : null}
        <p role="status" className="nums ml-auto text-muted text-xs">
          {openCount > 0
            ? `${openCount} open of ${countText}`
            : isKnown
              ? `${countText} ${source.incidents.length === 1 ? 'incident' : 'incidents'}`
              : ''}
        </p>
      </div>
      <div className="relative min-h-0 flex-1" {...pointing}>
        <NewPill count={waitingCount} onRelease={release} />
        <section
          ref={list}
          aria-label="Incidents, newest first"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
          tabIndex={0}
          className="focus-inset h-full overflow-y-auto bg-surface"
        >
          {source.failure ? (
            <Callout tone="danger" className="m-3">
              {source.failure}
            </Callout>
          ) : null}
          {source.isLoading ? (
            <div aria-busy="true" className="flex flex-col gap-3 p-3">
              <Skeleton className="h-11" />
              <Skeleton className="h-11" />
              <Skeleton className="h-11" />
            </div>
          ) : null}
          {isKnown && source.incidents.length === 0 && !source.failure ? (
            <Nothing
              isFiltered={Boolean(search.state || search.agent)}
              onClear={() => change({ state: undefined, agent: undefined })}
            />
          ) : null}
          <ul className="@container">
            {shown.map((incident) => (
              <li key={incident.incident_id} className="border-line border-b">
                <IncidentRow incident={incident} />
              </li>
            ))}
          </ul>
          <ListFoot
            hasMore={source.hasOlder}
            isLoading={source.isLoadingOlder}
            onLoad={source.loadOlder}
            label="Load older incidents"
          />
        </section>
      </div>
    </div>
  );
}

const atOf = ({ at_ms }: Incident): number => at_ms;

/** While somebody points at the list, new incidents wait; what changes about shown ones is shown at once. */
function useHeldIncidents(incidents: readonly Incident[], resetKey: string) {
  const newestAt = incidents[0]?.at_ms ?? 0;
  const [held, setHeld] = useState<{ at: number; resetKey: string } | null>(null);
  const isHeld = held !== null && held.resetKey === resetKey && held.at > 0;
  return {
    ...splitNewer(incidents, isHeld ? held.at : newestAt, atOf),
    hold: (wanted: boolean) => setHeld(wanted ? { at: newestAt, resetKey } : null),
    release: () => setHeld({ at: newestAt, resetKey }),
  };
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return isFiltered ? (
    <EmptyState
      icon={<SearchX size={26} aria-hidden="true" />}
      title="No incident matches"
      action={<Button onClick={onClear}>Show all</Button>}
    />
  ) : (
    <EmptyState
      icon={<ShieldCheck size={26} aria-hidden="true" />}
      title="No agent was stopped"
      action={<TextLink to="/agents">Set an agent’s kill switch</TextLink>}
    >
      When the kill switch fires, what the agent repeated is kept here as evidence.
    </EmptyState>
  );
}
