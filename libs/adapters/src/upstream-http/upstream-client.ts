/**
 * One HTTP exchange with an upstream, as it happens: head, chunks, end. It buffers nothing, follows no redirect,
 * retries nothing and knows no vendor. Built on undici's dispatcher because its callbacks cost a third of `fetch`.
 */
import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { type ForwardProxy, isMetadataAddress } from '#kernel';
import { throughProxy } from './through-proxy.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** An answer whose last event has come ends within it, or the upstream will not end it. */
const END_WITHIN_MS = 1_000;
/** A body above it is written in pieces of it; below it one write is cheaper, and sockets hold that much. */
const BODY_PIECE_BYTES = 128 * 1024;

export interface UpstreamClientOptions {
  /** `send` to first byte of the answer, the wait for a socket included. A model may think for minutes. */
  headersTimeoutMs: number;
  /** Between two chunks of the answer. */
  idleTimeoutMs: number;
  /** Sockets to one origin; more calls wait for one. */
  connectionsMax: number;
  /** What a call by TLS leaves through; null: it goes straight. */
  forwardProxy?: ForwardProxy | null;
  /** As `node:dns` has it, which it is unless told. */
  lookup?: LookupFunction;
}

export interface UpstreamRequest {
  /** Scheme, host and port. */
  origin: string;
  /** With its query. */
  path: string;
  method: string;
  /** Name, value, name, value ... Without the body's length. */
  headers: string[];
  /** In pieces, one after another; none: it has no body. Taken over, and emptied while it is sent. */
  body: Buffer[];
}

export type UpstreamFailure = 'unreachable' | 'timeout' | 'broken';

/** Calls come in this order: sent, head, chunks, then end or failed; failed alone if it was not sent. None after an abort. */
export interface UpstreamSink {
  /** A connection is there, and the request leaves on it. */
  sent(): void;
  /** @param headers name, value, name, value ... as they came; @param reason phrase of the status line, often "" */
  head(status: number, headers: string[], reason: string): void;
  /** False: no more until `resume`. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  /** @param code of the system or of undici, such as ECONNREFUSED; holds no address and no credentials */
  failed(failure: UpstreamFailure, code: string): void;
}

export class UpstreamClient {
  readonly #agent: Agent;
  readonly #headersTimeoutMs: number;

  constructor({ headersTimeoutMs, idleTimeoutMs, connectionsMax, ...way }: UpstreamClientOptions) {
    this.#headersTimeoutMs = headersTimeoutMs;
    this.#agent = new Agent({
      connections: connectionsMax,
      connect: connectorOf(way.lookup ?? (lookup as LookupFunction), way.forwardProxy ?? null),
      // Undici's would begin with the socket; the exchange has its own.
      headersTimeout: 0,
      bodyTimeout: idleTimeoutMs,
      allowH2: false,
    });
  }

  /** Starts at once; the exchange reports to `sink`. Never throws. */
  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamExchange {
    const exchange = new UpstreamExchange(sink, this.#headersTimeoutMs);
    const { body, headers } = request;
    const byteCount = body.reduce((sum, piece) => sum + piece.length, 0);
    const isLarge = byteCount > BODY_PIECE_BYTES;
    this.#agent.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: request.method as Dispatcher.HttpMethod,
        headers: isLarge ? [...headers, 'content-length', String(byteCount)] : headers,
        body: isLarge ? streamOf(body) : inOne(body),
      },
      exchange,
    );
    return exchange;
  }

  /** Breaks off what is under way. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/**
 * The dispatcher's handler, and what the caller holds of the exchange. It may be over before undici has let go of the
 * request, which cannot be taken back from it while its socket still connects:
 *
 *     sent, head, ... end, failed or aborted     over and let go
 *     aborted or late before there is a socket   over; let go when the attempt to connect has ended
 *     its end is not waited for (`letEnd`)       over; let go when that has come, or a second later
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  readonly #sink: UpstreamSink;
  #abort: ((reason?: Error) => void) | null = null;
  #resume: (() => void) | null = null;
  #isOver = false;
  /** Null: the request is let go. */
  #awaitingLetGo: (() => void)[] | null = [];
  readonly #headersTimer: NodeJS.Timeout;

  constructor(sink: UpstreamSink, headersTimeoutMs: number) {
    this.#sink = sink;
    this.#headersTimer = setTimeout(() => this.#expire(), headersTimeoutMs).unref();
  }

  /** The upstream's connection is closed: it stops generating. Nothing is reported afterwards. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#headersTimer);
    this.#abort?.(new Error('aborted'));
  }

  /**
   * Nothing is reported any more of an answer that is complete but for its end: if that comes soon, the connection is the next
   * call's, and if not, it is closed.
   */
  letEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const timer = setTimeout(() => this.#abort?.(new Error('aborted')), END_WITHIN_MS).unref();
    this.whenLetGo(() => clearTimeout(timer));
    this.resume();
  }

  /** False: the request's body is still in memory, and a socket is its or will be. */
  get isLetGo(): boolean {
    return this.#awaitingLetGo === null;
  }

  /** Runs `then` once, as soon as the request is let go: at once if it is. */
  whenLetGo(then: () => void): void {
    if (this.#awaitingLetGo === null) then();
    else this.#awaitingLetGo.push(then);
  }

  /**
   * After a chunk that answered false. A moment later: Node says `drain` to an answer also while another call's, which is
   * queued behind it, comes in, and within one parser undici can resume no other.
   */
  resume(): void {
    queueMicrotask(() => this.#resume?.());
  }

  onConnect(abort: (reason?: Error) => void): void {
    // Aborted while it waited for a socket.
    if (this.#isOver) {
      abort(new Error('aborted'));
      return;
    }
    this.#abort = abort;
    this.#sink.sent();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, reason: string): boolean {
    // 1xx come before the answer proper.
    if (status < 200) return true;
    this.#resume = resume;
    clearTimeout(this.#headersTimer);
    if (!this.#isOver) {
      this.#sink.head(
        status,
        headers.map((part) => part.toString('latin1')),
        reason,
      );
      // The length that it names is not its own, and undici takes the answer for one cut short.
      if (status === 204 || status === 304) this.#finish();
    }
    return true;
  }

  onData(bytes: Buffer): boolean {
    return this.#isOver ? true : this.#sink.chunk(bytes);
  }

  onComplete(): void {
    this.#letGo();
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.end();
  }

  /** Undici's last word where there is no answer's end, an abort included. */
  onError(error: Error): void {
    this.#letGo();
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#headersTimer);
    const code = codeOf(error);
    this.#sink.failed(this.#abort === null ? beforeSent(code) : afterSent(code), code);
  }

  #letGo(): void {
    const awaiting = this.#awaitingLetGo;
    this.#awaitingLetGo = null;
    if (awaiting !== null) for (const then of awaiting) then();
  }

  #expire(): void {
    this.abort();
    this.#sink.failed('timeout', 'UND_ERR_HEADERS_TIMEOUT');
  }
}

