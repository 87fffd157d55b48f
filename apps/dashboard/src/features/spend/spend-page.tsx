/** What agents cost: over time, and by agent, model and day. Calls without a price are counted, never priced at zero. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleDollarSign, TriangleAlert } from 'lucide-react';
import { Suspense, useMemo } from 'react';
import { MINUTE_MS } from '#kernel/duration';
import { lazyPart } from '../../app/lazy-part';
import { TextLink } from '../../app/text-link';
import { useChangeSearch } from '../../app/use-change-search';
import {
  Callout,
  EmptyState,
  type Figure,
  Figures,
  FilterChip,
  formatCost,
  formatCount,
  formatPartialCost,
  formatTokens,
  Panel,
  plural,
  Skeleton,
  useNow,
} from '../../ui';
import { Segmented } from '../../ui/segmented';
import { RangePicker } from './range-picker';
import { seriesOf, spanOf, totalsOf } from './spend-range';
import type { SpendSearch, SpendTable as SpendTableBy } from './spend-search';
import { SpendTable } from './spend-table';
import { useSpend } from './use-spend';

const SpendChart = lazyPart(() => import('./spend-chart'), 'SpendChart');

const route = getRouteApi('/shell/spend');
const TABLES: readonly { value: SpendTableBy; label: string }[] = [
  { value: 'agent', label: 'By agent' },
  { value: 'model', label: 'By model' },
  { value: 'day', label: 'By day' },
];

export function SpendPage() {
  const search = route.useSearch();
  const change = useChangeSearch<SpendSearch>();
  const { by = 'agent', agent, model } = search;
  const minute = useNow((nowMs) => Math.floor(nowMs / MINUTE_MS));
  const span = useMemo(() => spanOf(search, minute * MINUTE_MS), [search, minute]);
  const overTime = useSpend(span.bucket, span, search);
  const grouped = useSpend(by, span, search);
  const series = useMemo(() => seriesOf(overTime.data ?? [], span), [overTime.data, span]);
  const totals = useMemo(() => totalsOf(overTime.data ?? []), [overTime.data]);
  const failure = overTime.error ?? grouped.error;
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Spend</h1>
      <div className="flex flex-wrap items-center gap-2 border-line border-b bg-surface px-3 py-2">
        <RangePicker search={search} span={span} onChange={change} />
        {agent ? (
          <FilterChip name="agent" value={agent} onRemove={() => change({ agent: undefined })} />
        ) : null}
        {model ? (
          <FilterChip name="model" value={model} onRemove={() => change({ model: undefined })} />
        ) : null}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex max-w-6xl flex-col gap-3 p-3">
          {failure ? <Callout tone="danger">{failure.message}</Callout> : null}
          <Totals totals={overTime.data ? totals : null} />
          {totals.unpriced_call_count > 0 ? <Unpriced count={totals.unpriced_call_count} /> : null}
          <Panel title="Cost over time">
            <Suspense fallback={<Skeleton className="h-[220px] w-full" />}>
              {overTime.data ? (
                <SpendChart series={series} span={span} />
              ) : (
                <Skeleton className="h-[220px] w-full" />
              )}
            </Suspense>
          </Panel>
          <Panel
            title="Where it went"
            actions={
              <Segmented
                label="Group"
                value={by}
                options={TABLES}
                onChange={(next) => change({ by: next === 'agent' ? undefined : next })}
              />
            }
            bodyClassName=""
          >
            {grouped.data === undefined ? (
              <Skeleton className="m-3 h-24" />
            ) : grouped.data.length === 0 ? (
              <EmptyState
                icon={<CircleDollarSign size={24} aria-hidden="true" />}
                title="Nothing was spent through the proxy"
                action={<TextLink to="/agents">See how agents call through it</TextLink>}
              >
                No call through the proxy ended in this time. What agents report of their own cost stands with
                their sessions.
              </EmptyState>
            ) : (
              <SpendTable by={by} lines={grouped.data} totals={totals} onFilter={change} />
            )}
          </Panel>
        </div>
      </div>
    </div>
  );
}

function Totals({ totals }: { totals: ReturnType<typeof totalsOf> | null }) {
  const figures: readonly Figure[] = [
    costFigure(totals),
    { label: 'Calls', value: totals && formatCount(totals.call_count) },
    {
      label: 'Input tokens',
      value: totals && formatTokens(totals.input_tokens),
      note:
        totals && totals.cached_input_tokens > 0
          ? `${formatTokens(totals.cached_input_tokens)} cached`
          : null,
    },
    {
      label: 'Output tokens',
      value: totals && formatTokens(totals.output_tokens),
      note:
        totals && totals.reasoning_tokens > 0 ? `${formatTokens(totals.reasoning_tokens)} reasoning` : null,
    },
  ];
  return <Figures figures={figures} />;
}

/** What is unknown of it in smaller letters, so that the sum stays on one line of a phone. */
function costFigure(totals: ReturnType<typeof totalsOf> | null): Figure {
  if (totals === null) return { label: 'Cost', value: null };
  const hasUnknown = totals.unpriced_call_count > 0;
  return hasUnknown && totals.cost_usd > 0
    ? { label: 'Cost', value: formatCost(totals.cost_usd), note: '+ unknown' }
    : { label: 'Cost', value: formatPartialCost(totals.cost_usd, hasUnknown) };
}

function Unpriced({ count }: { count: number }) {
  return (
    <Callout tone="warning" icon={<TriangleAlert size={14} aria-hidden="true" />}>
      The cost of {plural(count, 'call')} is unknown and not in these sums: a model without a price, or a
      recording or picture, which no price of tokens tells.{' '}
      <Link to="/settings" search={{ section: 'prices' }} className="font-medium underline">
        Add prices
      </Link>
    </Callout>
  );
}
