/** Proxied calls that hang because the session is stopped: how many, and since when. Draws nothing when none does. */
import { useQuery } from '@tanstack/react-query';
import { type HeldCall, isStoppedState, LIMITS, type SessionView } from '#contracts';
import { api } from '../../api';
import { Badge, Panel, RelativeTime, truncateMiddle } from '../../ui';

/** Calls come and go within their hold, and no topic says so. */
const REFRESH_MS = 2_000;
const SHOWN_MAX = 8;

export function HeldCalls({ session }: { session: SessionView }) {
  const { session_id, control } = session;
  const isStopped = isStoppedState(control.state);
  const { data } = useQuery({
    queryKey: ['held-calls', session_id],
    queryFn: async () => (await api.get<{ items: HeldCall[] }>('/v1/held-calls', { session_id })).items,
    enabled: isStopped,
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
  if (!isStopped || !data || data.length === 0) return null;
  const calls = [...data].sort((a, b) => a.since_ms - b.since_ms);
  const [oldest] = calls;
  const isOne = calls.length === 1;
  const hasMore = calls.length >= LIMITS.pageRowsMax;
  const countText = `${calls.length}${hasMore ? '+' : ''}`;
  return (
    <Panel
      title="Held calls"
      aside={<Badge tone="paused">{countText}</Badge>}
      bodyClassName=""
      className="border-paused-line"
    >
      <p data-testid="held-calls" className="border-line border-b px-3 py-2 text-muted text-xs">
        {countText} {isOne ? 'LLM call hangs' : 'LLM calls hang'} in the proxy
        {oldest ? (
          <>
            ; {isOne ? 'it' : 'the first'} came <RelativeTime atMs={oldest.since_ms} />
          </>
        ) : null}
        . A resume lets {isOne ? 'it' : 'them'} go on.
      </p>
      <ul>
        {calls.slice(0, SHOWN_MAX).map((call) => (
          <li
            key={call.call_id}
            data-testid="held-call"
            className="flex items-center gap-2 border-line border-b px-3 py-1.5 last:border-b-0"
          >
            <span className="min-w-0 truncate">{call.model ?? 'no model named'}</span>
            <span className="ml-auto shrink-0 font-mono text-2xs text-muted" title={call.call_id}>
              {truncateMiddle(call.call_id, 14)}
            </span>
            <span className="w-16 shrink-0 text-right text-muted text-xs">
              <RelativeTime atMs={call.since_ms} short />
            </span>
          </li>
        ))}
      </ul>
      {calls.length > SHOWN_MAX ? (
        <p className="px-3 py-1.5 text-muted text-xs">
          and {calls.length - SHOWN_MAX}
          {hasMore ? '+' : ''} more
        </p>
      ) : null}
    </Panel>
  );
}
