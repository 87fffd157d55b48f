/** Every refused message that is still kept, newest first, page by page; what arrives live is put on top on request. */
import { useQueryClient } from '@tanstack/react-query';
import { ArrowUp, ShieldCheck } from 'lucide-react';
import type { StoredViolation } from '#contracts';
import { isOnItsWay, usePages } from '../../api';
import { useTopic } from '../../realtime';
import { Button, Callout, EmptyState, formatCount, ListFoot, plural, Skeleton } from '../../ui';
import { newViolationCount } from './new-violations';
import { ViolationRow } from './violation-row';

const QUERY_KEY = ['violations'];
const PAGE_ROWS = 50;

export function ViolationHistory() {
  const queryClient = useQueryClient();
  const pages = usePages<StoredViolation>({
    queryKey: QUERY_KEY,
    path: '/v1/violations',
    pageRows: PAGE_ROWS,
  });
  const { items: rows = [], failure, hasMore, isLoadingMore, loadMore } = pages;
  const { data: live } = useTopic('gateway:violations');
  const newCount = live ? newViolationCount(live, rows[0]) : 0;

  if (isOnItsWay(pages)) {
    return (
      <div aria-busy="true" className="flex flex-col gap-3 p-4">
        <Skeleton className="h-10" />
        <Skeleton className="h-10" />
        <Skeleton className="h-10" />
      </div>
    );
  }
  if (failure) {
    return (
      <Callout tone="danger" className="m-3">
        {failure}
      </Callout>
    );
  }
  return (
    <section
      aria-label="Violations, newest first"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
      tabIndex={0}
      className="focus-inset h-full overflow-y-auto bg-surface"
    >
      {newCount > 0 ? (
        <div className="sticky top-2 z-10 flex h-0 justify-center">
          <Button
            size="sm"
            variant="primary"
            icon={<ArrowUp size={13} aria-hidden="true" />}
            onClick={() => queryClient.resetQueries({ queryKey: QUERY_KEY })}
          >
            {formatCount(newCount)} new
          </Button>
        </div>
      ) : null}
      {rows.length === 0 ? (
        <EmptyState icon={<ShieldCheck size={26} aria-hidden="true" />} title="No violations">
          A message that does not fit the schema is refused and noted here, without its content.
        </EmptyState>
      ) : (
        <>
          <ul>
            {rows.map((row) => (
              <li key={row.seq} className="border-line border-b">
                <ViolationRow event={row} wide />
              </li>
            ))}
          </ul>
          <ListFoot
            text={`${plural(rows.length, 'violation')} shown`}
            hasMore={hasMore}
            isLoading={isLoadingMore}
            onLoad={loadMore}
          />
        </>
      )}
    </section>
  );
}
