/** What this gateway leans on, and what it did without: the vendors, the sidecar, its checks, every guard that failed open, Redis. */
import { TriangleAlert } from 'lucide-react';
import type { SystemView } from '#contracts';
import { failingUpstreams, missingPartCount } from '../../api';
import { StatePage } from '../../app/state-page';
import { Badge, Callout, CountBars, EmptyState, formatCount, Panel, RelativeTime, Skeleton } from '../../ui';
import { LatencyPanel } from './latency-panel';
import { SidecarPanel } from './sidecar-panel';
import { StateBadge } from './state-badge';
import { checkLines, notReadyText, reasonLines, siteLines, sumOf, uptimeText } from './system-texts';
import { UpstreamsPanel } from './upstreams-panel';
import { useSystem } from './use-system';

export function SystemPage() {
  const { view, failure, updatedAtMs, isStale } = useSystem();
  return (
    <StatePage
      title="System"
      label="State of the system"
      heading={
        <>
          {/* Old figures do not say that it serves now. */}
          {view && !isStale ? <Overall view={view} /> : null}
          <p role="status" className="nums ml-auto text-muted text-xs">
            {updatedAtMs === 0 ? null : (
              <>
                Updated <RelativeTime atMs={updatedAtMs} />
              </>
            )}
          </p>
        </>
      }
    >
      {isStale && view ? (
        <Callout tone="warning" alert icon={<TriangleAlert size={14} aria-hidden="true" />}>
          These figures are old: the gateway has not answered for{' '}
          <RelativeTime atMs={updatedAtMs} short className="nums font-medium" />. {failure}
        </Callout>
      ) : null}
      {isStale || !view
        ? null
        : view.not_ready.map((reason) => (
            <Callout key={reason} tone="danger" alert icon={<TriangleAlert size={14} aria-hidden="true" />}>
              {notReadyText(reason)}
            </Callout>
          ))}
      {view ? <Parts view={view} asOfMs={isStale ? updatedAtMs : null} /> : <Waiting failure={failure} />}
    </StatePage>
  );
}

/** In a word or two, of the vendors and of the gateway itself: what anybody wants to know first. */
function Overall({ view }: { view: SystemView }) {
  const failing = failingUpstreams(view);
  return (
    <>
      {failing.length === 0 ? null : (
        <Badge tone="danger">
          {failing.length === 1
            ? `${failing[0]?.name} is failing`
            : `${failing.length} upstreams are failing`}
        </Badge>
      )}
      {view.not_ready.length > 0 ? (
        <Badge tone="danger">Gateway is not ready</Badge>
      ) : missingPartCount(view) > 0 ? (
        <Badge tone="warning">Gateway serves, with parts missing</Badge>
      ) : (
        <Badge tone="success">Gateway serves</Badge>
      )}
    </>
  );
}

function Waiting({ failure }: { failure: string | null }) {
  if (failure) {
    return (
      <EmptyState icon={<TriangleAlert size={26} aria-hidden="true" />} title="The gateway gave no answer">
        {failure} It is asked again every few seconds.
      </EmptyState>
    );
  }
  return (
    <div aria-busy="true" className="grid grid-cols-2 gap-3 max-md:grid-cols-1">
      <Skeleton className="h-64" />
      <Skeleton className="h-64" />
    </div>
  );
}

interface PartsProps {
  view: SystemView;
  /** When it was so; null: it is. */
  asOfMs: number | null;
}

function Parts({ view, asOfMs }: PartsProps) {
  const { sidecar, semantic_loop, fail_open, limiter_fail_open } = view;
  return (
    <>
      <UpstreamsPanel upstreams={view.upstreams} asOfMs={asOfMs} />
      <div className="grid grid-cols-2 gap-3 max-lg:grid-cols-1">
        <SidecarPanel sidecar={sidecar} asOfMs={asOfMs} />
        <LatencyPanel semanticLoop={semantic_loop} />
      </div>
      <div className="grid grid-cols-3 items-start gap-3 max-lg:grid-cols-1">
        <Panel title="Checks by result" aside={<Total counts={semantic_loop.checks} />} bodyClassName="">
          <CountBars
            label="Checks by result"
            lines={checkLines(semantic_loop.checks)}
            empty="No prompt was checked since the start of this gateway."
          />
        </Panel>
        <div className="flex min-w-0 flex-col gap-3">
          <Panel
            title="Why checks failed open"
            aside={<Total counts={semantic_loop.fail_open} />}
            bodyClassName=""
          >
            <CountBars
              label="Semantic loop: failed open by reason"
              lines={reasonLines(semantic_loop.fail_open)}
              empty="None did: every prompt that should be checked was checked."
            />
          </Panel>
          <Panel title="Guards that failed open" aside={<Total counts={fail_open} />} bodyClassName="">
            <CountBars
              label="Failed open by guard"
              lines={siteLines(fail_open, limiter_fail_open)}
              empty="None did: no call went on without one of its guards."
            />
          </Panel>
        </div>
        <div className="flex min-w-0 flex-col gap-3">
          <RedisPanel redis={view.redis} asOfMs={asOfMs} />
          <Panel title="Gateway">
            <p className="text-muted">
              It has run for <span className="nums font-medium text-fg">{uptimeText(view.uptime_s)}</span>.
              All counts on this page begin with its start.
            </p>
            <a
              href="/licenses.txt"
              className="mt-2 block w-fit text-muted text-xs underline underline-offset-2"
            >
              Licences of what this dashboard is made of
            </a>
          </Panel>
        </div>
      </div>
    </>
  );
}

function RedisPanel({
  redis: { configured, connected, away_since_ms },
  asOfMs,
}: {
  redis: SystemView['redis'];
  asOfMs: number | null;
}) {
  const [label, tone, text] = !configured
    ? ([
        'Not used',
        'neutral',
        'Rates, budgets and the cache are this gateway’s own. One gateway needs no Redis.',
      ] as const)
    : connected
      ? (['Connected', 'success', 'Gateways share rates and budgets through it.'] as const)
      : ([
          'Not connected',
          'danger',
          'Calls go on: rates and budgets are not enforced until it is back, and what only Redis has is a miss. Look at the Redis that REDIS_URL names: it is tried again by itself.',
        ] as const);
  return (
    <Panel
      title="Redis"
      aside={
        <StateBadge tone={tone} asOfMs={asOfMs} data-testid="redis-state">
          {label}
        </StateBadge>
      }
    >
      <p className="text-muted">
        {text}
        {typeof away_since_ms === 'number' ? (
          <>
            {' '}
            This began <RelativeTime atMs={away_since_ms} className="nums font-medium text-danger" />.
          </>
        ) : null}
      </p>
    </Panel>
  );
}

function Total({ counts }: { counts: Readonly<Record<string, number>> }) {
  const total = sumOf(counts);
  return total > 0 ? <span className="nums text-muted text-xs">{formatCount(total)}</span> : null;
}
