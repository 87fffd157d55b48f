/**
 * One question to an `/v1/embeddings` endpoint and what came of it. It retries nothing, follows no redirect, and reads no
 * more than it must. What goes wrong is said in words made here: bodies and libraries' errors may quote texts or keys.
 */
import { Agent, type Dispatcher } from 'undici';
import { type Clock, connectionFailure } from '#kernel';
import { embeddingsUrl } from './embeddings-url.js';
import { parseRetryAfter } from './retry-delay.js';
import { HTTP_EMBEDDER_LIMITS } from './settings.js';

export type Outcome =
  | { kind: 'answered'; body: string }
  /** This input is not accepted: too long, too many, or of a kind the server can't read. */
  | { kind: 'input_refused'; reason: string }
  /** Worth asking again. */
  | { kind: 'later'; reason: string; retryAfterMs: number | null }
  | { kind: 'failed'; reason: string };

export interface EndpointOptions {
  baseUrl: string;
  model: string;
  apiKey: string | null;
  attemptTimeoutMs: number;
  clock: Clock;
}

export class EmbeddingsEndpoint {
  readonly #agent = new Agent({
    connections: HTTP_EMBEDDER_LIMITS.requestsMax,
    connect: { timeout: HTTP_EMBEDDER_LIMITS.connectTimeoutMs },
    // The attempt's own timer is exact; these are not.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #options: EndpointOptions;

  /** @throws Error for a base URL that can't be used */
  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#url = embeddingsUrl(options.baseUrl);
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
    };
  }

  /** Never rejects. @param signal ends it; the outcome no longer matters then */
  async ask(texts: readonly string[], signal: AbortSignal): Promise<Outcome> {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop();
    }, this.#options.attemptTimeoutMs);
    try {
      const response = await this.#agent.request({
        origin: this.#url.origin,
        path: `${this.#url.pathname}${this.#url.search}`,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify({ model: this.#options.model, input: texts, encoding_format: 'float' }),
        signal: attempt.signal,
      });
      return await this.#outcomeOf(response);
    } catch (error) {
      return {
        kind: 'later',
        reason: isLate ? 'it did not answer in time' : wordsFor(error),
        retryAfterMs: null,
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Breaks off what is under way. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #outcomeOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Outcome> {
    if (statusCode === 200) {
      const text = await readBounded(body);
      return text === null
        ? { kind: 'failed', reason: 'it answered with more bytes than are read' }
        : { kind: 'answered', body: text };
    }
    // Small answers are read to their end, so that the connection can be used again.
    void body.dump({ limit: DUMPED_BYTES_MAX }).catch(() => {});
    const reason = `it answered ${statusCode}${HINTS[statusCode] ?? ''}`;
    if (INPUT_REFUSED.has(statusCode)) return { kind: 'input_refused', reason };
    if (!WORTH_A_RETRY.has(statusCode)) return { kind: 'failed', reason };
    const nowMs = this.#options.clock.nowMs();
    return { kind: 'later', reason, retryAfterMs: parseRetryAfter(headers['retry-after'], nowMs) };
  }
}

/** Of an answer that nobody reads; a longer one costs its connection. */
const DUMPED_BYTES_MAX = 64 * 1_024;

const INPUT_REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);
const WORTH_A_RETRY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

const HINTS: Record<number, string> = {
  301: ': it moved; redirects are not followed',
  302: ': it moved; redirects are not followed',
  307: ': it moved; redirects are not followed',
  308: ': it moved; redirects are not followed',
  401: ': the API key is missing or not accepted',
  403: ': the API key may not use it',
  404: ': no such model, or the base URL lacks its version path',
  424: ': it is no embedding model',
};

/** @returns null: more than the bound; the rest is not read */
async function readBounded(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of body) {
    byteCount += chunk.length;
    if (byteCount > HTTP_EMBEDDER_LIMITS.answerBytesMax) {
      body.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function wordsFor(error: unknown): string {
  const { code, words } = connectionFailure(error);
  return words ?? (code === null ? 'the connection failed' : `the connection failed (${code})`);
}
