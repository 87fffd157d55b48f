/**
 * One mail over one connection of its own. The server's name is resolved here, checked, and connected to by the very
 * address that was checked; the certificate is still verified against the name.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { isPublicAddress, type Mail, type SendOutcome, sendFailed } from '#domain/alerts';
import { bareAddress, isMetadataAddress, withDeadline } from '#kernel';

const SMTP_LIMITS = {
  /** Addresses of one name that are tried. */
  addressesMax: 3,
  connectTimeoutMs: 8_000,
  greetingTimeoutMs: 8_000,
  /** Without a byte in either direction. */
  idleTimeoutMs: 15_000,
  /** For the whole delivery, name and further addresses included: a server that sends a byte now and then is never idle. */
  timeoutMs: 30_000,
} as const;

export interface SmtpDelivery {
  /** A name or an address, which may stand in brackets. */
  host: string;
  port: number;
  /** TLS from the first byte; else STARTTLS where it is offered. */
  tls: boolean;
  user: string | null;
  password: string | null;
  from: string;
  to: readonly string[];
  mail: Mail;
  /** Becomes the Message-ID, so that a mail sent twice can be told. */
  deliveryId: string;
  allowPrivate: boolean;
  /** For the whole delivery; `SMTP_LIMITS.timeoutMs` unless given. */
  timeoutMs?: number;
  /** `SMTP_LIMITS.greetingTimeoutMs` unless given. */
  greetingTimeoutMs?: number;
}

/** Every address of a host name. May go on after the deadline, unheard. */
export type ResolveHost = (hostname: string, deadline: AbortSignal) => Promise<readonly LookupAddress[]>;

/** As nodemailer sets it on its errors. */
interface MailError {
  code?: string;
  message?: string;
  responseCode?: number;
}

const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNECTION',
  'ESOCKET',
  'EDNS',
  'ETIMEDOUT',
  'ECONNREFUSED',
]);

export class SmtpSender {
  readonly #resolve: ResolveHost;

  constructor(options: { resolve: ResolveHost }) {
    this.#resolve = options.resolve;
  }

  /** Never rejects. Taken means: by the server, for at least one recipient. */
  async send(delivery: SmtpDelivery): Promise<SendOutcome> {
    const deadline = AbortSignal.timeout(delivery.timeoutMs ?? SMTP_LIMITS.timeoutMs);
    let addresses: readonly LookupAddress[];
    try {
      const bare = bareAddress(delivery.host);
      const family = isIP(bare);
      addresses =
        family === 0
          ? await withDeadline(this.#resolve(delivery.host, deadline), deadline)
          : [{ address: bare, family }];
    } catch {
      return sendFailed('the name of the mail server could not be resolved', { retryable: true });
    }
    const allowed = addresses.filter(({ address }) =>
      delivery.allowPrivate ? !isMetadataAddress(address) : isPublicAddress(address),
    );
    if (allowed.length === 0) {
      return sendFailed(
        delivery.allowPrivate
          ? 'refused: the address of the mail server is link-local or a metadata service, which no channel may reach'
          : 'refused: the address of the mail server is private, loopback, link-local or reserved; allow private addresses for this channel if that is meant',
        { retryable: false },
      );
    }
    let outcome = sendFailed('the mail server has no address', { retryable: true });
    for (const { address } of allowed.slice(0, SMTP_LIMITS.addressesMax)) {
      const attempt = await sendTo(address, delivery, deadline);
      if (attempt.outcome.ok || !attempt.isUnreached) return attempt.outcome;
      outcome = attempt.outcome;
    }
    return outcome;
  }
}

async function sendTo(
  address: string,
  { host, port, tls, user, password, from, to, mail, deliveryId, greetingTimeoutMs }: SmtpDelivery,
  deadline: AbortSignal,
): Promise<{ outcome: SendOutcome; isUnreached: boolean }> {
  const transport = createTransport({
    host: address,
    port,
    secure: tls,
    // A password never crosses the public internet in the clear.
    requireTLS: user !== null && !tls && isPublicAddress(address),
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    tls: isIP(bareAddress(host)) === 0 ? { servername: host } : {},
    connectionTimeout: SMTP_LIMITS.connectTimeoutMs,
    greetingTimeout: greetingTimeoutMs ?? SMTP_LIMITS.greetingTimeoutMs,
    socketTimeout: SMTP_LIMITS.idleTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // A constant of its own: the declarations do not know `signal`, which closes the connection; `transport.close` does not.
  const message = {
    from,
    to: [...to],
    subject: mail.subject,
    text: mail.text,
    messageId: `<${deliveryId}@observatory.invalid>`,
    headers: { 'X-Observatory-Delivery': deliveryId, 'Auto-Submitted': 'auto-generated' },
    signal: deadline,
  };
  try {
    const { rejected } = await transport.sendMail(message);
    const outcome: SendOutcome =
      rejected.length === 0
        ? { ok: true }
        : { ok: true, shortfall: `the mail server refused these recipients: ${rejected.join(', ')}` };
    return { outcome, isUnreached: false };
  } catch (error) {
    return judge(error as MailError);
  } finally {
    transport.close();
  }
}

/** In our own words: a server's may repeat what it was sent. */
function judge({ code, responseCode, message = '' }: MailError): {
  outcome: SendOutcome;
  isUnreached: boolean;
} {
  const said = responseCode === undefined ? '' : ` (${responseCode})`;
  const retryable = responseCode === undefined || responseCode < 500;
  const fail = (reason: string, isRetryable = retryable) => ({
    outcome: sendFailed(reason, { retryable: isRetryable }),
    isUnreached: false,
  });
  if (code === 'EABORT') return fail('the mail server did not take the message in time');
  if (code === 'EAUTH')
    return fail(`the mail server refused the login${said}`, responseCode !== undefined && retryable);
  if (code === 'EENVELOPE') return fail(`the mail server refused the sender or the recipients${said}`);
  if (code === 'EMESSAGE' || code === 'ESTREAM') return fail(`the mail server refused the message${said}`);
  if (code === 'ETLS') return fail('the mail server offers no safe TLS connection');
  // Words are read for these, and not repeated.
  if (code === 'ESOCKET' && /certificate|altname/i.test(message))
    return fail('the TLS certificate of the mail server cannot be verified');
  if (code === 'ESOCKET' && /SSL routines/.test(message))
    return fail('the mail server speaks no TLS from the first byte: the channel is to use STARTTLS');
  if (code === 'ETIMEDOUT' && /greeting/i.test(message)) {
    const reason =
      'the mail server sent no greeting: if it speaks TLS from the first byte, as at port 465, the channel is to do so too';
    return { outcome: sendFailed(reason, { retryable: true }), isUnreached: true };
  }
  if (responseCode === undefined && UNREACHED.has(code ?? '')) {
    const outcome = sendFailed(`the mail server could not be reached (${code})`, { retryable: true });
    return { outcome, isUnreached: true };
  }
  return fail(`the mail server did not take the message${said}`);
}
