/** The mail sender against a real SMTP server on loopback. */
import { type AddressInfo, createServer } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { type SmtpDelivery, SmtpSender } from '#adapters/smtp';

const servers: SMTPServer[] = [];

async function startServer(options: SMTPServerOptions = {}) {
  const mails: { to: string[]; text: string; user: unknown }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'right-password' ? done(null, { user: username }) : done(new Error('canary-in-answer')),
    onData: async (stream, session, done) => {
      let text = '';
      for await (const chunk of stream) text += chunk;
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text, user: session.user });
      done();
    },
    ...options,
  });
  server.on('error', () => {});
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { mails, port: (server.server.address() as AddressInfo).port };
}

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(resolve));
});

const delivery = (port: number, changes: Partial<SmtpDelivery> = {}): SmtpDelivery => ({
  host: '127.0.0.1',
  port,
  tls: false,
  user: null,
  password: null,
  from: 'observatory@example.org',
  to: ['a@example.org', 'b@example.org'],
  mail: { subject: 'Agent "grüß" stopped', text: 'What happened.\n' },
  deliveryId: 'dlv_1',
  allowPrivate: true,
  ...changes,
});
const sender = new SmtpSender({ resolve: () => Promise.reject(new Error('no name is used')) });

describe('a mail', () => {
  it('reaches its recipients with subject, text and an id of its own', async () => {
    const { mails, port } = await startServer();
    expect(await sender.send(delivery(port))).toEqual({ ok: true });
    expect(mails[0]?.to).toEqual(['a@example.org', 'b@example.org']);
    expect(mails[0]?.text).toContain('Message-ID: <dlv_1@observatory.invalid>');
    expect(mails[0]?.text).toContain('What happened.');
  });

  it('that is taken for some of its recipients names the others', async () => {
    const { mails, port } = await startServer({
      onRcptTo: ({ address }, _session, done) => done(address[0] === 'b' ? new Error('canary') : null),
    });
    expect(await sender.send(delivery(port))).toEqual({
      ok: true,
      shortfall: 'the mail server refused these recipients: b@example.org',
    });
    expect(mails[0]?.to).toEqual(['a@example.org']);
  });

  it('goes to an address in brackets, as IPv6 has them in a URL, without a name being looked for', async () => {
    const { mails, port } = await startServer();
    for (const host of ['[127.0.0.1]', '[::ffff:127.0.0.1]'])
      expect(await sender.send(delivery(port, { host })), host).toEqual({ ok: true });
    expect(mails).toHaveLength(2);
  });

  it('is sent under the login that was given', async () => {
    const { mails, port } = await startServer();
    const login = { user: 'observatory', password: 'right-password' };
    expect(await sender.send(delivery(port, login))).toEqual({ ok: true });
    expect(mails[0]?.user).toBe('observatory');
  });

  it('to a private address is refused unless allowed, also through a name', async () => {
    const { mails, port } = await startServer();
    const refused = { ok: false, retryable: false, reason: expect.stringMatching(/^refused: .*private/) };
    expect(await sender.send(delivery(port, { allowPrivate: false }))).toMatchObject(refused);
    const named = new SmtpSender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await named.send(delivery(port, { host: 'mail.test', allowPrivate: false }))).toMatchObject(
      refused,
    );
    expect(mails).toEqual([]);
  });

  it('never goes to metadata or a link-local address, also where it may go inside', async () => {
    const named = new SmtpSender({ resolve: async () => [{ address: '169.254.169.254', family: 4 }] });
    const refused = { ok: false, retryable: false, reason: expect.stringMatching(/^refused: .*metadata/) };
    for (const host of ['mail.test', '169.254.169.254', 'fe80::1'])
      expect(await named.send(delivery(25, { host }))).toMatchObject(refused);
  });

  it('connects to the address that was resolved first, asked once', async () => {
    const { mails, port } = await startServer();
    let count = 0;
    const named = new SmtpSender({
      resolve: async () => [{ address: count++ === 0 ? '127.0.0.1' : '127.0.0.9', family: 4 }],
    });
    expect(await named.send(delivery(port, { host: 'mail.test' }))).toEqual({ ok: true });
    expect([count, mails.length]).toEqual([1, 1]);
  });

  it('goes on to the next address of a name where nobody listens, and to none where the server refused it', async () => {
    const named = (...addresses: string[]) =>
      new SmtpSender({ resolve: async () => addresses.map((address) => ({ address, family: 4 })) });
    const { mails, port } = await startServer();
    const silent = ['127.0.0.9', '127.0.0.8'];
    const sent = delivery(port, { host: 'mail.test' });
    expect(await named(...silent, '127.0.0.1').send(sent)).toEqual({ ok: true });
    expect(mails).toHaveLength(1);
    let askedCount = 0;
    const refusing = await startServer({
      onMailFrom: (_address, _session, done) => {
        askedCount += 1;
        done(new Error('no'));
      },
    });
    await named('127.0.0.1', '127.0.0.1').send(delivery(refusing.port, { host: 'mail.test' }));
    expect(askedCount).toBe(1);
  });

  it('is not tried again where the login is wrong, and the reason holds neither password nor answer', async () => {
    const { port } = await startServer();
    const login = { user: 'observatory', password: 'canary-password' };
    const outcome = await sender.send(delivery(port, login));
    expect(outcome).toMatchObject({
      ok: false,
      retryable: false,
      reason: 'the mail server refused the login (535)',
    });
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });

  it('is tried again where the server says later, and not where it says never', async () => {
    const answering = (responseCode: number) => ({
      onRcptTo: (_address: unknown, _session: unknown, done: (error: Error) => void) =>
        done(Object.assign(new Error('no'), { responseCode })),
    });
    const later = await startServer(answering(450));
    expect(await sender.send(delivery(later.port))).toMatchObject({ retryable: true });
    const never = await startServer(answering(550));
    expect(await sender.send(delivery(never.port))).toMatchObject({
      retryable: false,
      reason: 'the mail server refused the sender or the recipients (550)',
    });
  });

  it('is tried again where nobody listens', async () => {
    const { port } = await startServer();
    for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(resolve));
    expect(await sender.send(delivery(port))).toMatchObject({
      retryable: true,
      reason: expect.stringContaining('could not be reached'),
    });
  });

  it('with TLS refuses a certificate that nobody vouches for', async () => {
    const { mails, port } = await startServer({ secure: true, disabledCommands: [] });
    expect(await sender.send(delivery(port, { tls: true }))).toMatchObject({
      ok: false,
      reason: 'the TLS certificate of the mail server cannot be verified',
    });
    expect(mails).toEqual([]);
  });

  it('says which way to TLS a server does not go', async () => {
    const plain = await startServer();
    expect(await sender.send(delivery(plain.port, { tls: true }))).toMatchObject({
      ok: false,
      reason: 'the mail server speaks no TLS from the first byte: the channel is to use STARTTLS',
    });
    // It waits for the client's hello, and the client for its greeting.
    const secure = await startServer({ secure: true, disabledCommands: [] });
    expect(await sender.send(delivery(secure.port, { greetingTimeoutMs: 300 }))).toMatchObject({
      ok: false,
      retryable: true,
      reason: expect.stringMatching(/sent no greeting: if it speaks TLS from the first byte/),
    });
  });

  it('is given up and tried again where the server never falls silent and never ends, and the connection is closed', async () => {
    let closed = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const dripping = createServer((socket) => {
      socket.write('220 ready\r\n');
      socket.on('error', () => {});
      socket.once('data', () => {
        const drip = setInterval(() => socket.write('250-still thinking\r\n'), 10);
        socket.once('close', () => {
          clearInterval(drip);
          closed();
        });
      });
    });
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
    const { port } = dripping.address() as AddressInfo;
    expect(await sender.send(delivery(port, { timeoutMs: 300 }))).toMatchObject({
      ok: false,
      retryable: true,
      reason: 'the mail server did not take the message in time',
    });
    await isClosed;
    await new Promise<void>((resolve) => dripping.close(() => resolve()));
  });

  it('is given up and tried again where the name of the server is never answered for', async () => {
    const named = new SmtpSender({ resolve: () => new Promise(() => {}) });
    expect(await named.send(delivery(25, { host: 'mail.test', timeoutMs: 50 }))).toMatchObject({
      ok: false,
      retryable: true,
      reason: 'the name of the mail server could not be resolved',
    });
  });
});
