import { describe, expect, it } from 'vitest';
import { type AlertChannel, alertChannelBodySchema } from '#contracts';
import { addressesOf, draftOfChannel, newChannel, toChannelBody } from './channel-form';

const webhook = { ...newChannel('webhook'), name: 'Ops', url: 'https://hooks.example.org/x' };
const email = {
  ...newChannel('email'),
  name: 'Mail',
  to: 'a@example.org, b@example.org',
  from: 'observatory@example.org',
  smtpHost: 'mail.example.org',
};

describe('the form of a channel', () => {
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
      'smtp_port',
      'from',
      'smtp_host',
    ]);
  });

  it('reads addresses however they are separated', () => {
    expect(addressesOf(' a@x.org;b@x.org\nc@x.org, ')).toEqual(['a@x.org', 'b@x.org', 'c@x.org']);
  });

  it('fills in what a channel tells about itself, and no more', () => {
    const channel = {
      kind: 'email',
      name: 'Mail',
      target: 'a@x.org, b@x.org',
      allow_private: true,
    } as AlertChannel;
    expect(draftOfChannel(channel)).toMatchObject({
      name: 'Mail',
      to: 'a@x.org, b@x.org',
      allowPrivate: true,
      url: '',
    });
  });
});
