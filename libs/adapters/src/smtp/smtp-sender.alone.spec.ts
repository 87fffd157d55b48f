import { createTransport } from 'nodemailer';
import { expect, it, vi } from 'vitest';
import { type SmtpDelivery, SmtpSender } from './smtp-sender.js';

vi.mock('nodemailer', () => ({
  createTransport: vi.fn(() => ({ sendMail: async () => ({ rejected: [] }), close: () => {} })),
}));

/** What is asked of the connection. */
const askedOf = async (changes: Partial<SmtpDelivery>) => {
  await new SmtpSender({ resolve: async () => [{ address: '8.8.8.8', family: 4 }] }).send({
    host: 'mail.test',
    port: 587,
    tls: false,
    user: 'observatory',
    password: 'secret',
    from: 'observatory@example.org',
    to: ['a@example.org'],
    mail: { subject: '', text: '' },
    deliveryId: 'dlv_1',
    allowPrivate: true,
    ...changes,
  });
  return vi.mocked(createTransport).mock.lastCall?.[0];
};

it('sends a password over the internet under TLS alone, and whatever it sends by the name whose certificate it checks', async () => {
  expect(await askedOf({})).toMatchObject({
    host: '8.8.8.8',
    requireTLS: true,
    tls: { servername: 'mail.test' },
  });
  expect(await askedOf({ tls: true })).toMatchObject({ secure: true });
  expect(await askedOf({ host: '10.0.0.1' })).toMatchObject({ host: '10.0.0.1', requireTLS: false });
});