/** Of a `100 Continue` that no request of ours asks for: undici takes none, and has no name for it. */
export const UNASKED_CONTINUE = 'UNASKED_CONTINUE';

/** Undici's of an answer that is no HTTP has a name alone. */
const codeOf = (error: NodeJS.ErrnoException): string =>
  error.message === 'bad response' ? UNASKED_CONTINUE : (error.code ?? error.name);

/**
 * Connects to no metadata service, whether it is named by its address or by a name that resolves to one; names that a forward proxy
 * resolves are its own to refuse.
 */
function connectorOf(resolve: LookupFunction, proxy: ForwardProxy | null): buildConnector.connector {
  const checked: LookupFunction = (hostname, options, callback) =>
    resolve(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const isRefused = error === null && addresses.some(isMetadataAddress);
      callback(isRefused ? addressRefused() : error, found, family);
    });
  const straight = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, lookup: checked });
  const connect = throughProxy(proxy, straight, CONNECT_TIMEOUT_MS);
  return (options, callback) =>
    isMetadataAddress(options.hostname)
      ? callback(addressRefused(), null)
      : connect(options, (...[error, socket]) =>
          error === null ? callback(null, endingWithAborts(socket)) : callback(error, null),
        );
}

/**
 * Undici ends an aborted request's connection for a reason that it takes for no failure, keeps the request as the next one, and
 * connects anew before it looks at it. Without that reason the request ends with its connection.
 */
function endingWithAborts(socket: Socket): Socket {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (reason) => destroy(isAbort(reason) ? undefined : reason);
  return socket;
}

const isAbort = (reason: Error | undefined): boolean =>
  reason instanceof errors.InformationalError && reason.message === 'aborted';

const addressRefused = (): Error =>
  Object.assign(new Error('link-local and metadata addresses are no upstreams'), { code: 'ADDRESS_REFUSED' });

/**
 * Undici takes a buffer for sent as soon as the socket has it queued, and gives the next call a connection on which an upstream
 * that answered early never reads the rest. Of a stream it knows that it is not through, and closes the connection.
 */
function streamOf(body: Buffer[]): Readable {
  const pieces = inPieces(body);
  return new Readable({
    read() {
      this.push(pieces.next().value ?? null);
    },
  });
}

/**
 * Each of them is let go of when it is sent: buffers that outlive a few collections are freed by those of the whole heap alone,
 * and bring them about.
 */
function* inPieces(body: Buffer[]): Generator<Buffer, undefined> {
  for (let piece = body.shift(); piece !== undefined; piece = body.shift())
    for (let from = 0; from < piece.length; from += BODY_PIECE_BYTES)
      yield piece.subarray(from, from + BODY_PIECE_BYTES);
}

const inOne = (body: readonly Buffer[]): Buffer | null =>
  body.length > 1 ? Buffer.concat(body) : (body[0] ?? null);

const TIMEOUTS: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const beforeSent = (code: string): UpstreamFailure => (TIMEOUTS.has(code) ? 'timeout' : 'unreachable');
const afterSent = (code: string): UpstreamFailure => (TIMEOUTS.has(code) ? 'timeout' : 'broken');
