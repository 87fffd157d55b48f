/**
 * Fleet Command: every agent and what it causes, how the gateway is doing, and what it refused. Reads topology, stats
 * and violations; entropy alerts belong to the Session Cluster Manager alone (FR-9.10).
 */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Map as MapIcon, Network, Table2 } from 'lucide-react';
import { Suspense, useMemo, useState } from 'react';
import { BegunAnew } from '../../app/begun-anew';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { lazyPart } from '../../app/lazy-part';
import { SearchBox } from '../../app/search-box';
import { TextLink } from '../../app/text-link';
import { Button, Callout, Dialog, EmptyState, isPhoneNow, plural, Skeleton, useIsPhone } from '../../ui';
import { Segmented } from '../../ui/segmented';
import { FleetLayout } from './fleet-layout';
import type { FleetData, FleetNode } from './fleet-nodes';
import {
  countAgents,
  countSessions,
  countStates,
  type FleetSearch,
  isNarrowed,
  matchesFleet,
  parseFleetSearch,
  writeFleetSearch,
} from './fleet-search';
import { FleetTable } from './fleet-table';
import { FleetViolations } from './fleet-violations';
import { NodeDetails } from './node-details';
import { StateLegend } from './state-legend';
import { StatsStrip } from './stats-strip';
import { useFleetData } from './use-fleet-data';

/** Of a phone's height: `h-[62dvh]` below. */
const PHONE_MAP_SHARE = 0.62;

const FleetMap = lazyPart(() => import('./fleet-map'), 'FleetMap');

export function FleetPage() {
  const { data: topology, refusal } = useFleetData();
  const [search, setSearch] = useFleetSearch();
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const isPhone = useIsPhone();
  const selected = selectedId === null ? undefined : topology?.nodes.get(selectedId);
  const close = () => setSelectedId(null);
  useShortcut('back', () => {
    if (selectedId === null) return false;
    close();
    return true;
  });
  const details =
    selected && topology ? (
      <NodeDetails
        node={selected}
        topology={topology}
        onSelect={setSelectedId}
        {...(isPhone ? {} : { onClose: close })}
      />
    ) : null;
  return (
    <div className="flex h-full flex-col max-md:overflow-y-auto">
      <h1 className="sr-only">Fleet</h1>
      <StatsStrip />
      <Toolbar topology={topology} search={search} onSearch={setSearch} />
      {refusal ? (
        <Callout tone="danger" className="m-3">
          The map is not available: {refusal.detail}
        </Callout>
      ) : null}
      <div className="flex min-h-0 flex-1 max-md:flex-none max-md:flex-col">
        <section
          aria-label={search.view === 'map' ? 'Map' : 'Table'}
          className="relative min-h-0 min-w-0 flex-1 max-md:h-[62dvh] max-md:flex-none"
        >
          <FleetView
            topology={topology}
            search={search}
            selectedId={selectedId}
            onSelect={setSelectedId}
            onClear={() => setSearch({ q: '', states: [] })}
          />
        </section>
        <div className="flex min-h-0 shrink-0 flex-col gap-3 border-line p-3 md:w-64 md:overflow-y-auto xl:w-80 md:border-l">
          {isPhone ? null : details}
          <FleetViolations className="min-h-40 md:flex-1" />
        </div>
      </div>
      {isPhone && selected ? (
        <Dialog open onOpenChange={(open) => open || close()} title="Agent">
          {details}
        </Dialog>
      ) : null}
    </div>
  );
}

interface FleetViewProps {
  topology: FleetData | null;
  search: FleetSearch;
  selectedId: string | null;
  onSelect: (nodeId: string | null) => void;
  onClear: () => void;
}

