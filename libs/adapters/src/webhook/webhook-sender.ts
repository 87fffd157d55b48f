/**
 * One POST to an address that a person typed in, made so that it cannot be turned against the network it starts from:
 * each address is checked after resolution and connected to as checked, redirects are followed by hand and checked the
 * same way, little of the answer is read, and none of it is passed on.
 */
import { Agent, request } from 'undici';
import { isPublicAddress, type SendOutcome, sendFailed } from '#domain/alerts';
import { allowedAddresses, type IsPublic, type Resolve } from './checked-lookup.js';
import { failureOf } from './failure-reason.js';

const WEBHOOK_LIMITS = {
  redirectsMax: 3,
  /** Read and thrown away, so that a receiver can end its answer in peace. */
  answerBytesMax: 16 * 1_024,
  timeoutMs: 10_000,
} as const;

export interface WebhookDelivery {
  url: string;
  body: string;
  headers: Readonly<Record<string, string>>;
  /** Private and loopback addresses too. */
  allowPrivate: boolean;
  /** For the whole delivery, redirects included. */
  timeoutMs?: number;
}

/** Where it goes on, or how it ended. */
type Hop = { location: URL } | { outcome: SendOutcome };

export class WebhookSender {
  readonly #resolve: Resolve;
  readonly #isPublic: IsPublic;

  constructor(options: { resolve: Resolve; isPublic?: IsPublic }) {
    this.#resolve = options.resolve;
    this.#isPublic = options.isPublic ?? isPublicAddress;
  }

  /** Never rejects. Taken is any 2xx. */
  async send(delivery: WebhookDelivery): Promise<SendOutcome> {
    const timeoutMs = delivery.timeoutMs ?? WEBHOOK_LIMITS.timeoutMs;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      let url = new URL(delivery.url);
      for (let hopCount = 0; hopCount <= WEBHOOK_LIMITS.redirectsMax; hopCount += 1) {
        const refusal = refusedUrl(url);
        if (refusal !== null) return sendFailed(refusal, { retryable: false });
        const hop = await this.#post(url, delivery, deadline);
        if ('outcome' in hop) return hop.outcome;
        if (url.protocol === 'https:' && hop.location.protocol !== 'https:')
          return sendFailed('it redirects from https to http, which is refused', { retryable: false });
        url = hop.location;
      }
      return sendFailed(`it redirects more than ${WEBHOOK_LIMITS.redirectsMax} times`, { retryable: false });
    } catch (error) {
      return failureOf(error, timeoutMs);
    }
  }

  async #post(url: URL, delivery: WebhookDelivery, deadline: AbortSignal): Promise<Hop> {
    const { allowPrivate } = delivery;
    const addresses = await allowedAddresses(url.hostname, {
      resolve: this.#resolve,
      isPublic: this.#isPublic,
      allowPrivate,
      deadline,
    });
    const agent = new Agent({
      connect: {
        // Called for names only; an address in the URL was checked above and is connected to as it stands.
        lookup: (_hostname, { all }, done) => {
          const [first] = addresses;
          if (all) done(null, addresses);
          else done(null, first?.address ?? '', first?.family ?? 4);
        },
      },
      pipelining: 0,
    });
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...delivery.headers },
        body: delivery.body,
        signal: deadline,
      });
      await body.dump({ limit: WEBHOOK_LIMITS.answerBytesMax, signal: deadline }).catch(() => {});
      return judge(statusCode, url, headers);
    } finally {
      void agent.destroy();
    }
  }
}

function judge(
  status: number,
  url: URL,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Hop {
  if (status >= 200 && status < 300) return { outcome: { ok: true } };
  if (status === 307 || status === 308) {
    const location = String(headers.location ?? '');
    if (location !== '' && URL.canParse(location, url.href)) return { location: new URL(location, url.href) };
    return { outcome: sendFailed(`it answers ${status} without saying where to`, { retryable: false }) };
  }
  if (status >= 300 && status < 400) {
    const reason = `it answers ${status}: that redirect would drop the message; give its final address`;
    return { outcome: sendFailed(reason, { retryable: false }) };
  }
  const retryable = status >= 500 || status === 408 || status === 425 || status === 429;
  const retryAfterMs = retryable ? retryAfterOf(headers['retry-after'], headers.date) : null;
  return { outcome: sendFailed(`it answers ${status}`, { retryable, retryAfterMs }) };
}

/** Seconds, or a date by the clock of whoever gives it: `date` is what that says now. */
function retryAfterOf(
  value: string | string[] | undefined,
  date: string | string[] | undefined,
): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d{1,12}$/.test(value)) return Number(value) * 1_000;
  const ms = Date.parse(value) - Date.parse(String(date));
  return value.endsWith('GMT') && !Number.isNaN(ms) ? Math.max(0, ms) : null;
}

function refusedUrl(url: URL): string | null {
  if (!/^https?:$/.test(url.protocol)) return 'only http and https are spoken';
  if (url.username !== '' || url.password !== '') return 'a user or password in the address is not sent';
  return null;
}
