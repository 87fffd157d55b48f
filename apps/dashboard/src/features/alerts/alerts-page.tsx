/** Who is told of what: rules decide when, channels where, deliveries keep the promise. */
import { getRouteApi } from '@tanstack/react-router';
import { CountBadge } from '../../app/count-badge';
import { useChangeSearch } from '../../app/use-change-search';
import { Tabs } from '../../ui';
import type { AlertsSearch } from './alerts-search';
import { ChannelsTab } from './channels-tab';
import { DeliveriesTab } from './deliveries-tab';
import { RulesTab } from './rules-tab';
import { useDeliveries } from './use-alerts';

const route = getRouteApi('/shell/alerts');

export function AlertsPage() {
  const search = route.useSearch();
  const change = useChangeSearch<AlertsSearch>();
  const { tab = 'rules' } = search;
  const deliveries = { search, onSearch: change };
  const dead = useDeliveries({ state: 'dead' });
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Alerts</h1>
      <Tabs
        label="Alerts"
        value={tab}
        onChange={(next) => change({ tab: next === 'rules' ? undefined : next, named: undefined })}
        className="flex-1 [&_[role=tablist]]:bg-surface"
        tabs={[
          { value: 'rules', label: 'Rules', content: <RulesTab namedId={search.named} /> },
          { value: 'channels', label: 'Channels', content: <ChannelsTab namedId={search.named} /> },
          { value: 'history', label: 'History', content: <DeliveriesTab {...deliveries} /> },
          {
            value: 'dead',
            label: <DeadLettersLabel count={dead.deliveries.length} hasMore={dead.hasOlder} />,
            content: <DeliveriesTab {...deliveries} isDead />,
          },
        ]}
      />
    </div>
  );
}

/** Counted, since nobody was told of what they hold; of many, those that were read, and a +. */
const DeadLettersLabel = ({ count, hasMore }: { count: number; hasMore: boolean }) => (
  <span className="inline-flex items-center gap-1.5">
    Dead letters
    <CountBadge count={count} hasMore={hasMore} noun="not delivered" />
  </span>
);
