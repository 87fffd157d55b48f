import { describe, expect, it } from 'vitest';
import { type AlertChannel, alertChannelBodySchema, alertChannelPatchSchema } from '#contracts';
import {
  addressesOf,
  draftOfChannel,
  newChannel,
  saidOfForm,
  toChannelBody,
  toChannelPatch,
} from './channel-form';

const webhook = { ...newChannel('webhook'), name: 'Ops', url: 'https://hooks.example.org/x' };
const email = {
  ...newChannel('email'),
  name: 'Mail',
  to: 'a@example.org, b@example.org',
  from: 'observatory@example.org',
  smtpHost: 'mail.example.org',
};

describe('the form of a channel', () => {
  it('says of a refused address which switch lets it through', () => {
    const refusal = 'url: 10.0.0.7 is private; set allow_private if that is meant.';
    expect(saidOfForm(refusal)).toBe(
      'url: 10.0.0.7 is private; switch on “Allow private addresses” below if that is meant.',
    );
  });

  it.each([webhook, { ...webhook, kind: 'slack' as const }, email])(
    'sends a $kind as the gateway takes it',
    (draft) => {
      const { body, errors } = toChannelBody(draft);
      expect(errors).toEqual({});
      expect(alertChannelBodySchema.safeParse(body).error).toBeUndefined();
    },
  );

  it('leaves out what was not typed, so that a secret is made', () => {
    expect(toChannelBody(webhook).body).not.toHaveProperty('secret');
    expect(toChannelBody(email).body).not.toHaveProperty('smtp_password');
  });

  it('names what is missing or plainly wrong', () => {
    expect(Object.keys(toChannelBody(newChannel('webhook')).errors)).toEqual(['name', 'url']);
    expect(toChannelBody({ ...webhook, url: 'hooks.example.org' }).errors).toHaveProperty('url');
    expect(toChannelBody({ ...webhook, secret: 'short' }).errors).toHaveProperty('secret');
    expect(Object.keys(toChannelBody({ ...newChannel('email'), smtpPort: 'smtp' }).errors)).toEqual([
      'name',
      'to',
      'from',
      'smtp_host',
      'smtp_port',
    ]);
  });

  it('reads addresses however they are separated', () => {
    expect(addressesOf(' a@x.org;b@x.org\nc@x.org, ')).toEqual(['a@x.org', 'b@x.org', 'c@x.org']);
  });

  it.each(['webhook', 'slack', 'email'] as const)(
    'leaves everything of a %s as it is but what is typed over it',
    (kind) => {
      const channel = { kind, name: 'Ops', target: 'somewhere', allow_private: true } as AlertChannel;
      const draft = draftOfChannel(channel);
      // Not even its name and the switch, which somebody else may have changed since the form was opened.
      expect(toChannelPatch(draft, channel)).toEqual({ body: {}, errors: {} });
      const typed = { ...draft, url: 'https://x.org', smtpPort: '465', smtpTls: true, allowPrivate: false };
      const { body } = toChannelPatch(typed, channel);
      expect(alertChannelPatchSchema.safeParse(body).error).toBeUndefined();
      expect(body).toEqual({
        allow_private: false,
        ...(kind === 'email' ? { smtp_port: 465, smtp_tls: true } : { url: 'https://x.org' }),
      });
    },
  );

  it('names what is wrong with what is typed over a channel', () => {
    const channel = { kind: 'webhook', name: 'Ops', allow_private: false } as AlertChannel;
    const typed = { ...draftOfChannel(channel), name: ' ', url: 'ftp://x', secret: 'short' };
    const { errors } = toChannelPatch(typed, channel);
    expect(Object.keys(errors)).toEqual(['name', 'url', 'secret']);
  });
});
