/** Creates or edits a channel. What is secret is typed anew: the gateway takes secrets and gives none out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AlertChannel, AlertChannelBody } from '#contracts';
import { api, toRefusal } from '../../api';
import { Dialog, Field, Input, Switch, Textarea } from '../../ui';
import { Segmented } from '../../ui/segmented';
import {
  type ChannelDraft,
  type ChannelKind,
  draftOfChannel,
  KIND_LABELS,
  newChannel,
  toChannelBody,
} from './channel-form';
import { DialogFooter } from './dialog-footer';
import { CHANNELS_KEY } from './use-alerts';

const KINDS = (Object.keys(KIND_LABELS) as ChannelKind[]).map((value) => ({
  value,
  label: KIND_LABELS[value],
}));
const KNOWN = ['name', 'url', 'secret', 'to', 'from', 'smtp_host', 'smtp_port', 'smtp_user', 'smtp_password'];

interface ChannelDialogProps {
  /** Null: a new one. */
  channel: AlertChannel | null;
  onClose: () => void;
  /** A secret that the gateway made, to be shown once. */
  onSecret: (secret: string) => void;
}

export function ChannelDialog({ channel, onClose, onSecret }: ChannelDialogProps) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<ChannelDraft>(() =>
    channel ? draftOfChannel(channel) : newChannel('webhook'),
  );
  const [typos, setTypos] = useState<Record<string, string>>({});
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (body: AlertChannelBody) =>
      channel
        ? api.put<{ secret?: string | null }>(
            `/v1/alert-channels/${encodeURIComponent(channel.channel_id)}`,
            body,
          )
        : api.post<{ secret?: string | null }>('/v1/alert-channels', body),
    onSuccess: async ({ secret }) => {
      if (secret) onSecret(secret);
      await queryClient.invalidateQueries({ queryKey: CHANNELS_KEY });
      onClose();
    },
  });
  // The path of one recipient is `to.1`.
  const refusal = toRefusal(error, (path) => KNOWN.includes(path));
  const problems: Readonly<Record<string, string>> = { ...refusal.fields, ...typos };
  const edit = (change: Partial<ChannelDraft>) => {
    setDraft({ ...draft, ...change });
    setTypos({});
    if (error) reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { body, errors } = toChannelBody(draft);
    setTypos(errors);
    if (!isPending && Object.keys(errors).length === 0) mutate(body);
  };
  const parts = { draft, problems, edit };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={channel ? 'Edit channel' : 'New channel'}
      description={
        channel
          ? 'Addresses and secrets are not given out again: type in what should be in force.'
          : undefined
      }
    >
      <form onSubmit={submit} noValidate autoComplete="off" className="flex flex-col gap-3">
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
        {draft.kind === 'email' ? <EmailFields {...parts} /> : <HookFields {...parts} channel={channel} />}
        <div>
          <Switch checked={draft.allowPrivate} onChange={(allowPrivate) => edit({ allowPrivate })}>
            Allow private addresses
          </Switch>
          <p className="text-muted text-xs">
            Otherwise addresses inside your network, this machine included, are refused.
          </p>
        </div>
        <DialogFooter
          refusal={refusal.general}
          isSaving={isPending}
          saveLabel={channel ? 'Save channel' : 'Create channel'}
          testId="channel-save"
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

interface Parts {
  draft: ChannelDraft;
  problems: Readonly<Record<string, string>>;
  edit: (change: Partial<ChannelDraft>) => void;
}

type TextMember = {
  [K in keyof ChannelDraft]: ChannelDraft[K] extends string ? K : never;
}[keyof ChannelDraft];

interface TextProps extends Parts {
  /** On the wire. */
  field: string;
  name: TextMember;
  label: string;
  hint?: string;
  placeholder?: string;
  type?: string;
}

function Text({ draft, problems, edit, field, name, label, hint, placeholder, type }: TextProps) {
  return (
    <Field label={label} hint={hint} error={problems[field]}>
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

function HookFields(props: Parts & { channel: AlertChannel | null }) {
  const isSlack = props.draft.kind === 'slack';
  return (
    <>
      <Text
        {...props}
        field="url"
        name="url"
        label="URL"
        placeholder={isSlack ? 'https://hooks.slack.com/services/…' : 'https://example.org/observatory'}
        {...(props.channel ? { hint: `Now ${props.channel.target}` } : {})}
      />
      {isSlack ? null : (
        <Text
          {...props}
          field="secret"
          name="secret"
          label="Signing secret"
          type="password"
          hint={
            props.channel?.has_secret
              ? 'Empty: as it is, or a new one that is shown once.'
              : 'Empty: one is made and shown once.'
          }
        />
      )}
    </>
  );
}

function EmailFields(props: Parts) {
  const { draft, problems, edit } = props;
  return (
    <>
      <Field label="To" hint="Addresses, separated by commas." error={problems.to}>
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
      <Switch checked={draft.smtpTls} onChange={(smtpTls) => edit({ smtpTls })}>
        TLS from the first byte (port 465)
      </Switch>
    </>
  );
}
