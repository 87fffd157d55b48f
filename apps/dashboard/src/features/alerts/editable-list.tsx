/** The rules or the channels as a list: on its way, none yet, or there. */
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, Callout, EmptyState, Panel, Skeleton } from '../../ui';
import { TabBody } from './tab-body';

interface EditableListProps<Item> {
  lead: string;
  /** As in "New rule"; also names the test id of the button, `rule-create`. */
  noun: string;
  items: readonly Item[] | undefined;
  isPending: boolean;
  error: Error | null;
  denial: string | null;
  onCreate: () => void;
  keyOf: (item: Item) => string;
  /** Of the item that somebody was led to. */
  namedId: string | undefined;
  renderItem: (item: Item) => ReactNode;
  empty: { icon: ReactNode; title: string; text: string };
  /** Above the list. */
  note?: ReactNode;
  /** Dialogs. */
  children: ReactNode;
}

/** It is marked, in sight, and where Tab goes on from. */
const NAMED = {
  ref: (item: HTMLElement | null) => item?.focus(),
  tabIndex: -1,
  'aria-current': true,
  className: 'bg-selected',
} as const;

export function EditableList<Item>(props: EditableListProps<Item>) {
  const { lead, noun, items, isPending, error, denial, onCreate, keyOf, namedId, renderItem, empty } = props;
  const create = (
    <Button
      variant="primary"
      data-testid={`${noun}-create`}
      icon={<Plus size={14} aria-hidden="true" />}
      disabledReason={denial}
      onClick={onCreate}
      className="max-md:h-10"
    >
      New {noun}
    </Button>
  );
  return (
    <TabBody lead={lead} action={items?.length === 0 ? undefined : create}>
      {props.note}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      {isPending ? <Skeleton className="h-32 w-full" /> : null}
      {items?.length === 0 ? (
        <Panel>
          <EmptyState icon={empty.icon} title={empty.title} action={create}>
            {empty.text}
          </EmptyState>
        </Panel>
      ) : null}
      {items && items.length > 0 ? (
        <Panel bodyClassName="">
          <ul className="divide-y divide-line">
            {items.map((item) => (
              <li key={keyOf(item)} {...(keyOf(item) === namedId ? NAMED : {})}>
                {renderItem(item)}
              </li>
            ))}
          </ul>
        </Panel>
      ) : null}
      {props.children}
    </TabBody>
  );
}
