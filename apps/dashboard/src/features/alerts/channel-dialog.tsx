/** Creates or edits a channel. The gateway gives out neither addresses nor secrets: a field left empty stays as it is. */
import type { AlertChannel } from '#contracts';
import { api, CHANNELS_KEY, type FieldProblems } from '../../api';
import { Field, Input, SelectField, Switch, Textarea } from '../../ui';
import { Segmented } from '../../ui/segmented';
import { DialogForm } from '../dialog-form/dialog-form';
import { type DialogFormState, useDialogForm } from '../dialog-form/use-dialog-form';
import {
  ALLOW_PRIVATE_LABEL,
  type ChannelDraft,
  type ChannelKind,
  draftOfChannel,
  KIND_LABELS,
  newChannel,
  saidOfForm,
  toChannelBody,
  toChannelPatch,
} from './channel-form';

const KINDS = (Object.keys(KIND_LABELS) as ChannelKind[]).map((value) => ({
  value,
  label: KIND_LABELS[value],
}));
const FIELDS = [
  'name',
  'url',
  'secret',
  'to',
  'from',
  'smtp_host',
  'smtp_port',
  'smtp_user',
  'smtp_password',
];

interface ChannelDialogProps {
  /** Null: a new one. */
  channel: AlertChannel | null;
  /** What somebody else did to it since; null: nothing. */
  meanwhile: string | null;
  onClose: () => void;
  /** A secret that the gateway made, to be shown once. */
  onSecret: (secret: string) => void;
}

export function ChannelDialog({ channel, meanwhile, onClose, onSecret }: ChannelDialogProps) {
  const form = useDialogForm({
    purpose: `alert channel ${channel?.channel_id ?? 'new'}`,
    secrets: ['url', 'secret', 'smtpPassword'],
    initial: () => (channel ? draftOfChannel(channel) : newChannel('webhook')),
    check: (draft: ChannelDraft): { body: object; errors: FieldProblems } =>
      channel ? toChannelPatch(draft, channel) : toChannelBody(draft),
    save: (body: object): Promise<{ secret?: string | null }> =>
      channel
        ? api.patch(`/v1/alert-channels/${encodeURIComponent(channel.channel_id)}`, body)
        : api.post('/v1/alert-channels', body),
    // The path of one recipient is `to.1`.
    fields: FIELDS,
    queryKey: CHANNELS_KEY,
    onSaved: ({ secret }) => secret && onSecret(secret),
    onClose,
  });
  const { draft, problems, edit } = form;
  const parts = { channel, draft, problems, edit };
  return (
    <DialogForm
      form={form}
      meanwhile={meanwhile}
      title={channel ? 'Edit channel' : 'New channel'}
      description={
        channel
          ? 'Addresses and secrets are not given out again: a field left empty stays as it is.'
          : undefined
      }
      saveLabel={channel ? 'Save channel' : 'Create channel'}
      testId="channel-save"
    >
      {channel ? null : (
        <Segmented
          label="Kind"
          value={draft.kind}
          options={KINDS}
          onChange={(kind) => edit({ kind })}
          className="self-start"
        />
      )}
      <Text {...parts} field="name" name="name" label="Name" hint="Such as “on call”." />
      {draft.kind === 'email' ? <EmailFields {...parts} /> : <HookFields {...parts} />}
      <div>
        <Switch checked={draft.allowPrivate} onChange={(allowPrivate) => edit({ allowPrivate })}>
          {ALLOW_PRIVATE_LABEL}
        </Switch>
        <p className="text-muted text-xs">
          Otherwise addresses inside your network, this machine included, are refused.
        </p>
      </div>
    </DialogForm>
  );
}

interface Parts extends Pick<DialogFormState<ChannelDraft>, 'draft' | 'problems' | 'edit'> {
  /** Null: a new one. */
  channel: AlertChannel | null;
}

type TextMember = {
  [K in keyof ChannelDraft]: ChannelDraft[K] extends string ? K : never;
}[keyof ChannelDraft];

interface TextProps extends Parts {
  /** On the wire. */
  field: string;
  name: TextMember;
  label: string;
  hint?: string | undefined;
  placeholder?: string;
  type?: string;
}

function Text({ draft, problems, edit, field, name, label, hint, placeholder, type }: TextProps) {
  return (
    <Field label={label} hint={hint} error={problems[field] && saidOfForm(problems[field])}>
      <Input
        name={field}
        type={type}
        value={draft[name]}
        placeholder={placeholder}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        onChange={(event) => edit({ [name]: event.target.value })}
      />
    </Field>
  );
}

/** What it is now, as far as it is given out. */
const nowHint = (channel: AlertChannel | null): string | undefined =>
  channel ? `Now ${channel.target}` : undefined;

function HookFields(props: Parts) {
  const isSlack = props.draft.kind === 'slack';
  return (
    <>
      <Text
        {...props}
        field="url"
        name="url"
        label="URL"
        placeholder={isSlack ? 'https://hooks.slack.com/services/…' : 'https://example.org/observatory'}
        hint={nowHint(props.channel)}
      />
      {isSlack ? null : (
        <Text
          {...props}
          field="secret"
          name="secret"
          label="Signing secret"
          type="password"
          hint={props.channel ? 'Empty: as it is.' : 'Empty: one is made and shown once.'}
        />
      )}
    </>
  );
}

const ENCRYPTIONS = [
  { value: 'same', label: 'As it is' },
  { value: 'starttls', label: 'STARTTLS where offered' },
  { value: 'tls', label: 'TLS from the first byte (port 465)' },
] as const;

const encryptionOf = ({ smtpTls }: ChannelDraft): (typeof ENCRYPTIONS)[number]['value'] =>
  smtpTls === null ? 'same' : smtpTls ? 'tls' : 'starttls';

function EmailFields(props: Parts) {
  const { channel, draft, problems, edit } = props;
  return (
    <>
      <Field label="To" hint={nowHint(channel) ?? 'Addresses, separated by commas.'} error={problems.to}>
        <Textarea rows={2} value={draft.to} onChange={(event) => edit({ to: event.target.value })} />
      </Field>
      <Text {...props} field="from" name="from" label="From" placeholder="observatory@example.org" />
      <div className="grid grid-cols-[1fr_6rem] gap-3">
        <Text
          {...props}
          field="smtp_host"
          name="smtpHost"
          label="Mail server"
          placeholder="mail.example.org"
        />
        <Text {...props} field="smtp_port" name="smtpPort" label="Port" />
      </div>
      <div className="grid grid-cols-2 gap-3">
        <Text {...props} field="smtp_user" name="smtpUser" label="User" />
        <Text {...props} field="smtp_password" name="smtpPassword" label="Password" type="password" />
      </div>
      <SelectField
        label="Encryption"
        value={encryptionOf(draft)}
        options={channel ? ENCRYPTIONS : ENCRYPTIONS.slice(1)}
        onChange={(choice) => edit({ smtpTls: choice === 'same' ? null : choice === 'tls' })}
      />
    </>
  );
}
