/**
 * The embedding sidecar from the gateway's side. Checks and texts go over one stream, which costs a tenth of unary
 * calls; a sidecar that is away is noticed when its socket closes, and is back within half a second of its return.
 */
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  type Embedding,
  type EmbeddingService,
  type LoopAnswer,
  type LoopQuery,
  type SidecarCallOptions,
  type SidecarDescription,
  SidecarFailure,
} from '#contracts/embedding';
import { TIMER_MS_MAX } from '#kernel';
import {
  type DescribeResponse,
  embeddingService,
  MESSAGE_BYTES_MAX,
  type ReplyFrame,
} from './embedding-proto.js';
import { ExchangeLink } from './exchange-link.js';
import { failureOfCall, reasonOfStatus } from './failure-status.js';
import { requireTextFits, toCheckLoopRequest, toDescription, toEmbedding, toLoopAnswer } from './wire.js';

const PENDING_MAX = 1_024;
const PENDING_CHARS_MAX = 16 * 1024 * 1024;
/** Pauses of the channel between attempts to connect; its own defaults would be a second to two minutes. */
const RECONNECT_FIRST_MS = 25;
const RECONNECT_MAX_MS = 250;

export interface SidecarClientOptions {
  /** Absolute. */
  socketPath: string;
  /** Calls waiting for a reply; more are rejected as `busy`. */
  pendingMax?: number;
  /** The sidecar came or went. */
  onState?: (isReady: boolean) => void;
}

/** Connects at once and for as long as it is not closed, which ends what would otherwise keep a process alive. */
export class SidecarClient implements EmbeddingService {
  readonly #socketPath: string;
  readonly #link: ExchangeLink;
  #client: Client;
  #isClosed = false;

  constructor({ socketPath, pendingMax = PENDING_MAX, onState = () => {} }: SidecarClientOptions) {
    this.#socketPath = socketPath;
    this.#client = openClient(socketPath);
    this.#link = new ExchangeLink({
      client: this.#client,
      pendingMax,
      pendingCharsMax: PENDING_CHARS_MAX,
      onState,
    });
  }

  get isReady(): boolean {
    return this.#link.isReady;
  }

  async checkLoop(query: LoopQuery, options: SidecarCallOptions): Promise<LoopAnswer> {
    requireTextFits(query.prompt);
    const frame = { ...frameHead(options), check_loop: toCheckLoopRequest(query) };
    const reply = await this.#link.send(frame, query.prompt.length);
    if (reply.check_loop) return toLoopAnswer(reply.check_loop);
    throw failureOfReply(reply);
  }

  async embed(text: string, options: SidecarCallOptions): Promise<Embedding & { model_id: string }> {
    requireTextFits(text);
    const reply = await this.#link.send({ ...frameHead(options), embed: { text } }, text.length);
    if (reply.embed) return toEmbedding(reply.embed);
    throw failureOfReply(reply);
  }

  async describe({ timeoutMs, traceParent }: SidecarCallOptions): Promise<SidecarDescription> {
    const metadata = new Metadata();
    if (traceParent !== null) metadata.set('traceparent', traceParent);
    const { path, requestSerialize, responseDeserialize } = embeddingService.Describe;
    const deadline = Date.now() + timeoutMs;
    const answer = new Promise<DescribeResponse>((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        {},
        metadata,
        { deadline },
        (error, value) => (value === undefined ? reject(failureOfCall(error ?? {})) : resolve(value)),
      );
    }).catch((error: unknown) => {
      // A closed channel throws an error of its own.
      throw error instanceof SidecarFailure
        ? error
        : new SidecarFailure('unavailable', 'the sidecar is not connected');
    });
    return toDescription(await this.#link.heed(answer));
  }

  /** For who knows that the sidecar serves now: does not wait for the next attempt. Without effect while ready. */
  connectNow(): void {
    if (this.isReady || this.#isClosed) return;
    const before = this.#client;
    this.#client = openClient(this.#socketPath);
    this.#link.reopen(this.#client);
    before.close();
  }

  /** What is on its way is rejected as `unavailable`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#link.close();
    this.#client.close();
  }
}

const openClient = (socketPath: string): Client =>
  new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': RECONNECT_FIRST_MS,
    'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    // Two clients of one process share nothing, least of all each other's pauses.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    'grpc.service_config_disable_resolution': 1,
  });

const frameHead = ({ timeoutMs, traceParent }: SidecarCallOptions) => ({
  // On the wire 0 would mean for ever.
  timeout_ms: Math.min(Math.max(1, Math.ceil(timeoutMs)), TIMER_MS_MAX),
  traceparent: traceParent ?? '',
});

function failureOfReply({ failure }: ReplyFrame): SidecarFailure {
  if (!failure) return new SidecarFailure('error', 'the sidecar sent a reply without a body');
  return new SidecarFailure(reasonOfStatus(failure.code), failure.message);
}
