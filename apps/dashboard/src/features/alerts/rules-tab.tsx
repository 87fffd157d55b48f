/** The alert rules: what each watches, whether it is firing, muted or off. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BellRing } from 'lucide-react';
import type { AlertChannel, AlertRule } from '#contracts';
import { api, isChannelFailing, useDenial } from '../../api';
import { useDraft } from '../../app/use-draft';
import { Badge, plural, RelativeTime, SinceNote, Switch } from '../../ui';
import { meanwhileText } from '../dialog-form/meanwhile';
import { EditableList } from './editable-list';
import { FiringAgents, FiringLink } from './firing-agents';
import { MuteMenu, MuteNote } from './mute-menu';
import { RowActions } from './row-actions';
import { RuleDialog } from './rule-dialog';
import { describeRule, draftOfRule, spanText, subjectText } from './rule-form';
import { RULES_KEY, useChannels, useRules } from './use-alerts';

const NO_CHANNELS: readonly AlertChannel[] = [];

export function RulesTab({ namedId }: { namedId: string | undefined }) {
  const rules = useRules();
  const { data: channels = NO_CHANNELS, isPending: channelsArePending } = useChannels();
  const denial = useDenial('configure');
  const [edited, setEdited] = useDraft<AlertRule | 'new'>('rule in the dialog');
  return (
    <EditableList
      lead="A rule says when somebody is told, and how often."
      noun="rule"
      items={rules.data}
      isPending={rules.isPending}
      error={rules.error}
      denial={denial}
      onCreate={() => setEdited('new')}
      keyOf={({ rule_id }) => rule_id}
      namedId={namedId}
      renderItem={(rule) => (
        <Rule rule={rule} channels={channels} denial={denial} onEdit={() => setEdited(rule)} />
      )}
      empty={{
        icon: <BellRing size={26} aria-hidden="true" />,
        title: 'Nobody is told of anything yet',
        text: 'Be told when the kill switch fires, a budget runs out, calls fail or an agent falls silent.',
      }}
    >
      {/* A new rule begins with all channels. */}
      {edited === null || channelsArePending ? null : (
        <RuleDialog
          rule={edited === 'new' ? null : edited}
          meanwhile={meanwhileText({
            opened: edited === 'new' ? null : edited,
            things: rules.data,
            isSame: (one, other) => one.rule_id === other.rule_id,
            formOf: draftOfRule,
            noun: 'rule',
          })}
          channels={channels}
          onClose={() => setEdited(null)}
        />
      )}
    </EditableList>
  );
}

interface RuleProps {
  rule: AlertRule;
  channels: readonly AlertChannel[];
  denial: string | null;
  onEdit: () => void;
}

function Rule({ rule, channels, denial, onEdit }: RuleProps) {
  const queryClient = useQueryClient();
  const path = `/v1/alert-rules/${encodeURIComponent(rule.rule_id)}`;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (patch: { enabled?: boolean; muted_until_ms?: number | null }) =>
      api.patch<AlertRule>(path, patch),
    onSettled: () => queryClient.invalidateQueries({ queryKey: RULES_KEY }),
  });
  return (
    <article data-testid="alert-rule" className="flex items-center gap-3 px-3 py-2.5 max-md:flex-wrap">
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere] max-md:basis-full">
        <h2 className="flex flex-wrap items-center gap-2">
          <span className={rule.enabled ? 'font-medium' : 'font-medium text-muted'}>{rule.name}</span>
          <Firing rule={rule} />
          <MuteNote rule={rule} />
        </h2>
        <p className="text-muted text-xs">
          {describeRule(rule)} · {subjectText(rule)}
          {rule.repeat_s === null ? '' : ` · repeats every ${spanText(rule.repeat_s)}`}
          {rule.cooldown_s === 0 ? ' · no cooldown' : ` · cooldown ${spanText(rule.cooldown_s)}`}
        </p>
        <p className="text-xs">
          <RuleChannels rule={rule} channels={channels} onEdit={denial === null ? onEdit : null} />
        </p>
        {rule.firing_count > 0 ? <FiringAgents rule={rule} /> : null}
        {error ? (
          <p role="alert" className="text-danger text-xs">
            Not changed: {error.message}
            <SinceNote />
          </p>
        ) : null}
      </div>
      <Switch
        checked={rule.enabled}
        disabled={denial !== null || isPending}
        onChange={(enabled) => mutate({ enabled })}
      >
        <span className="sr-only">{rule.name} is </span>
        {rule.enabled ? 'On' : 'Off'}
      </Switch>
      <RowActions
        noun="rule"
        name={rule.name}
        path={path}
        listKey={RULES_KEY}
        consequence="Nobody is told of it any more. Its deliveries stay in the history."
        denial={denial}
        onEdit={onEdit}
      >
        <MuteMenu rule={rule} denial={denial} onMute={(muted_until_ms) => mutate({ muted_until_ms })} />
      </RowActions>
    </article>
  );
}

function Firing({ rule }: { rule: AlertRule }) {
  const { firing_count, firing_since_ms } = rule;
  const [first] = rule.firing;
  if (!first || firing_since_ms === null) return null;
  return (
    <Badge tone="danger" className="max-w-full">
      Firing for{' '}
      {firing_count === 1 ? (
        <FiringLink type={rule.type} agentId={first.agent_id} className="block truncate" />
      ) : (
        firingFor(first.agent_id === null, firing_count)
      )}
      <span className="-ml-1">
        , <RelativeTime atMs={firing_since_ms} short />
      </span>
    </Badge>
  );
}

/** @param hasAllTogether one of the `count` is all agents together */
const firingFor = (hasAllTogether: boolean, count: number): string =>
  hasAllTogether ? `all together and ${plural(count - 1, 'agent')}` : plural(count, 'agent');

interface RuleChannelsProps extends Pick<RuleProps, 'rule' | 'channels'> {
  /** Null: may not. */
  onEdit: (() => void) | null;
}

function RuleChannels({ rule, channels, onEdit }: RuleChannelsProps) {
  if (rule.channel_ids.length === 0) {
    return (
      <span className="text-warning">
        No channel: it is noted here, and nobody is told.{' '}
        {channels.length === 0 ? (
          <Link to="/alerts" search={{ tab: 'channels' }} className="font-medium underline">
            Make a channel
          </Link>
        ) : null}
        {channels.length > 0 && onEdit ? (
          <button
            type="button"
            aria-label={`Choose a channel for ${rule.name}`}
            onClick={onEdit}
            className="font-medium underline"
          >
            Choose a channel
          </button>
        ) : null}
      </span>
    );
  }
  const told = rule.channel_ids.map((id) => channels.find(({ channel_id }) => channel_id === id));
  const names = told.map((channel) => {
    if (channel === undefined) return 'a deleted channel';
    return isChannelFailing(channel) ? `${channel.name} (failing)` : channel.name;
  });
  const isFailing = told.some((channel) => channel !== undefined && isChannelFailing(channel));
  return <span className={isFailing ? 'text-danger' : 'text-muted'}>To {names.join(', ')}</span>;
}
