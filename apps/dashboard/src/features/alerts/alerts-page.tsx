/** Who is told of what: rules decide when, channels where, deliveries keep the promise. */
import { getRouteApi } from '@tanstack/react-router';
import { useChangeSearch } from '../../app/use-change-search';
import { Tabs } from '../../ui';
import type { AlertsSearch } from './alerts-search';
import { ChannelsTab } from './channels-tab';
import { DeliveriesTab } from './deliveries-tab';
import { RulesTab } from './rules-tab';

const route = getRouteApi('/shell/alerts');

export function AlertsPage() {
  const search = route.useSearch();
  const change = useChangeSearch<AlertsSearch>();
  const { tab = 'rules' } = search;
  const deliveries = { search, onSearch: change };
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Alerts</h1>
      <Tabs
        label="Alerts"
        value={tab}
        onChange={(next) => change({ tab: next === 'rules' ? undefined : next })}
        className="flex-1 [&>[role=tablist]]:bg-surface"
        tabs={[
          { value: 'rules', label: 'Rules', content: <RulesTab /> },
          { value: 'channels', label: 'Channels', content: <ChannelsTab /> },
          { value: 'history', label: 'History', content: <DeliveriesTab {...deliveries} /> },
          { value: 'dead', label: 'Dead letters', content: <DeliveriesTab {...deliveries} isDead /> },
        ]}
      />
    </div>
  );
}
