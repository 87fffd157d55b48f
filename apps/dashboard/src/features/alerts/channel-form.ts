/** Channels as people write them. Secrets are typed in and never shown again. Pure. */
import type { AlertChannel, AlertChannelBody } from '#contracts';

export type ChannelKind = AlertChannel['kind'];

export const KIND_LABELS: Record<ChannelKind, string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  email: 'E-mail',
};

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
  smtpTls: boolean;
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

/** What a channel tells about itself; the rest has to be typed again, since the gateway does not give it out. */
export const draftOfChannel = (channel: AlertChannel): ChannelDraft => ({
  ...newChannel(channel.kind),
  name: channel.name,
  allowPrivate: channel.allow_private,
  to: channel.kind === 'email' ? channel.target : '',
});

export const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** The body on the wire, or what is missing, by field. Whether an address exists is the gateway's to judge. */
export function toChannelBody(draft: ChannelDraft): {
  body: AlertChannelBody;
  errors: Record<string, string>;
} {
  const errors: Record<string, string> = {};
  const need = (field: string, text: string, message: string): string => {
    if (text.trim() === '') errors[field] = message;
    return text.trim();
  };
  const name = need('name', draft.name, 'Give the channel a name.');
  if (draft.kind === 'email') {
    const to = addressesOf(draft.to);
    if (to.length === 0) errors.to = 'Name at least one recipient.';
    const port = Number(draft.smtpPort.trim());
    if (!Number.isInteger(port) || port < 1 || port > 65_535) errors.smtp_port = 'A port from 1 to 65535.';
    const body: AlertChannelBody = {
      kind: 'email',
      name,
      to,
      from: need('from', draft.from, 'Name the sender.'),
      smtp_host: need('smtp_host', draft.smtpHost, 'Name the mail server.'),
      smtp_port: port,
      smtp_tls: draft.smtpTls,
      allow_private: draft.allowPrivate,
      ...(draft.smtpUser.trim() ? { smtp_user: draft.smtpUser.trim() } : {}),
      ...(draft.smtpPassword ? { smtp_password: draft.smtpPassword } : {}),
    };
    return { body, errors };
  }
  const url = need('url', draft.url, 'Where should it be posted?');
  if (url !== '' && !/^https?:\/\/./i.test(url)) errors.url = 'Begin with https:// or http://.';
  const shared = { name, url, allow_private: draft.allowPrivate };
  if (draft.kind === 'slack') return { body: { kind: 'slack', ...shared }, errors };
  const secret = draft.secret.trim();
  if (secret !== '' && secret.length < 16)
    errors.secret = 'At least 16 characters, or nothing to have one made.';
  return { body: { kind: 'webhook', ...shared, ...(secret ? { secret } : {}) }, errors };
}
