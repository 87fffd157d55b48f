/** What the agent is thinking, as it comes: its latest intents with their reasoning, newest first. */
import type { SessionDetail } from '#contracts';
import { EmptyState, RelativeTime } from '../../ui';

const INTENTS_SHOWN_MAX = 40;

export function Scratchpad({ detail }: { detail: SessionDetail }) {
  const latest = [...detail.steps, ...detail.held]
    .sort((a, b) => b.gateway.seq - a.gateway.seq)
    .slice(0, INTENTS_SHOWN_MAX);
  if (latest.length === 0) return <EmptyState title="No intents yet" />;
  return (
    <ol className="h-full overflow-y-auto">
      {latest.map((step) => {
        const { cognition, gateway } = step;
        const reasoning = cognition.reasoning_chain ?? [];
        return (
          <li key={gateway.seq} className="border-line border-b px-4 py-2.5">
            <div className="flex items-baseline gap-2">
              <p className="min-w-0 flex-1 break-words font-medium">{cognition.intent}</p>
              {cognition.strategy_used ? (
                <span className="text-muted text-xs">{cognition.strategy_used}</span>
              ) : null}
              {typeof cognition.confidence_score === 'number' ? (
                <span className="nums text-muted text-xs" title="The agent's own confidence">
                  {Math.round(cognition.confidence_score * 100)} %
                </span>
              ) : null}
              <span className="text-faint text-xs">
                <RelativeTime atMs={gateway.received_at_ms} short />
              </span>
            </div>
            {reasoning.length > 0 ? (
              <ul className="mt-0.5 text-muted">
                {reasoning.map((thought, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list.
                  <li key={index} className="break-words border-line border-l-2 pl-2.5">
                    {thought}
                  </li>
                ))}
              </ul>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}
