/** Where notices go, whether it works, and a test that says so. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Mail, MessageSquare, Send, Webhook } from 'lucide-react';
import { useState } from 'react';
import type { AlertChannel, ChannelTest } from '#contracts';
import { api, CHANNELS_KEY, systemQuery, useDenial } from '../../api';
import { TextLink } from '../../app/text-link';
import { useDraft } from '../../app/use-draft';
import { Badge, Button, Callout, formatDuration } from '../../ui';
import { meanwhileText } from '../dialog-form/meanwhile';
import { OneTimeSecret } from '../settings/one-time-secret';
import { ChannelDialog } from './channel-dialog';
import { KIND_LABELS } from './channel-form';
import { CircuitBadge } from './circuit-badge';
import { EditableList } from './editable-list';
import { RowActions } from './row-actions';
import { useChannels } from './use-alerts';

const ICONS = { webhook: Webhook, slack: MessageSquare, email: Mail } as const;

export function ChannelsTab({ namedId }: { namedId: string | undefined }) {
  const { data, error, isPending } = useChannels();
  const denial = useDenial('configure');
  const [edited, setEdited] = useDraft<AlertChannel | 'new'>('channel in the dialog');
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <EditableList
      lead="Where notices go. Webhooks are signed; failures are tried again, then kept as dead letters."
      noun="channel"
      items={data}
      isPending={isPending}
      error={error}
      denial={denial}
      onCreate={() => setEdited('new')}
      keyOf={({ channel_id }) => channel_id}
      namedId={namedId}
      renderItem={(channel) => (
        <Channel channel={channel} denial={denial} onEdit={() => setEdited(channel)} />
      )}
      empty={{
        icon: <Send size={26} aria-hidden="true" />,
        title: 'No channel yet',
        text: 'A webhook, a Slack-compatible webhook, or e-mail through your own mail server.',
      }}
      note={
        secret === null ? (
          <NoLinks channels={data} />
        ) : (
          <OneTimeSecret
            title="The channel’s signing secret"
            secret={secret}
            testId="channel-secret"
            onDone={() => setSecret(null)}
          >
            <p className="text-xs">The receiver checks the signature of each notice with it (HMAC-SHA256).</p>
          </OneTimeSecret>
        )
      }
    >
      {edited === null ? null : (
        <ChannelDialog
          channel={edited === 'new' ? null : edited}
          meanwhile={meanwhileText({
            opened: edited === 'new' ? null : edited,
            things: data,
            isSame: (one, other) => one.channel_id === other.channel_id,
            formOf: ({ name, target, allow_private }) => [name, target, allow_private],
            noun: 'channel',
          })}
          onClose={() => setEdited(null)}
          onSecret={setSecret}
        />
      )}
    </EditableList>
  );
}

/** Whoever is woken by a notice wants to go from it to what it is about. */
function NoLinks({ channels = [] }: { channels: readonly AlertChannel[] | undefined }) {
  const { data } = useQuery(systemQuery);
  if (channels.length === 0 || data?.view.public_url !== null) return null;
  return (
    <Callout>
      Notices carry no link to this dashboard. Start the gateway with <code>OBSERVATORY_PUBLIC_URL</code>, the
      address that people reach it by.
    </Callout>
  );
}

interface ChannelProps {
  channel: AlertChannel;
  denial: string | null;
  onEdit: () => void;
}

function Channel({ channel, denial, onEdit }: ChannelProps) {
  const queryClient = useQueryClient();
  const path = `/v1/alert-channels/${encodeURIComponent(channel.channel_id)}`;
  const test = useMutation({
    mutationFn: () => api.post<ChannelTest>(`${path}/test`),
    onSettled: () => queryClient.invalidateQueries({ queryKey: CHANNELS_KEY }),
  });
  const Icon = ICONS[channel.kind];
  return (
    <article data-testid="alert-channel" className="flex items-center gap-3 px-3 py-2.5 max-md:flex-wrap">
      <Icon size={17} aria-hidden="true" className="shrink-0 text-muted" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere] max-md:basis-[80%]">
        <h2 className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{channel.name}</span>
          <span className="text-muted text-xs">{KIND_LABELS[channel.kind]}</span>
          {channel.has_secret && channel.kind === 'webhook' ? <Badge>Signed</Badge> : null}
          {channel.allow_private ? <Badge tone="warning">Private addresses allowed</Badge> : null}
          <CircuitBadge channel={channel} />
        </h2>
        <p className="truncate font-mono text-muted text-xs" title={channel.target}>
          {channel.target}
        </p>
        {channel.circuit.reason === null ? null : (
          <p className="text-danger text-xs first-letter:uppercase">{channel.circuit.reason}</p>
        )}
        {channel.circuit.state !== 'refusing' ? null : (
          <p className="text-muted text-xs">
            What it refuses is not tried again by itself:{' '}
            <TextLink to="/alerts" search={{ tab: 'dead', channel: channel.channel_id }}>
              its dead letters
            </TextLink>
          </p>
        )}
        <div role="status" className="text-xs empty:hidden">
          {test.data?.status === 'ok' ? (
            <span className="text-success">
              The test arrived, in {formatDuration(test.data.duration_ms)}.
            </span>
          ) : null}
          {test.data?.status === 'failed' ? <span className="text-danger">{test.data.detail}</span> : null}
          {test.error ? <span className="text-danger">Not sent: {test.error.message}</span> : null}
        </div>
      </div>
      <RowActions
        noun="channel"
        name={channel.name}
        path={path}
        listKey={CHANNELS_KEY}
        consequence="Rules stop telling it, and notices still waiting for it are given up."
        denial={denial}
        onEdit={() => {
          // What the last test said is not about what it will be.
          test.reset();
          onEdit();
        }}
      >
        <Button
          size="sm"
          icon={<Send size={13} aria-hidden="true" />}
          busy={test.isPending}
          disabledReason={denial}
          onClick={() => test.mutate()}
          aria-label={`Send test to ${channel.name}`}
        >
          Send test
        </Button>
      </RowActions>
    </article>
  );
}
