/** The Session Cluster Manager, the home page: what loops now, and every session. */
import { getRouteApi } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTopic } from '../../realtime';
import { Button, EmptyState, Skeleton, useIsPhone, usePointing, useWaitsFor } from '../../ui';
import { OnboardingEmptyState } from '../onboarding/empty-state';
import { EntropyAlertsPanel } from './entropy-alerts-panel';
import { FilterBar } from './filter-bar';
import { isFiltered, type ListSearch } from './list-search';
import { SessionList } from './session-list';
import { StoredMatches } from './stored-matches';
import { useSessionList } from './use-session-list';
import { NO_FILTERS, useSetListSearch } from './use-set-list-search';
import { WindowDotsTooltip } from './window-dots';

const route = getRouteApi('/shell/');

export function SessionClustersPage() {
  const search = route.useSearch();
  const isPhone = useIsPhone();
  const pageRef = useRef<HTMLDivElement>(null);
  const topic = useTopic('gateway:sessions');
  const list = useSessionList(topic, search);
  const [isPointed, setIsPointed] = useState(false);
  const pointing = usePointing(setIsPointed);
  const isSettled = useIsSettled();

  if (topic.data?.size === 0 && !isFiltered(search)) {
    return (
      <div className="h-full overflow-y-auto">
        <OnboardingEmptyState />
      </div>
    );
  }
  return (
    <div
      ref={pageRef}
      className="flex h-full flex-col gap-3 p-3 max-md:block max-md:overflow-y-auto max-md:p-0"
      {...pointing}
    >
      <h1 className="sr-only">Sessions</h1>
      {topic.data === null || !isSettled ? (
        <Loading />
      ) : (
        <>
          <div className="contents max-md:flex max-md:flex-col max-md:gap-3 max-md:p-3">
            <EntropyAlertsPanel
              sessions={topic.data}
              keepsHeight={isPointed || list.hold.focused}
              isPhone={isPhone}
            />
            <FilterBar
              search={search}
              agentIds={list.agentIds}
              shownCount={list.shownCount}
              totalCount={list.totalCount}
              leftOutCount={list.leftOutCount}
              isFrozen={list.isFrozen}
              waitingCount={list.waitingUpdateCount}
              onFreeze={list.setFrozen}
              listed={list.listed}
            />
          </div>
          {list.rows.length === 0 ? <NothingMatches search={search} /> : null}
          {list.rows.length > 0 ? (
            <SessionList
              rows={list.rows}
              sessions={list.sessions}
              policies={list.policies}
              loops={list.loops}
              isPhone={isPhone}
              pageRef={pageRef}
              sort={search.sort ?? 'severity'}
              waiting={list.waiting}
              onRelease={list.release}
              onHold={list.onHold}
            />
          ) : null}
          {list.rows.length > 0 && list.leftOutCount > 0 ? (
            <div className="shrink-0 overflow-y-auto text-muted md:max-h-[40%] max-md:px-3 max-md:pb-3">
              <StoredMatches {...search} />
            </div>
          ) : null}
        </>
      )}
      <WindowDotsTooltip />
    </div>
  );
}

/**
 * All that the alerts are made of has come, was refused, or takes too long. The list waits for it: alerts that came later would push
 * it down, and whoever was about to press would hit another row.
 */
function useIsSettled(): boolean {
  const topics = [
    useTopic('gateway:entropy_alerts'),
    useTopic('gateway:semantic_loops'),
    useTopic('gateway:agents'),
    useTopic('gateway:all_agents'),
  ];
  return !useWaitsFor(topics.some(({ data, phase }) => data === null && phase !== 'refused'));
}

function Loading() {
  return (
    <div
      aria-busy="true"
      className="flex flex-1 flex-col gap-4 rounded-lg border border-line bg-surface p-4 max-md:m-3"
    >
      {['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((key) => (
        <Skeleton key={key} className="h-5 w-full" />
      ))}
    </div>
  );
}

function NothingMatches({ search }: { search: ListSearch }) {
  const set = useSetListSearch();
  return (
    <EmptyState
      icon={<SearchX size={26} aria-hidden="true" />}
      title="No session matches"
      className="flex-1 rounded-lg border border-line bg-surface"
      action={<Button onClick={() => set(NO_FILTERS)}>Clear filters</Button>}
    >
      New sessions that match appear here by themselves.
      <StoredMatches {...search} />
    </EmptyState>
  );
}
