/** Every call through the proxy as it ends, and those before it. */
import { getRouteApi } from '@tanstack/react-router';
import { Filter, Snowflake } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import type { LlmCall } from '#contracts';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { useChangeSearch } from '../../app/use-change-search';
import { useTopic } from '../../realtime';
import { Button, Callout, EmptyState, SkeletonLines } from '../../ui';
import { ProxyOnboarding } from '../onboarding/proxy-onboarding';
import { CallPanel } from './call-panel';
import type { CallColumn } from './call-row';
import { CallsFilters } from './calls-filters';
import { type CallsSearch, callQuery, isCallFiltered, NO_CALL_FILTER } from './calls-search';
import { CallsTable } from './calls-table';
import { useCalls } from './use-calls';

const route = getRouteApi('/shell/calls');
const ALL_COLUMNS: readonly CallColumn[] = [];
/** Details take a third of the width. */
const BESIDE_DETAILS: readonly CallColumn[] = ['session', 'first_byte'];

export function CallsPage() {
  const search = route.useSearch();
  const change = useChangeSearch<CallsSearch>();
  const source = useCalls(search);
  const { data: agents } = useTopic('gateway:agents');
  const agentIds = useMemo(() => [...(agents?.keys() ?? [])], [agents]);
  const [isFrozen, setIsFrozen] = useState(false);
  const open = useCallback((call: LlmCall) => change({ call: call.call_id }), [change]);
  const close = useCallback(() => change({ call: undefined }), [change]);
  useShortcut('freeze', () => setIsFrozen((before) => !before));

  const isFiltered = isCallFiltered(search);
  if (!source.isLoading && !source.failure && source.calls.length === 0 && !isFiltered) {
    return (
      <div className="h-full overflow-y-auto">
        <ProxyOnboarding
          lead="Listening for the first call"
          title="Send your first call through the proxy"
          text="Change one base URL. Every call then appears here as it ends, with its tokens, cost and decisions."
        />
      </div>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Calls</h1>
      {/* biome-ignore lint/a11y/useSemanticElements: the search element is not known to every screen reader yet. */}
      <div
        role="search"
        aria-label="Calls"
        className="flex flex-wrap items-center gap-2 border-line border-b bg-surface px-3 py-2"
      >
        <CallsFilters filter={search} calls={source.calls} agentIds={agentIds} onChange={change} />
        <Button
          aria-pressed={isFrozen}
          variant={isFrozen ? 'primary' : 'secondary'}
          className="ml-auto max-md:h-10"
          icon={<Snowflake size={14} aria-hidden="true" />}
          onClick={() => setIsFrozen(!isFrozen)}
          title="Freeze the list (f)"
        >
          {isFrozen ? 'Frozen' : 'Freeze'}
        </Button>
      </div>
      {source.failure ? (
        <Callout tone="danger" className="m-3">
          Earlier calls cannot be read: {source.failure}
        </Callout>
      ) : null}
      <div className="flex min-h-0 flex-1">
        <CallsTable
          source={source}
          resetKey={JSON.stringify(callQuery(search))}
          isFrozen={isFrozen}
          openId={search.call ?? null}
          onOpen={open}
          hides={search.call ? BESIDE_DETAILS : ALL_COLUMNS}
          className="min-w-0 flex-1 bg-surface"
          empty={
            source.isLoading ? (
              <SkeletonLines className="gap-4 p-4" />
            ) : (
              <NothingMatches onClear={() => change(NO_CALL_FILTER)} />
            )
          }
        />
        {search.call ? (
          <CallPanel
            callId={search.call}
            known={source.calls.find(({ call_id }) => call_id === search.call)}
            onClose={close}
          />
        ) : null}
      </div>
    </div>
  );
}

function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      icon={<Filter size={26} aria-hidden="true" />}
      title="No call matches"
      action={<Button onClick={onClear}>Clear filters</Button>}
    >
      One that matches appears here as it ends.
    </EmptyState>
  );
}
