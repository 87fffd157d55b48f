/**
 * The embedding service on a Unix socket, beside the standard health service. The socket appears when the caller
 * has warmed up and calls this, open to its own user alone from its first moment, and goes away with the server.
 * What the calls mean is the handlers' affair.
 */
import { chmodSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import {
  type Embedding,
  type LoopAnswer,
  type LoopQuery,
  type SidecarDescription,
  SidecarFailure,
} from '#contracts/embedding';
import {
  EMBEDDING_SERVICE,
  embeddingService,
  MESSAGE_BYTES_MAX,
  type ReplyFrame,
  type RequestFrame,
} from './embedding-proto.js';
import { statusOfReason, toSidecarFailure } from './failure-status.js';
import { type ExchangeCall, ExchangeStream } from './serve-exchange.js';
import { cannotBind, claimSocketPath } from './socket-file.js';
import {
  requireTextFits,
  toCheckLoopResponse,
  toDescribeResponse,
  toEmbedResponse,
  toLoopQuery,
} from './wire.js';

/** Exchanges and unary calls at once on one connection. */
const CALLS_PER_CONNECTION_MAX = 256;
const DRAIN_TIMEOUT_MS = 2_000;

export interface CallContext {
  /** The caller stops waiting after this; absent: never. */
  timeoutMs?: number | undefined;
  /** W3C traceparent as the caller sent it, unchecked. */
  traceParent: string | null;
}

/** Failures of the contracts reach the caller as their status; any other error as INTERNAL, without its text. */
export interface EmbeddingHandlers {
  checkLoop(query: LoopQuery, context: CallContext): Promise<LoopAnswer>;
  embed(text: string, context: CallContext): Promise<Embedding & { model_id: string }>;
  describe(): SidecarDescription;
}

export interface ServeEmbeddingOptions {
  handlers: EmbeddingHandlers;
  /** Relative to the working directory, or absolute. */
  socketPath: string;
  /** Calls on their way get this long at the end. */
  drainTimeoutMs?: number;
}

export interface EmbeddingServer {
  readonly socketPath: string;
  /** What the health service says of the embedding service; the server itself ("") stays in service. */
  setServing(isServing: boolean): void;
  /** Says NOT_SERVING, answers what has begun, removes the socket. Never rejects. */
  close(): Promise<void>;
}

/** Bound and serving when it resolves. @throws SocketPathFailure, or the system's error of the bind */
export async function serveEmbedding(options: ServeEmbeddingOptions): Promise<EmbeddingServer> {
  const { handlers, drainTimeoutMs = DRAIN_TIMEOUT_MS } = options;
  const socketPath = resolve(options.socketPath);
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_concurrent_streams': CALLS_PER_CONNECTION_MAX,
    'grpc.enable_channelz': 0,
  });
  const health = new HealthImplementation({ '': 'SERVING', [EMBEDDING_SERVICE]: 'SERVING' });
  const streams = new Set<ExchangeStream>();
  const checkLoop = async (query: LoopQuery, context: CallContext) => {
    requireTextFits(query.prompt);
    return toCheckLoopResponse(await handlers.checkLoop(query, context));
  };
  const embed = async (text: string, context: CallContext) => {
    requireTextFits(text);
    return toEmbedResponse(await handlers.embed(text, context));
  };
  const answer = async (frame: RequestFrame): Promise<Omit<ReplyFrame, 'id'>> => {
    const context = contextOfFrame(frame);
    if (frame.check_loop) return { check_loop: await checkLoop(toLoopQuery(frame.check_loop), context) };
    if (frame.embed) return { embed: await embed(frame.embed.text, context) };
    throw new SidecarFailure('invalid', 'the request has no body');
  };
  server.addService(embeddingService, {
    CheckLoop: unary((call) => checkLoop(toLoopQuery(call.request), contextOfCall(call))),
    Embed: unary((call) => embed(call.request.text, contextOfCall(call))),
    Describe: unary(async () => toDescribeResponse(handlers.describe())),
    Exchange: (call: ExchangeCall) => {
      const stream: ExchangeStream = new ExchangeStream(call, answer, () => streams.delete(stream));
      streams.add(stream);
    },
  });
  health.addToServer(server);
  await claimSocketPath(socketPath);
  await bindPrivately(server, socketPath);
  return {
    socketPath,
    setServing: (isServing) => health.setStatus(EMBEDDING_SERVICE, isServing ? 'SERVING' : 'NOT_SERVING'),
    close: () =>
      new Promise((done) => {
        for (const name of ['', EMBEDDING_SERVICE]) health.setStatus(name, 'NOT_SERVING');
        const timer = setTimeout(() => {
          for (const stream of streams) stream.cut();
          server.forceShutdown();
          done();
        }, drainTimeoutMs);
        // Closing removes the socket at once; streams would keep it waiting for ever.
        server.tryShutdown(() => {
          clearTimeout(timer);
          done();
        });
        for (const stream of streams) stream.drain();
      }),
  };
}

/** A worker thread has no umask of its own: there the folder must be private, and the mode follows the bind. */
async function bindPrivately(server: Server, socketPath: string): Promise<void> {
  const umask = isMainThread ? process.umask(0o177) : null;
  try {
    await new Promise<void>((done, fail) => {
      server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? done() : fail(cannotBind(error, socketPath)),
      );
    });
  } finally {
    if (umask !== null) process.umask(umask);
  }
  chmodSync(socketPath, 0o600);
}

function unary<Request, Response>(run: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) {
  return (call: ServerUnaryCall<Request, Response>, reply: sendUnaryData<Response>): void => {
    run(call).then(
      (response) => reply(null, response),
      (error: unknown) => {
        const { reason, message } = toSidecarFailure(error);
        reply({ code: statusOfReason(reason), details: message } as Partial<ServiceError>);
      },
    );
  };
}

const contextOfFrame = ({ timeout_ms, traceparent }: RequestFrame): CallContext => ({
  timeoutMs: timeout_ms === 0 ? undefined : timeout_ms,
  traceParent: traceparent === '' ? null : traceparent,
});

function contextOfCall(call: ServerUnaryCall<unknown, unknown>): CallContext {
  const deadline = Number(call.getDeadline());
  const [traceParent] = call.metadata.get('traceparent');
  return {
    // A deadline in the past leaves nothing to do, and 0 would mean for ever.
    timeoutMs: Number.isFinite(deadline) ? Math.max(1, deadline - Date.now()) : undefined,
    traceParent: typeof traceParent === 'string' ? traceParent : null,
  };
}
