/** Every notice and what became of it; those given up are dead letters, which can be sent once more. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Filter, Inbox, MailX, RotateCcw } from 'lucide-react';
import { memo, useMemo } from 'react';
import { type AlertChannel, type AlertDelivery, type AlertNotice, DELIVERY_STATES } from '#contracts';
import { api, useDenial } from '../../api';
import { TextLink } from '../../app/text-link';
import {
  Badge,
  Button,
  Callout,
  EmptyState,
  ListFoot,
  Panel,
  plural,
  RelativeTime,
  Select,
  SinceNote,
  Skeleton,
  type Tone,
  useNow,
  withUnseen,
} from '../../ui';
import type { AlertsSearch } from './alerts-search';
import { nextTryText, tryAheadOf } from './next-try-text';
import { RetryAllButton } from './retry-all-button';
import { TabBody } from './tab-body';
import { useChannels, useDeliveries } from './use-alerts';

const STATE_LABELS = { pending: 'Pending', delivered: 'Delivered', dead: 'Dead' } as const;
const STATE_TONES: Record<AlertDelivery['state'], Tone> = {
  pending: 'accent',
  delivered: 'success',
  dead: 'danger',
};
const STATE_OPTIONS = [
  { value: '' as const, label: 'Any state' },
  ...DELIVERY_STATES.map((value) => ({ value, label: STATE_LABELS[value] })),
];
const PHASES: Record<AlertNotice['phase'], { label: string; tone: Tone }> = {
  firing: { label: 'Firing', tone: 'danger' },
  repeat: { label: 'Still firing', tone: 'warning' },
  acknowledged: { label: 'In hand', tone: 'neutral' },
  recovered: { label: 'Over', tone: 'success' },
  test: { label: 'Test', tone: 'neutral' },
};

interface DeliveriesTabProps {
  search: AlertsSearch;
  onSearch: (change: { [K in keyof AlertsSearch]?: AlertsSearch[K] | undefined }) => void;
  /** Dead letters only. */
  isDead?: boolean;
}

export function DeliveriesTab({ search, onSearch, isDead = false }: DeliveriesTabProps) {
  const state = isDead ? ('dead' as const) : search.state;
  const source = useDeliveries({ state, channel: search.channel });
  const channels = useChannels().data;
  const isFiltered = search.channel !== undefined || (!isDead && search.state !== undefined);
  const channelById = useMemo(
    () => new Map((channels ?? []).map((channel) => [channel.channel_id, channel])),
    [channels],
  );
  const aheadOf = useMemo(() => tryAheadOf(source.deliveries), [source.deliveries]);
  const filters = (
    <>
      {isDead ? null : (
        <Select
          label="State"
          value={search.state ?? ''}
          options={STATE_OPTIONS}
          highlighted={search.state !== undefined}
          onChange={(next) => onSearch({ state: next || undefined })}
        />
      )}
      <Select
        label="Channel"
        value={search.channel ?? ''}
        options={[
          { value: '', label: 'Any channel' },
          ...(channels ?? []).map(({ channel_id, name }) => ({ value: channel_id, label: name })),
        ]}
        highlighted={search.channel !== undefined}
        onChange={(next) => onSearch({ channel: next || undefined })}
      />
    </>
  );
  return (
    <TabBody
      lead={
        isDead
          ? 'Notices that could not be delivered, after every try.'
          : 'Every notice, and what became of it. A restart resumes what is pending.'
      }
      action={
        isDead && source.deliveries.length > 0 ? (
          <>
            {filters}
            <RetryAllButton channelId={search.channel} channels={channels} />
          </>
        ) : (
          filters
        )
      }
    >
      {source.failure ? <Callout tone="danger">{source.failure}</Callout> : null}
      {source.isLoading ? <Skeleton className="h-32 w-full" /> : null}
      {!source.isLoading && !source.failure && source.deliveries.length === 0 ? (
        <Panel>
          {isFiltered ? (
            <EmptyState
              icon={<Filter size={26} aria-hidden="true" />}
              title={isDead ? 'No dead letter matches' : 'No notice matches'}
              action={
                <Button onClick={() => onSearch({ state: undefined, channel: undefined })}>
                  Clear filters
                </Button>
              }
            >
              One that matches appears here at once.
            </EmptyState>
          ) : (
            <NothingYet isDead={isDead} />
          )}
        </Panel>
      ) : null}
      {source.deliveries.length > 0 ? (
        <Panel bodyClassName="">
          <ul className="divide-y divide-line">
            {source.deliveries.map((delivery) => (
              <li key={delivery.delivery_id}>
                <Delivery
                  delivery={delivery}
                  channel={channelById.get(delivery.channel_id)}
                  isChannelGone={channels !== undefined && !channelById.has(delivery.channel_id)}
                  aheadMs={aheadOf(delivery)}
                />
              </li>
            ))}
          </ul>
          <ListFoot hasMore={source.hasOlder} isLoading={source.isLoadingOlder} onLoad={source.loadOlder} />
        </Panel>
      ) : null}
    </TabBody>
  );
}

