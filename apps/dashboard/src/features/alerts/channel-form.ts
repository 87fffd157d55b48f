/** Channels as people write them. Addresses and secrets are typed in and never shown again. Pure. */
import type { AlertChannel, AlertChannelBody, AlertChannelPatch } from '#contracts';

export type ChannelKind = AlertChannel['kind'];

export const KIND_LABELS: Record<ChannelKind, string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  email: 'E-mail',
};

export const ALLOW_PRIVATE_LABEL = 'Allow private addresses';

/** A refusal names a member of the request; here it is a switch. */
export const saidOfForm = (problem: string): string =>
  problem.replace('set allow_private', `switch on “${ALLOW_PRIVATE_LABEL}” below`);

export interface ChannelDraft {
  kind: ChannelKind;
  name: string;
  url: string;
  secret: string;
  allowPrivate: boolean;
  /** Addresses, separated by commas, spaces or lines. */
  to: string;
  from: string;
  smtpHost: string;
  smtpPort: string;
  /** Null: as it is. */
  smtpTls: boolean | null;
  smtpUser: string;
  smtpPassword: string;
}

export const newChannel = (kind: ChannelKind): ChannelDraft => ({
  kind,
  name: '',
  url: '',
  secret: '',
  allowPrivate: false,
  to: '',
  from: '',
  smtpHost: '',
  smtpPort: '587',
  smtpTls: false,
  smtpUser: '',
  smtpPassword: '',
});

/** What a channel tells about itself; the rest is empty, which leaves it as it is. */
export const draftOfChannel = (channel: AlertChannel): ChannelDraft => ({
  ...newChannel(channel.kind),
  name: channel.name,
  allowPrivate: channel.allow_private,
  smtpPort: '',
  smtpTls: null,
});

export const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

type Errors = Record<string, string>;

/** Everything that was typed; the gateway judges whether an address exists. */
export function toChannelBody(draft: ChannelDraft): { body: AlertChannelBody; errors: Errors } {
  const texts = textsOf(draft);
  const body = { kind: draft.kind, ...valuesOf(draft, texts) } as AlertChannelBody;
  return { body, errors: { ...missingOf(texts, Object.keys(MISSING)), ...typosOf(texts) } };
}

/** What was typed over a channel; the rest stays as it is by now, whatever somebody else made of it. */
export function toChannelPatch(
  draft: ChannelDraft,
  channel: AlertChannel,
): { body: AlertChannelPatch; errors: Errors } {
  const texts = textsOf(draft);
  const { name, allow_private, ...rest } = valuesOf(draft, texts);
  const body = {
    ...rest,
    ...(name === channel.name ? {} : { name }),
    ...(allow_private === channel.allow_private ? {} : { allow_private }),
  };
  return { body, errors: { ...missingOf(texts, ['name']), ...typosOf(texts) } };
}

/** What its kind asks for, by field on the wire. */
function textsOf(draft: ChannelDraft): Record<string, string> {
  const name = draft.name.trim();
  const url = draft.url.trim();
  if (draft.kind === 'slack') return { name, url };
  if (draft.kind === 'webhook') return { name, url, secret: draft.secret.trim() };
  return {
    name,
    to: draft.to.trim(),
    from: draft.from.trim(),
    smtp_host: draft.smtpHost.trim(),
    smtp_port: draft.smtpPort.trim(),
    smtp_user: draft.smtpUser.trim(),
    smtp_password: draft.smtpPassword,
  };
}

function valuesOf(draft: ChannelDraft, texts: Record<string, string>): AlertChannelPatch {
  const { to, smtp_port, ...others } = texts;
  return {
    ...Object.fromEntries(Object.entries(others).filter(([, text]) => text !== '')),
    ...(to ? { to: addressesOf(to) } : {}),
    ...(smtp_port ? { smtp_port: Number(smtp_port) } : {}),
    ...(draft.kind === 'email' && draft.smtpTls !== null ? { smtp_tls: draft.smtpTls } : {}),
    allow_private: draft.allowPrivate,
  };
}

const MISSING: Errors = {
  name: 'Give the channel a name.',
  url: 'Where should it be posted?',
  to: 'Name at least one recipient.',
  from: 'Name the sender.',
  smtp_host: 'Name the mail server.',
  smtp_port: 'A port from 1 to 65535.',
};

const missingOf = (texts: Record<string, string>, required: readonly string[]): Errors =>
  Object.fromEntries(
    required.filter((field) => texts[field] === '').map((field) => [field, MISSING[field] ?? '']),
  );

/** What is plainly wrong about a text that is there. */
function typosOf({ url, secret, smtp_port }: Record<string, string>): Errors {
  const errors: Errors = {};
  if (url && !/^https?:\/\/./i.test(url)) errors.url = 'Begin with https:// or http://.';
  if (secret && secret.length < 16) errors.secret = 'At least 16 characters.';
  const port = Number(smtp_port);
  if (smtp_port && (!Number.isInteger(port) || port < 1 || port > 65_535))
    errors.smtp_port = 'A port from 1 to 65535.';
  return errors;
}
