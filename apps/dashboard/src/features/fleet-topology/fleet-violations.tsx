/** Messages that were refused a moment ago: who sent them, in which version, and what was wrong. */
import { Link } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { useTopic } from '../../realtime';
import { Badge, EmptyState, Panel, Skeleton } from '../../ui';
import { ViolationRow } from '../decision-stream/violation-row';

const ROWS_MAX = 50;

export function FleetViolations({ className }: { className?: string }) {
  const { data } = useTopic('gateway:violations');
  const rows = data?.slice(-ROWS_MAX).reverse() ?? [];
  return (
    <Panel
      title="Violations"
      aside={
        data && data.length > 0 ? (
          <Badge tone="warning">{data.length > ROWS_MAX ? `${ROWS_MAX}+` : data.length}</Badge>
        ) : null
      }
      actions={
        <Link
          to="/stream"
          search={{ tab: 'violations' }}
          className="font-medium text-accent text-xs hover:underline"
        >
          History
        </Link>
      }
      className={className ?? ''}
      bodyClassName="overflow-y-auto"
    >
      {data === null ? (
        <div className="flex flex-col gap-2 p-3" aria-busy="true">
          <Skeleton />
          <Skeleton className="h-4 w-2/3" />
        </div>
      ) : rows.length === 0 ? (
        <EmptyState
          className="!py-8"
          icon={<ShieldCheck size={22} aria-hidden="true" />}
          title="No message refused of late"
        >
          Refused messages show here as they come, without their content. Earlier ones are in the history.
        </EmptyState>
      ) : (
        <ul>
          {rows.map((event) => (
            <li
              key={`${event.raw_payload_hash}${event.timestamp}`}
              className="border-line border-b last:border-b-0"
            >
              <ViolationRow event={event} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
