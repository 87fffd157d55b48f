/** A panel around a list that comes page by page: why it is not there, none yet, or more of it. The page waits for it a while. */
import type { ReactNode } from 'react';
import { isOnItsWay, type Pages } from '../../api';
import { Callout, ListFoot, Panel, Skeleton } from '../../ui';

interface PagedPanelProps<Item> {
  title: string;
  /** Beside the title. */
  aside: string;
  pages: Pages<Item>;
  empty: ReactNode;
  /** As in "Load older matches". */
  moreLabel: string;
  children: (items: readonly Item[]) => ReactNode;
}

export function PagedPanel<Item>(props: PagedPanelProps<Item>) {
  const { title, aside, empty, moreLabel, children } = props;
  const { items, failure, hasMore, isLoadingMore, loadMore } = props.pages;
  return (
    <Panel
      title={title}
      aside={<span className="text-muted text-xs max-md:hidden">{aside}</span>}
      bodyClassName=""
    >
      {failure ? (
        <Callout tone="danger" className="m-3">
          {failure}
        </Callout>
      ) : null}
      {isOnItsWay(props.pages) ? (
        <div aria-busy="true" className="p-3">
          <Skeleton className="h-24" />
        </div>
      ) : null}
      {items?.length === 0 ? empty : null}
      {items && items.length > 0 ? children(items) : null}
      <ListFoot
        hasMore={hasMore}
        isLoading={isLoadingMore}
        onLoad={loadMore}
        label={moreLabel}
        className="border-line border-t"
      />
    </Panel>
  );
}
