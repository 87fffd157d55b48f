/**
 * A connection that fails fast and never brings the process down: nothing is queued while Redis is away, nothing is
 * sent twice, a server that no longer answers is given up, and reconnecting goes on for ever, with growing pauses.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { leaveWhenSilent } from './leave-silent.js';
import { RedisFailure, toRedisFailure } from './redis-failure.js';
import { replyInTime } from './reply-in-time.js';

const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 2_000;
/** Of a command, after which the map of a cluster is not believed any more. */
const REDIRECTIONS_MAX = 3;
const DEFAULT_PORT = 6_379;
/** For a word that it is there, which nobody's call waits for. */
const PING_TIMEOUT_MS = 500;
/** For the goodbye at the end. */
const CLOSE_TIMEOUT_MS = 500;

export interface ConnectRedisOptions {
  /** The connection was lost, or an attempt failed; safe to log. Reconnecting goes on by itself. */
  onError: (failure: RedisFailure) => void;
  /** Connected, or connected again. */
  onReady?: () => void;
  /** Shown by `CLIENT LIST`. */
  connectionName?: string;
  /** Longest pause between two attempts. */
  reconnectMaxMs?: number;
}

export interface RedisConnection<Client extends Redis | Cluster = Redis> {
  readonly client: Client;
  readonly isReady: boolean;
  /** Asks it, since a server that hangs keeps its connections: those on which nobody asks for anything stay ready. Never rejects. */
  answers(): Promise<boolean>;
  /**
   * Opens it: true when connected, false when the first attempt failed (and goes on in the background). Never rejects.
   * Without this call the first command opens the connection, and is itself rejected.
   */
  open(): Promise<boolean>;
  /** Says goodbye, or hangs up if that takes too long. Never rejects; the connection is not used again. */
  quit(): Promise<void>;
}

/**
 * Lazy: connects when opened.
 * @param url `redis://`, `rediss://` (TLS), with user, password and database as usual, or the path of a Unix socket
 * @throws Error for a malformed URL, without repeating it
 */
export function connectRedis(url: string, options: ConnectRedisOptions): RedisConnection {
  checkUrl(url);
  const client = new Redis(url, { ...failFast(options), retryStrategy: growingPauses(options) });
  leaveWhenSilent(client);
  return toConnection(client, options);
}

/**
 * The same for the nodes of a Redis Cluster: one of them is enough, it tells of the others. A node that is away fails
 * what lies on it, and nothing else.
 * @param urls as for `connectRedis`; user, password and TLS are those of the first
 * @throws Error for a malformed URL, without repeating it
 */
export function connectRedisCluster(
  urls: readonly string[],
  options: ConnectRedisOptions,
): RedisConnection<Cluster> {
  for (const url of urls.length === 0 ? [''] : urls) checkUrl(url, 'cluster');
  const nodes = urls.map((url) => new URL(url));
  const [{ username, password, protocol }] = nodes as [URL];
  const client = new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname, port: Number(port || DEFAULT_PORT) })),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      clusterRetryStrategy: growingPauses(options),
      retryDelayOnFailover: RECONNECT_FIRST_MS,
      retryDelayOnClusterDown: RECONNECT_FIRST_MS,
      maxRedirections: REDIRECTIONS_MAX,
      redisOptions: {
        ...failFast(options),
        ...(username !== '' && { username: decodeURIComponent(username) }),
        ...(password !== '' && { password: decodeURIComponent(password) }),
        ...(protocol === 'rediss:' && { tls: {} }),
      },
    },
  );
  client.on('+node', leaveWhenSilent);
  return toConnection(client, options);
}

/** @param urls one: of that server; more: of the nodes of a cluster */
export const connectRedisAt = (
  urls: readonly string[],
  options: ConnectRedisOptions,
): RedisConnection<Redis | Cluster> =>
  urls.length > 1 ? connectRedisCluster(urls, options) : connectRedis(urls[0] ?? '', options);

const failFast = ({ connectionName = 'observatory' }: ConnectRedisOptions) =>
  ({
    lazyConnect: true,
    connectionName,
    // While Redis is away a command is rejected at once.
    enableOfflineQueue: false,
    // A broken connection rejects what waits on it. Sending it again could count it twice.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // No `commandTimeout` or `socketTimeout`: whoever asks has a wait of its own, and see `leaveWhenSilent`.
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: CLOSE_TIMEOUT_MS,
  }) satisfies RedisOptions;

function growingPauses({ reconnectMaxMs = RECONNECT_MAX_MS }: ConnectRedisOptions) {
  return (attempt: number): number => {
    const pauseMs = Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(attempt - 1, 20), reconnectMaxMs);
    // Several gateways do not come back together.
    return Math.ceil(pauseMs * (0.75 + Math.random() / 4));
  };
}

function toConnection<Client extends Redis | Cluster>(
  client: Client,
  { onError, onReady }: ConnectRedisOptions,
): RedisConnection<Client> {
  /** Both have the same events; as one type they have no common `on`. */
  const events: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'> = client;
  let isQuitting = false;
  /** An orderly goodbye of the server is no error to the client, but is one here. */
  let isLossUntold = false;
  events.on('ready', () => {
    isLossUntold = true;
    onReady?.();
  });
  events.on('error', (error: unknown) => {
    isLossUntold = false;
    onError(toRedisFailure(error));
    if (isOfDatabase(error)) client.disconnect(true);
  });
  events.on('close', () => {
    if (isLossUntold && !isQuitting) onError(new RedisFailure('disconnected'));
    isLossUntold = false;
  });
  return {
    client,
    get isReady() {
      return client.status === 'ready';
    },
    async answers() {
      if (client.status !== 'ready') return false;
      return replyInTime(client.ping(), PING_TIMEOUT_MS).then(
        () => true,
        () => false,
      );
    },
    async open() {
      // A cluster that answers but is not whole yet is left again, and ioredis 6.0.0 never settles that connect().
      let onClose = (): void => {};
      const closed = new Promise<void>((resolve) => {
        onClose = resolve;
        events.once('close', onClose);
      });
      const connected = client.connect().catch(() => {
        // Reported through onError.
      });
      await Promise.race([connected, closed]);
      events.off('close', onClose);
      return client.status === 'ready';
    },
    async quit() {
      isQuitting = true;
      if (client.status === 'ready') await replyInTime(client.quit(), CLOSE_TIMEOUT_MS).catch(() => {});
      // Between two attempts there is nothing to hang up.
      const ended = ['wait', 'reconnecting', 'end'].includes(client.status)
        ? Promise.resolve()
        : new Promise<void>((resolve) => events.once('end', () => resolve()));
      client.disconnect();
      await replyInTime(ended, 2 * CLOSE_TIMEOUT_MS).catch(() => {});
    },
  };
}

/** Without the database that it was told of the client would go on in the first, which is somebody else's. */
const isOfDatabase = (error: unknown): boolean =>
  (error as { command?: { name?: string } } | null)?.command?.name === 'select';

/** The URL class puts its whole input, password and all, into its error. A cluster's nodes have no socket paths. */
function checkUrl(url: string, kind: 'single' | 'cluster' = 'single'): void {
  if (kind === 'single' && url.startsWith('/')) return;
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'redis:' && protocol !== 'rediss:')
    throw new Error('The URL of Redis must be redis://..., rediss://... or the path of a Unix socket');
}
