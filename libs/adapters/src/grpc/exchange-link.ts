/**
 * The client's end of the one long-lived `Exchange` stream, opened again whenever it breaks.
 *
 *     opening --headers of the sidecar--> ready --broken, or silent for a second when asked--> opening
 *
 * What is on its way when it breaks is rejected at once; what is asked for while it is not ready too: callers have
 * milliseconds, and better uses for them than waiting here.
 */
import { type Client, type ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { SidecarFailure } from '#contracts/embedding';
import { embeddingService, type ReplyFrame, type RequestFrame } from './embedding-proto.js';
import { PendingCalls } from './pending-calls.js';

type Stream = ClientDuplexStream<RequestFrame, ReplyFrame>;

/** Questions ran out of time and nothing at all came back for this long: whoever is there does not work. */
const SILENCE_MS = 1_000;
const REOPEN_FIRST_MS = 20;
const REOPEN_MAX_MS = 250;
/** A stream that was ready for so long broke anew; one that never lasts is opened with growing pauses. */
const LASTED_MS = 1_000;
const CONTENT_TYPE = /^application\/grpc\b/;

export interface ExchangeLinkOptions {
  client: Client;
  pendingMax: number;
  pendingCharsMax: number;
  /** Told of every change. */
  onState: (isReady: boolean) => void;
}

export class ExchangeLink {
  #client: Client;
  readonly #pending: PendingCalls;
  readonly #onState: (isReady: boolean) => void;
  #stream: Stream | null = null;
  #isReady = false;
  #readySinceMs = 0;
  #isClosed = false;
  #reopenMs = REOPEN_FIRST_MS;
  #reopenTimer: NodeJS.Timeout | null = null;
  /** When the first question was sent that nothing has been heard since; null: nothing outstanding. */
  #silentSinceMs: number | null = null;

  constructor({ client, pendingMax, pendingCharsMax, onState }: ExchangeLinkOptions) {
    this.#client = client;
    this.#onState = onState;
    this.#pending = new PendingCalls({
      countMax: pendingMax,
      charsMax: pendingCharsMax,
      onTimeout: () => this.#checkSilence(),
    });
    this.#open();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** @param chars of its text @throws SidecarFailure by rejection, never at once */
  async send(frame: Omit<RequestFrame, 'id'>, chars: number): Promise<ReplyFrame> {
    const stream = this.#stream;
    if (!this.#isReady || stream === null)
      throw new SidecarFailure('unavailable', 'the sidecar is not connected');
    const call = this.#pending.add(chars, frame.timeout_ms);
    if (call === null) throw new SidecarFailure('busy', 'too many calls to the sidecar are on their way');
    this.#silentSinceMs ??= performance.now();
    try {
      stream.write({ ...frame, id: call.id });
    } catch {
      this.#pending.reject(call.id, new SidecarFailure('error', 'the call could not be written'));
    }
    return call.reply;
  }

  /** Of a question that went beside the stream: whoever leaves it unanswered is as silent. @throws what `answer` does */
  async heed<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (this.#isReady) this.#silentSinceMs ??= performance.now();
    try {
      const value = await answer;
      this.#noteHeard();
      return value;
    } catch (error) {
      if (error instanceof SidecarFailure && error.reason === 'timeout') this.#checkSilence();
      else this.#noteHeard();
      throw error;
    }
  }

  /** Opens at once, over another channel, instead of after the pauses of the one before. Not while it is ready. */
  reopen(client: Client): void {
    if (this.#isReady || this.#isClosed) return;
    this.#client = client;
    if (this.#reopenTimer !== null) clearTimeout(this.#reopenTimer);
    const stream = this.#stream;
    this.#open();
    stream?.cancel();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#reopenTimer !== null) clearTimeout(this.#reopenTimer);
    this.#stream?.cancel();
    this.#lose();
  }

  #open(): void {
    if (this.#isClosed) return;
    // Waits in the channel, which connects again by itself, instead of failing while there is nobody.
    const metadata = new Metadata({ waitForReady: true });
    const { path, requestSerialize, responseDeserialize } = embeddingService.Exchange;
    const stream: Stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    );
    this.#stream = stream;
    stream.on('metadata', (headers) => {
      // Whoever else speaks HTTP/2 has headers too.
      if (this.#stream !== stream || !CONTENT_TYPE.test(String(headers.get('content-type')[0]))) return;
      this.#readySinceMs = performance.now();
      this.#setReady(true);
    });
    stream.on('data', (reply: ReplyFrame) => {
      if (this.#stream !== stream) return;
      this.#pending.answer(reply);
      this.#noteHeard();
    });
    const ended = (): void => {
      if (this.#stream === stream) this.#lose();
    };
    stream.on('error', ended);
    stream.on('end', ended);
    stream.on('status', ended);
  }

  /** Also from within events of the stream; the next attempt is always on another turn. */
  #lose(): void {
    this.#stream = null;
    this.#silentSinceMs = null;
    if (this.#isReady && performance.now() - this.#readySinceMs >= LASTED_MS)
      this.#reopenMs = REOPEN_FIRST_MS;
    this.#pending.rejectAll(new SidecarFailure('unavailable', 'the connection to the sidecar broke'));
    if (!this.#isClosed) {
      this.#reopenTimer = setTimeout(() => this.#open(), this.#reopenMs);
      this.#reopenTimer.unref();
      this.#reopenMs = Math.min(2 * this.#reopenMs, REOPEN_MAX_MS);
    }
    // Last: who is told may open it again at once, or close it.
    this.#setReady(false);
  }

  #noteHeard(): void {
    this.#silentSinceMs = this.#pending.size > 0 ? performance.now() : null;
  }

  #checkSilence(): void {
    if (this.#silentSinceMs === null || performance.now() - this.#silentSinceMs < SILENCE_MS) return;
    const stream = this.#stream;
    this.#lose();
    stream?.cancel();
  }

  #setReady(isReady: boolean): void {
    if (this.#isReady === isReady) return;
    this.#isReady = isReady;
    this.#onState(isReady);
  }
}
