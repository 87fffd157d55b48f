/** Whose calls cost most in the last 24 hours: whom to look at when all agents together near a budget. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { HOUR_MS } from '#kernel/duration';
import { TextLink } from '../../app/text-link';
import { CutMiddle, Panel, Skeleton, useNow } from '../../ui';
import { orderLines, spanOf } from '../spend/spend-range';
import { LineCost } from '../spend/spend-table';
import { useSpend } from '../spend/use-spend';

const SHOWN_MAX = 8;
const LAST_DAY = { range: '24h' } as const;

export function TopSpenders() {
  const hour = useNow((nowMs) => Math.floor(nowMs / HOUR_MS));
  const span = useMemo(() => spanOf(LAST_DAY, hour * HOUR_MS), [hour]);
  const { data, error } = useSpend('agent', span, LAST_DAY);
  return (
    <Panel
      title="Who spent most, last 24 hours"
      actions={
        <TextLink to="/spend" search={LAST_DAY}>
          All of them
        </TextLink>
      }
    >
      {data === undefined ? (
        error ? (
          <p className="text-danger text-xs">{error.message}</p>
        ) : (
          <Skeleton className="h-24" />
        )
      ) : data.length === 0 ? (
        <p className="text-muted text-xs">No call through the proxy ended in this time.</p>
      ) : (
        <ol className="flex flex-col gap-1.5">
          {orderLines(data, false)
            .slice(0, SHOWN_MAX)
            .map((line) => (
              <li key={line.key} className="flex gap-3">
                <Link
                  to="/agents/$agentId"
                  params={{ agentId: line.key }}
                  title={line.key}
                  className="min-w-0 flex-1 hover:underline"
                >
                  <CutMiddle text={line.key} />
                </Link>
                <span className="nums">
                  <LineCost line={line} />
                </span>
              </li>
            ))}
        </ol>
      )}
    </Panel>
  );
}