function FleetView({ topology, search, selectedId, onSelect, onClear }: FleetViewProps) {
  const navigate = useNavigate();
  const [layout] = useState(() => new FleetLayout(aspectOfMap()));
  const { q, states } = search;
  // One text per filter: a new array of the same states must not redraw the map.
  const statesKey = states.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: statesKey stands for states.
  const matches = useMemo(() => (node: FleetNode) => matchesFleet(node, { q, states }), [q, statesKey]);
  const placed = useMemo(() => layout.place(topology?.nodes.values() ?? []), [layout, topology]);
  const rows = useMemo(
    () => (search.view === 'table' ? [...(topology?.nodes.values() ?? [])].filter(matches) : []),
    [search.view, topology, matches],
  );

  if (!topology) return <Skeleton className="absolute inset-4 rounded-lg" />;
  if (topology.nodes.size === 0) {
    return (
      <BegunAnew
        className="h-full"
        icon={Network}
        title="No agents in sight"
        action={<TextLink to="/">Send a first DecisionLog</TextLink>}
      >
        Agents appear here with their next DecisionLog, and are linked as soon as one causes another.
      </BegunAnew>
    );
  }
  if (search.view === 'table') {
    if (rows.length === 0)
      return (
        <EmptyState
          className="h-full"
          title="No agent matches these filters"
          action={<Button onClick={onClear}>Clear filters</Button>}
        />
      );
    return <FleetTable nodes={rows} selectedId={selectedId} onSelect={onSelect} />;
  }
  return (
    <Suspense fallback={<Skeleton className="absolute inset-4 rounded-lg" />}>
      <FleetMap
        topology={topology}
        placed={placed}
        matches={matches}
        selectedId={selectedId}
        onSelect={onSelect}
        onInspect={({ session_id }) =>
          navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } })
        }
      />
    </Suspense>
  );
}

/** Of the area left for the map beside navigation and panels; taken once, since a map that reflows would jump. */
function aspectOfMap(): number {
  const aspect = isPhoneNow()
    ? innerWidth / (PHONE_MAP_SHARE * innerHeight)
    : (innerWidth - 540) / (innerHeight - 120);
  return Math.min(2.2, Math.max(0.75, aspect));
}

interface ToolbarProps {
  /** Null: not known yet. */
  topology: FleetData | null;
  search: FleetSearch;
  onSearch: (change: Partial<FleetSearch>) => void;
}

function Toolbar({ topology, search, onSearch }: ToolbarProps) {
  const counts = useMemo(() => topology && countStates(topology.nodes.values()), [topology]);
  const text = useMemo(() => topology && fleetText(topology, search), [topology, search]);
  return (
    <div className="flex items-center gap-x-3 gap-y-2 border-line border-b bg-surface px-3 py-2 max-[1900px]:flex-wrap short:sm:flex-nowrap">
      <SearchBox
        label="Find an agent"
        placeholder="Find an agent"
        value={search.q}
        onChange={(q) => onSearch({ q })}
        className="w-44 shrink-0 max-md:w-auto max-md:shrink max-md:flex-1 short:sm:w-52 short:sm:flex-none"
      />
      <div className="min-w-0 flex-1 max-[1900px]:order-last max-[1900px]:basis-full short:sm:order-none short:sm:basis-0">
        <StateLegend counts={counts} selected={search.states} onChange={(states) => onSearch({ states })} />
      </div>
      <p role="status" className="nums shrink-0 text-muted text-xs max-md:hidden">
        {text}
      </p>
      <Segmented
        label="View"
        value={search.view}
        onChange={(view) => onSearch({ view })}
        className="ml-auto shrink-0"
        options={[
          {
            value: 'map',
            label: (
              <>
                <MapIcon size={13} aria-hidden="true" /> Map
              </>
            ),
          },
          {
            value: 'table',
            label: (
              <>
                <Table2 size={13} aria-hidden="true" /> Table
              </>
            ),
          },
        ]}
      />
    </div>
  );
}

/** "7 agents in 24 sessions"; "2 of 7 agents, in 3 sessions". */
function fleetText({ nodes }: FleetData, search: FleetSearch): string {
  const all = [...nodes.values()];
  const shown = all.filter((node) => matchesFleet(node, search));
  const sessions = plural(countSessions(shown), 'session');
  return isNarrowed(search)
    ? `${countAgents(shown)} of ${plural(countAgents(all), 'agent')}, in ${sessions}`
    : `${plural(countAgents(all), 'agent')} in ${sessions}`;
}

function useFleetSearch(): [FleetSearch, (change: Partial<FleetSearch>) => void] {
  const raw = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const search = useMemo(() => parseFleetSearch(raw), [raw]);
  const change = (part: Partial<FleetSearch>) =>
    void navigate({
      to: '/fleet',
      search: writeFleetSearch({ ...search, ...part }) as never,
      replace: true,
    });
  return [search, change];
}
