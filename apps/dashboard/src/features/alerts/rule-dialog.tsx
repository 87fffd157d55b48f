/** Creates or edits a rule. The gateway's objections stand at the field. */
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { ALERT_TYPES, type AlertChannel, type AlertRule, type AlertType, isSpendRule } from '#contracts';
import { api, type FieldProblems } from '../../api';
import { useTopic } from '../../realtime';
import { Field, Input, SelectField, Switch, UnitInput } from '../../ui';
import { DialogForm } from '../dialog-form/dialog-form';
import { useDialogForm } from '../dialog-form/use-dialog-form';
import { CircuitBadge } from './circuit-badge';
import {
  asksAgent,
  asksShare,
  asksWindow,
  draftOfRule,
  newRule,
  PERIODS,
  type RuleDraft,
  TYPE_HELP,
  TYPE_LABELS,
  toRuleBody,
  toRulePatch,
  withType,
} from './rule-form';
import { RULES_KEY } from './use-alerts';

const TYPES = ALERT_TYPES.map((value) => ({ value, label: TYPE_LABELS[value] }));
const WINDOW_LABELS: Partial<Record<AlertType, string>> = {
  agent_silent: 'Silent for',
  semantic_loop: 'Over after',
};
const FIELDS = [
  'name',
  'agent_id',
  'threshold',
  'threshold_usd',
  'window_s',
  'cooldown_s',
  'repeat_s',
  'channel_ids',
];

interface RuleDialogProps {
  /** Null: a new one. */
  rule: AlertRule | null;
  /** What somebody else did to it since; null: nothing. */
  meanwhile: string | null;
  channels: readonly AlertChannel[];
  onClose: () => void;
}

export function RuleDialog({ rule, meanwhile, channels, onClose }: RuleDialogProps) {
  const form = useDialogForm({
    purpose: `alert rule ${rule?.rule_id ?? 'new'}`,
    initial: () =>
      rule
        ? draftOfRule(rule)
        : newRule(
            'kill_switch',
            channels.map(({ channel_id }) => channel_id),
          ),
    check: (draft: RuleDraft): { body: object; errors: FieldProblems } =>
      rule ? toRulePatch(draft, rule) : toRuleBody(draft),
    save: (body) =>
      rule
        ? api.patch(`/v1/alert-rules/${encodeURIComponent(rule.rule_id)}`, body)
        : api.post('/v1/alert-rules', body),
    fields: FIELDS,
    queryKey: RULES_KEY,
    onClose,
  });
  const { draft, problems, edit } = form;
  return (
    <DialogForm
      form={form}
      meanwhile={meanwhile}
      title={rule ? 'Edit rule' : 'New rule'}
      saveLabel={rule ? 'Save rule' : 'Create rule'}
      testId="rule-save"
    >
      <SelectField
        label="When"
        value={draft.type}
        options={TYPES}
        disabled={rule !== null}
        onChange={(type) => edit(withType(draft, type))}
        hint={TYPE_HELP[draft.type]}
      />
      <Field label="Name" error={problems.name}>
        <Input
          value={draft.name}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => edit({ name: event.target.value })}
        />
      </Field>
      {asksAgent(draft.type) ? (
        <AgentField value={draft.agent} error={problems.agent_id} onChange={(agent) => edit({ agent })} />
      ) : null}
      <div className="grid grid-cols-2 gap-3">
        {asksShare(draft.type) ? (
          <Field label={draft.type === 'budget' ? 'Share spent' : 'Share failed'} error={problems.threshold}>
            <UnitInput
              unit="%"
              value={draft.percent}
              onChange={(event) => edit({ percent: event.target.value })}
            />
          </Field>
        ) : null}
        {isSpendRule(draft.type) ? (
          <>
            <Field label="Amount spent" error={problems.threshold_usd}>
              <UnitInput
                unit="USD"
                value={draft.usd}
                onChange={(event) => edit({ usd: event.target.value })}
              />
            </Field>
            <SelectField
              label="Within"
              value={draft.period}
              options={PERIODS}
              onChange={(period) => edit({ period })}
            />
          </>
        ) : null}
        {asksWindow(draft.type) ? (
          <Field label={WINDOW_LABELS[draft.type] ?? 'Over'} error={problems.window_s}>
            <UnitInput
              unit="min"
              value={draft.windowMinutes}
              onChange={(event) => edit({ windowMinutes: event.target.value })}
            />
          </Field>
        ) : null}
        <Field label="Cooldown" hint="Quiet after a notice." error={problems.cooldown_s}>
          <UnitInput
            unit="min"
            value={draft.cooldownMinutes}
            onChange={(event) => edit({ cooldownMinutes: event.target.value })}
          />
        </Field>
        <Field label="Repeat every" hint="Empty: said once." error={problems.repeat_s}>
          <UnitInput
            unit="min"
            placeholder="never"
            value={draft.repeatMinutes}
            onChange={(event) => edit({ repeatMinutes: event.target.value })}
          />
        </Field>
      </div>
      <ChannelChoice
        channels={channels}
        chosen={draft.channelIds}
        error={problems.channel_ids}
        onChange={(channelIds) => edit({ channelIds })}
      />
      <Switch checked={draft.notifyRecovery} onChange={(notifyRecovery) => edit({ notifyRecovery })}>
        Also say when it is over
      </Switch>
    </DialogForm>
  );
}

interface AgentFieldProps {
  value: string;
  error: string | undefined;
  onChange: (agentId: string) => void;
}

function AgentField({ value, error, onChange }: AgentFieldProps) {
  const listId = useId();
  const { data } = useTopic('gateway:agents');
  return (
    <>
      <Field label="Agent" hint="Empty: any agent." error={error}>
        <Input
          value={value}
          list={listId}
          placeholder="any agent"
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
      <datalist id={listId}>
        {[...(data?.keys() ?? [])].map((agentId) => (
          <option key={agentId} value={agentId} />
        ))}
      </datalist>
    </>
  );
}

interface ChannelChoiceProps {
  channels: readonly AlertChannel[];
  chosen: readonly string[];
  error: string | undefined;
  onChange: (channelIds: readonly string[]) => void;
}

function ChannelChoice({ channels, chosen, error, onChange }: ChannelChoiceProps) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-xs">Tell it to</legend>
      {channels.length === 0 ? (
        <p className="text-muted text-xs">
          There is no channel yet.{' '}
          <Link
            to="/alerts"
            search={{ tab: 'channels' }}
            target="_blank"
            className="font-medium text-accent underline"
          >
            Create one under Channels
          </Link>{' '}
          (a new tab): what you have typed stays here, and the channel is offered once it is made.
        </p>
      ) : null}
      <div className="flex flex-col gap-1">
        {channels.map((channel) => (
          <label
            key={channel.channel_id}
            className="flex min-h-7 cursor-pointer items-center gap-2 max-md:min-h-10"
          >
            <input
              type="checkbox"
              checked={chosen.includes(channel.channel_id)}
              onChange={(event) =>
                onChange(
                  event.target.checked
                    ? [...chosen, channel.channel_id]
                    : chosen.filter((known) => known !== channel.channel_id),
                )
              }
              className="size-4 shrink-0 accent-(--accent-solid)"
            />
            <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2">
              <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{channel.name}</span>
              <CircuitBadge channel={channel} />
              <span className="min-w-0 max-w-full truncate text-muted text-xs">{channel.target}</span>
            </span>
          </label>
        ))}
      </div>
      {error ? (
        <p role="alert" className="text-danger text-xs">
          {error}
        </p>
      ) : null}
    </fieldset>
  );
}
