/**
 * What the gateway is started with: typed, defaults applied, units in the names, no secrets. A value that cannot
 * be used stops the start with its variable, the value and the remedy; nothing is guessed.
 */
import { LIMITS, type LoopSimilarity } from '#contracts';
import {
  ConfigError,
  isLoopback,
  LOG_LEVELS,
  type LogLevel,
  MINUTE_MS,
  readChoice,
  readDurationMs,
  readFlag,
  readInteger,
  readShare,
} from '#kernel';
import { CONFIG_VARIABLES, type Environment } from './env.js';

export interface GatewayConfig {
  /** 0 = any free port, for tests. */
  readonly port: number;
  readonly host: string;
  /** False: others than this machine can reach it. */
  readonly isLoopback: boolean;
  /** Folder of the database, relative to the working directory. */
  readonly dataDir: string;
  /** Null: not set; the logger chooses by where its output goes. */
  readonly logLevel: LogLevel | null;
  /** Origin under which people reach the dashboard, without a path; null = as requested. */
  readonly publicUrl: string | null;
  /** Origins beside its own that may use a login; holds that of `publicUrl`. */
  readonly allowedOrigins: readonly string[];
  /** True: a reverse proxy in front is the only one who can reach this port, and its X-Forwarded-* are true. */
  readonly trustProxy: boolean;
  /** By what the settings say: it speaks no TLS itself. Whoever calls from this machine may then be anybody. */
  readonly isBehindProxy: boolean;
  readonly bodyBytesMax: number;
  readonly inflatedBytesMax: number;
  readonly bodyTimeoutMs: number;
  /** DecisionLogs that one agent key may send; 0 = no limit. */
  readonly ingestLogsPerSecondMax: number;
  /** Sessions whose entropy window is kept in memory. */
  readonly entropySessionsMax: number;
  readonly entropySessionIdleMs: number;
  /** A live subscriber with more than this waiting is cut. */
  readonly liveSubscriberBytesMax: number;
  /** Sockets that one agent key holds, and one operator token with all of its logins. */
  readonly socketsPerCredentialMax: number;
  /** A shutdown takes at most this long. */
  readonly drainTimeoutMs: number;
  /** A paused session's call waits this long before it is told to try again. */
  readonly holdMs: number;
  /** The same for a call whose stream has begun and is kept alive. */
  readonly streamHoldMs: number;
  /** What a killed agent is answered: an assistant message, or an error. */
  readonly killResponse: 'message' | 'error';
  /** Body of a proxied request. */
  readonly proxyBodyBytesMax: number;
  readonly proxyBodyTimeoutMs: number;
  /** Bodies of all proxied requests under way, held ones included; a tenant has half of it at most. */
  readonly proxyInflightBytesMax: number;
  /** Calls that run to one upstream at a time; a tenant has half of them at most. */
  readonly upstreamCallsMax: number;
  /** An upstream gets this long to begin its answer. */
  readonly upstreamHeadersTimeoutMs: number;
  /** ... and this long between two pieces of it. */
  readonly upstreamIdleTimeoutMs: number;
  /** False: no prompt is compared with earlier ones, and no hint given. */
  readonly isLoopDetectionEnabled: boolean;
  /** Where the embedding sidecar listens; null: this gateway starts one of its own. */
  readonly embeddingSidecarSocket: string | null;
  /** A call waits this long for the sidecar, then goes on without it. */
  readonly embeddingSidecarTimeoutMs: number;
  /** Exclusive; null: what the sidecar's model needs. */
  readonly loopWhenSimilarityAbove: LoopSimilarity | null;
  /** Words of the hint; null: the default. */
  readonly loopInterventionMessage: string | null;
  /** Makes a new bootstrap operator token at this start and revokes the earlier one. */
  readonly isOperatorTokenReset: boolean;
}

/** The first is the default. */
const KILL_RESPONSES = ['message', 'error'] as const;

const MEBIBYTE = 1024 ** 2;
const INTERVENTION_CHARS_MAX = 4_000;

/** Asks for a new bootstrap operator token, as OBSERVATORY_RESET_OPERATOR_TOKEN=1 does. */
export const RESET_ARGUMENT = '--reset-operator-token';

const ARGUMENT_WORDS =
  'settings are environment variables, as in PORT=4001 npm start; docs/settings.md lists them. ' +
  `The one argument there is: ${RESET_ARGUMENT}.`;

type Variables = Environment['config'];
type Variable = keyof Variables;

/**
 * @param args of the command line
 * @param memoryBytes what the container may have
 * @throws ConfigError for the first argument or variable that cannot be used
 */
