/** Every message as it arrives, and every one that was refused. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { Tabs } from '../../ui';
import { MessageTail } from './message-tail';
import { parseStreamSearch, type StreamSearch, writeStreamSearch } from './stream-filter';
import { ViolationHistory } from './violation-history';

export function StreamPage() {
  const [search, change] = useStreamSearch();
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Stream</h1>
      <Tabs
        label="Stream"
        value={search.tab}
        onChange={(tab) => change({ tab })}
        className="flex-1 bg-surface"
        tabs={[
          {
            value: 'messages',
            label: 'Messages',
            content: <MessageTail filter={search} onFilter={change} />,
          },
          { value: 'violations', label: 'Violations', content: <ViolationHistory /> },
        ]}
      />
    </div>
  );
}

function useStreamSearch(): [StreamSearch, (change: Partial<StreamSearch>) => void] {
  const raw = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const search = useMemo(() => parseStreamSearch(raw), [raw]);
  const change = useCallback(
    (part: Partial<StreamSearch>) =>
      void navigate({
        to: '/stream',
        search: (current) => writeStreamSearch({ ...parseStreamSearch(current), ...part }) as never,
        replace: true,
      }),
    [navigate],
  );
  return [search, change];
}
