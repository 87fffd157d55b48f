/** Where calls go: which vendor takes them and which does not, since when, and for how many agents. */
import { Link } from '@tanstack/react-router';
import type { UpstreamHealth } from '#contracts';
import { Panel, RelativeTime } from '../../ui';
import { FailedShare } from './failed-share';
import { StateBadge } from './state-badge';
import { byUrgency, failureText, UPSTREAM_STATES, upstreamAdvice } from './upstream-texts';

interface UpstreamsPanelProps {
  upstreams: readonly UpstreamHealth[];
  /** When it was so; null: it is. */
  asOfMs: number | null;
}

export function UpstreamsPanel({ upstreams, asOfMs }: UpstreamsPanelProps) {
  return (
    <Panel
      title="Upstreams"
      aside={<span className="text-muted text-xs">by the calls of this gateway</span>}
      actions={
        <Link to="/calls" search={{ failed: true }} className="text-accent text-xs hover:underline">
          Failed calls
        </Link>
      }
      bodyClassName=""
    >
      {upstreams.length === 0 ? (
        <p className="p-3 text-muted">No call went to an upstream since the start of this gateway.</p>
      ) : (
        <ul className="divide-y divide-line">
          {byUrgency(upstreams).map((upstream) => (
            <UpstreamRow key={upstream.name} upstream={upstream} asOfMs={asOfMs} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function UpstreamRow({ upstream, asOfMs }: { upstream: UpstreamHealth; asOfMs: number | null }) {
  const { name, state, failing_since_ms, answered_at_ms, last_failure } = upstream;
  const { label, tone } = UPSTREAM_STATES[state];
  const advice = upstreamAdvice(upstream);
  return (
    <li className="flex flex-col gap-1 px-3 py-2" data-testid="upstream-health" data-state={state}>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
        <StateBadge tone={tone} asOfMs={asOfMs}>
          {label}
        </StateBadge>
        <span className="nums text-muted">
          <FailedShare upstream={upstream} />
          {state === 'failing' && failing_since_ms !== null ? (
            <>
              ; it began <RelativeTime atMs={failing_since_ms} className="nums font-medium text-danger" />
            </>
          ) : null}
        </span>
      </p>
      {last_failure === null ? null : (
        <p className="text-muted text-xs [overflow-wrap:anywhere]">
          Last failure <RelativeTime atMs={last_failure.at_ms} />: {failureText(last_failure)}{' '}
          {answered_at_ms === null ? (
            'It has not answered since the start of this gateway.'
          ) : (
            <>
              Last answer <RelativeTime atMs={answered_at_ms} />.
            </>
          )}
        </p>
      )}
      {advice === null ? null : <p className="text-xs">{advice}</p>}
    </li>
  );
}