export function parseConfig(
  variables: Variables,
  args: readonly string[] = [],
  memoryBytes = Number.POSITIVE_INFINITY,
): GatewayConfig {
  const unknown = args.find((arg) => arg !== RESET_ARGUMENT);
  // What stands behind = may be a secret.
  if (unknown !== undefined) throw new ConfigError(unknown.replace(/=.*/s, ''), null, ARGUMENT_WORDS);
  const host = withoutBrackets(variables[CONFIG_VARIABLES.host] ?? '127.0.0.1');
  if (/[\s/]/.test(host))
    throw new ConfigError('HOST', host, 'give a host name or an address, such as 127.0.0.1 or 0.0.0.0.');
  const publicUrl = parsePublicUrl(variables);
  const trustProxy = readFlag(variables, CONFIG_VARIABLES.trustProxy, false);
  const listedOrigins = parseOrigins(variables);
  const integer = (name: Variable, fallback: number, min: number, max: number) =>
    readInteger(variables, name, { fallback, min, max });
  const names = CONFIG_VARIABLES;
  const proxyBodyBytesMax = integer(names.proxyBodyBytesMax, 64 * MEBIBYTE, 1_024, 1024 * MEBIBYTE);
  return {
    port: integer(names.port, 4_000, 0, 65_535),
    host,
    isLoopback: isLoopback(host),
    dataDir: variables[names.dataDir] ?? './data',
    logLevel: readChoice(variables, names.logLevel, LOG_LEVELS),
    publicUrl,
    allowedOrigins: publicUrl === null ? listedOrigins : [...new Set([...listedOrigins, publicUrl])],
    trustProxy,
    isBehindProxy: trustProxy || publicUrl?.startsWith('https:') === true,
    bodyBytesMax: integer(names.bodyBytesMax, LIMITS.bodyBytesMax, 1_024, 1024 * MEBIBYTE),
    inflatedBytesMax: integer(names.inflatedBytesMax, LIMITS.inflatedBytesMax, 1_024, 1024 * MEBIBYTE),
    bodyTimeoutMs: integer(names.bodyTimeoutMs, LIMITS.bodyTimeoutMs, 100, 10 * MINUTE_MS),
    ingestLogsPerSecondMax: integer(names.ingestLogsPerSecondMax, 0, 0, 10_000_000),
    entropySessionsMax: integer(names.entropySessionsMax, 100_000, 1, 10_000_000),
    entropySessionIdleMs: integer(
      names.entropySessionIdleMs,
      60 * MINUTE_MS,
      1_000,
      30 * 24 * 60 * MINUTE_MS,
    ),
    liveSubscriberBytesMax: integer(names.liveSubscriberBytesMax, 8 * MEBIBYTE, 64 * 1_024, 1024 * MEBIBYTE),
    socketsPerCredentialMax: integer(names.socketsPerCredentialMax, 1_000, 1, 1_000_000),
    drainTimeoutMs: integer(names.drainTimeoutMs, 10_000, 0, 10 * MINUTE_MS),
    holdMs: integer(names.holdMs, 50_000, 0, 10 * MINUTE_MS),
    streamHoldMs: integer(names.streamHoldMs, 10 * MINUTE_MS, 0, 24 * 60 * MINUTE_MS),
    killResponse: readChoice(variables, names.killResponse, KILL_RESPONSES) ?? KILL_RESPONSES[0],
    proxyBodyBytesMax,
    proxyBodyTimeoutMs: integer(names.proxyBodyTimeoutMs, 60_000, 100, 60 * MINUTE_MS),
    proxyInflightBytesMax: integer(
      names.proxyInflightBytesMax,
      Math.max(Math.min(512 * MEBIBYTE, Math.floor(memoryBytes / 4)), 2 * proxyBodyBytesMax),
      // The largest body must fit into a tenant's half.
      2 * proxyBodyBytesMax,
      1024 ** 2 * MEBIBYTE,
    ),
    upstreamCallsMax: integer(names.upstreamCallsMax, 2_048, 2, 65_536),
    upstreamHeadersTimeoutMs: integer(names.upstreamHeadersTimeoutMs, 10 * MINUTE_MS, 100, 60 * MINUTE_MS),
    upstreamIdleTimeoutMs: integer(names.upstreamIdleTimeoutMs, 5 * MINUTE_MS, 100, 60 * MINUTE_MS),
    isLoopDetectionEnabled: readFlag(variables, names.isLoopDetectionEnabled, true),
    embeddingSidecarSocket: variables[names.embeddingSidecarSocket] ?? null,
    embeddingSidecarTimeoutMs: readDurationMs(variables, names.embeddingSidecarTimeoutMs, {
      fallback: 50,
      min: 1,
      max: 10_000,
    }),
    loopWhenSimilarityAbove: readShare(variables, names.loopWhenSimilarityAbove) as LoopSimilarity | null,
    loopInterventionMessage: parseText(variables, names.loopInterventionMessage, INTERVENTION_CHARS_MAX),
    isOperatorTokenReset:
      readFlag(variables, names.isOperatorTokenReset, false) || args.includes(RESET_ARGUMENT),
  };
}

/** Where a browser on this machine finds the gateway. @param port in use, when PORT left the choice open */
export function localUrl(
  { host, port: configured }: Pick<GatewayConfig, 'host' | 'port'>,
  port = configured,
): string {
  const isEverywhere = host === '0.0.0.0' || host === '::' || host === '127.0.0.1';
  const name = isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** An address of IPv6 as it stands in a URL is the same address. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

function parseText(variables: Variables, name: Variable, charsMax: number): string | null {
  const text = variables[name] ?? null;
  if (text === null || text.length <= charsMax) return text;
  throw new ConfigError(name, `${text.slice(0, 20)}...`, `give at most ${charsMax} characters.`);
}

function parseOrigins(variables: Variables): string[] {
  const text = variables[CONFIG_VARIABLES.allowedOrigins] ?? '';
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  return entries.map((entry) => {
    const origin = webOrigin(entry);
    if (origin !== null) return origin;
    throw new ConfigError(
      CONFIG_VARIABLES.allowedOrigins,
      text,
      `${JSON.stringify(entry)} is no origin; separate origins such as https://ops.example.org with commas. * is not possible.`,
    );
  });
}

function parsePublicUrl(variables: Variables): string | null {
  const text = variables[CONFIG_VARIABLES.publicUrl];
  if (text === undefined) return null;
  const origin = webOrigin(text);
  if (origin !== null) return origin;
  throw new ConfigError(
    CONFIG_VARIABLES.publicUrl,
    text,
    'give scheme, host and port only, such as https://ops.example.org.',
  );
}

/** The origin of a http(s) URL that has no path, query or credentials; else null. */
function webOrigin(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return isBare && /^https?:$/.test(url.protocol) ? url.origin : null;
}