function NothingYet({ isDead }: { isDead: boolean }) {
  if (isDead) {
    return (
      <EmptyState icon={<Inbox size={26} aria-hidden="true" />} title="No dead letters">
        Every notice found its way, or is still on it.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<Inbox size={26} aria-hidden="true" />}
      title="Nothing was sent yet"
      action={
        <TextLink to="/alerts" search={{ tab: 'channels' }}>
          See where notices go
        </TextLink>
      }
    >
      Notices appear here the moment a rule with a channel fires.
    </EmptyState>
  );
}

const Delivery = memo(function Delivery({
  delivery,
  channel,
  isChannelGone,
  aheadMs,
}: {
  delivery: AlertDelivery;
  /** Undefined: not read yet, or gone. */
  channel: AlertChannel | undefined;
  isChannelGone: boolean;
  aheadMs: number | null;
}) {
  const channelName = channel?.name ?? (isChannelGone ? 'a deleted channel' : '');
  const { notice, state } = delivery;
  const phase = PHASES[notice.phase] ?? PHASES.firing;
  return (
    <article
      data-testid="alert-delivery"
      data-state={state}
      className="flex items-start gap-3 px-3 py-2.5 max-md:flex-wrap"
    >
      <Badge tone={phase.tone} className="mt-0.5 w-20 justify-center">
        {phase.label}
      </Badge>
      <div className="min-w-0 flex-1">
        <h2 className="font-medium [overflow-wrap:anywhere]">{notice.title}</h2>
        <p className="text-muted text-xs [overflow-wrap:anywhere]">{notice.text}</p>
        <p className="flex flex-wrap gap-x-2 text-xs">
          <span className="text-muted">{notice.rule_name}</span>
          {notice.agent_id ? (
            <Link
              to="/agents/$agentId"
              params={{ agentId: notice.agent_id }}
              className="text-accent hover:underline"
            >
              {withUnseen(notice.agent_id)}
            </Link>
          ) : null}
          {notice.type === 'budget' && notice.agent_id === null ? (
            <Link to="/all-agents" className="text-accent hover:underline">
              All agents
            </Link>
          ) : null}
          {notice.type === 'total_spend' ? (
            <Link to="/spend" className="text-accent hover:underline">
              Spend
            </Link>
          ) : null}
          {notice.session_id ? (
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: notice.session_id }}
              className="text-accent hover:underline"
            >
              Session
            </Link>
          ) : null}
        </p>
        {delivery.last_error ? (
          <p className="flex items-center gap-1 text-danger text-xs">
            <MailX size={12} aria-hidden="true" className="shrink-0" />
            <span className="inline-block first-letter:uppercase">{delivery.last_error}</span>
          </p>
        ) : null}
      </div>
      <div className="flex w-44 shrink-0 flex-col items-end gap-1 text-right text-muted text-xs max-md:w-full max-md:flex-row max-md:flex-wrap max-md:items-center max-md:justify-end">
        <span className="flex min-w-0 max-w-full items-center gap-2 max-md:mr-auto">
          <span className="truncate" title={channelName}>
            {channelName}
          </span>
          <Badge tone={STATE_TONES[state]}>{STATE_LABELS[state]}</Badge>
        </span>
        <span className="nums max-md:mr-auto">
          <RelativeTime atMs={delivery.created_at_ms} />
          {delivery.attempt_count > 1 || state !== 'delivered'
            ? `, ${plural(delivery.attempt_count, 'try', 'tries')}`
            : ''}
        </span>
        {state === 'pending' ? (
          <NextTry atMs={delivery.next_attempt_at_ms} circuit={channel?.circuit} aheadMs={aheadMs} />
        ) : null}
        {state === 'dead' ? <RetryButton delivery={delivery} isChannelGone={isChannelGone} /> : null}
      </div>
    </article>
  );
});

function NextTry({
  atMs,
  circuit,
  aheadMs,
}: {
  atMs: number | null;
  circuit: AlertChannel['circuit'] | undefined;
  aheadMs: number | null;
}) {
  const text = useNow((nowMs) => nextTryText(atMs, circuit, nowMs, aheadMs));
  return <span className="nums inline-block text-balance first-letter:uppercase">{text}</span>;
}

/** Its effect arrives over the live topic, for everybody. */
function RetryButton({ delivery, isChannelGone }: { delivery: AlertDelivery; isChannelGone: boolean }) {
  const denial = useDenial('configure');
  const goneReason = isChannelGone ? 'Its channel was deleted: there is nobody left to tell.' : null;
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post(`/v1/alert-deliveries/${encodeURIComponent(delivery.delivery_id)}/retry`),
  });
  return (
    <>
      <Button
        size="sm"
        icon={<RotateCcw size={12} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial ?? goneReason}
        onClick={() => mutate()}
        aria-label={`Retry “${delivery.notice.title}”`}
        className="max-md:h-10"
      >
        Retry
      </Button>
      {error ? (
        <p role="alert" className="text-danger">
          {error.message}
          <SinceNote />
        </p>
      ) : null}
    </>
  );
}
