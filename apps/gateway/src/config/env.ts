/**
 * The names of the environment variables the gateway reads, and nothing else: their meaning is in config.ts, what
 * is secret in secrets.ts, what may change while it runs in runtime-config-store.ts.
 */
import type { RuntimeConfigKey } from '#contracts';
import { pickVariables, type Variables } from '#kernel';
import { sidecarEnvironment } from '../semantic-loop/sidecar-environment.js';
import { LLM_CACHE_VARIABLES } from './llm-cache-config.js';
import { TRACES_VARIABLES } from './traces-config.js';

/** Fixed for the life of the process. */
export const CONFIG_VARIABLES = {
  port: 'PORT',
  host: 'HOST',
  dataDir: 'OBSERVATORY_DATA_DIR',
  logLevel: 'LOG_LEVEL',
  publicUrl: 'OBSERVATORY_PUBLIC_URL',
  allowedOrigins: 'OBSERVATORY_ALLOWED_ORIGINS',
  trustProxy: 'OBSERVATORY_TRUST_PROXY',
  bodyBytesMax: 'BODY_BYTES_MAX',
  inflatedBytesMax: 'INFLATED_BYTES_MAX',
  bodyTimeoutMs: 'BODY_TIMEOUT_MS',
  ingestLogsPerSecondMax: 'INGEST_LOGS_PER_SECOND_MAX',
  entropySessionsMax: 'ENTROPY_SESSIONS_MAX',
  entropySessionIdleMs: 'ENTROPY_SESSION_IDLE_MS',
  liveSubscriberBytesMax: 'LIVE_SUBSCRIBER_BYTES_MAX',
  socketsPerCredentialMax: 'SOCKETS_PER_CREDENTIAL_MAX',
  drainTimeoutMs: 'DRAIN_TIMEOUT_MS',
  isOperatorTokenReset: 'OBSERVATORY_RESET_OPERATOR_TOKEN',
  holdMs: 'HITL_HOLD_MS',
  streamHoldMs: 'HITL_STREAM_HOLD_MS',
  killResponse: 'KILL_RESPONSE',
  proxyBodyBytesMax: 'PROXY_BODY_BYTES_MAX',
  proxyBodyTimeoutMs: 'PROXY_BODY_TIMEOUT_MS',
  proxyInflightBytesMax: 'PROXY_INFLIGHT_BYTES_MAX',
  upstreamCallsMax: 'UPSTREAM_CALLS_MAX',
  upstreamHeadersTimeoutMs: 'UPSTREAM_HEADERS_TIMEOUT_MS',
  upstreamIdleTimeoutMs: 'UPSTREAM_IDLE_TIMEOUT_MS',
  isLoopDetectionEnabled: 'LOOP_DETECTION_ENABLED',
  embeddingSidecarSocket: 'LOOP_EMBEDDING_SIDECAR_UDS',
  embeddingSidecarTimeoutMs: 'LOOP_EMBEDDING_SIDECAR_TIMEOUT',
  loopWhenSimilarityAbove: 'LOOP_SIMILARITY_THRESHOLD',
  loopInterventionMessage: 'LOOP_INTERVENTION_MESSAGE',
} as const;

export const SECRET_VARIABLES = {
  operatorToken: 'OBSERVATORY_OPERATOR_TOKEN',
  agentKey: 'OBSERVATORY_AGENT_KEY',
  /** May hold a password. */
  redisUrl: 'REDIS_URL',
  /** Of the embeddings API that the cache uses, where it asks for one. */
  cacheEmbeddingKey: 'LLM_CACHE_EMBEDDING_API_KEY',
  /** May hold a password. */
  httpsProxy: 'HTTPS_PROXY',
  noProxy: 'NO_PROXY',
  /** Seals upstream keys and channel secrets; else `secret.key` in the data folder does. */
  secretKey: 'OBSERVATORY_SECRET_KEY',
} as const;

/** `OBSERVATORY_UPSTREAM_<NAME>_URL`, `_KEY` and `_KIND`: where the proxy sends calls. Names are the user's own. */
export const UPSTREAM_VARIABLE = /^OBSERVATORY_UPSTREAM_([A-Z0-9](?:[A-Z0-9_]*[A-Z0-9])?)_(URL|KEY|KIND)$/;

/** Start values of settings that operators may change. */
export const RUNTIME_VARIABLES = {
  entropy_window_size: 'ENTROPY_WINDOW_SIZE',
  entropy_loop_threshold: 'ENTROPY_LOOP_THRESHOLD',
  entropy_warning_threshold: 'ENTROPY_WARNING_THRESHOLD',
  entropy_tool_key: 'ENTROPY_TOOL_KEY',
  hitl_pause_ttl_ms: 'HITL_PAUSE_TTL_MS',
  hitl_expiry_action: 'HITL_EXPIRY_ACTION',
  retention_days: 'RETENTION_DAYS',
  retention_bytes: 'RETENTION_BYTES',
} as const satisfies Record<RuntimeConfigKey, string>;

type VariablesOf<Table extends Record<string, string>> = Variables<Table[keyof Table]>;

/** Set variables only; an empty one counts as not set. */
export interface Environment {
  config: VariablesOf<typeof CONFIG_VARIABLES>;
  llmCache: VariablesOf<typeof LLM_CACHE_VARIABLES>;
  traces: VariablesOf<typeof TRACES_VARIABLES>;
  secrets: VariablesOf<typeof SECRET_VARIABLES>;
  runtime: VariablesOf<typeof RUNTIME_VARIABLES>;
  /** Those that match UPSTREAM_VARIABLE. */
  upstreams: Record<string, string>;
  /** What a supervised sidecar is given; may hold the key of an embeddings API and a Redis password. */
  sidecar: Record<string, string>;
}

/** As these two are also written, and first where they are written both ways: so curl has it. */
const withLowerCase = (source: Record<string, string | undefined>) => ({
  ...source,
  ...Object.fromEntries(
    [SECRET_VARIABLES.httpsProxy, SECRET_VARIABLES.noProxy].map((name) => [
      name,
      source[name.toLowerCase()]?.trim() || source[name],
    ]),
  ),
});

/** @param source usually `process.env` */
export function readEnvironment(source: Record<string, string | undefined>): Environment {
  return {
    config: pickVariables(source, CONFIG_VARIABLES),
    llmCache: pickVariables(source, LLM_CACHE_VARIABLES),
    traces: pickVariables(source, TRACES_VARIABLES),
    secrets: pickVariables(withLowerCase(source), SECRET_VARIABLES),
    runtime: pickVariables(source, RUNTIME_VARIABLES),
    upstreams: Object.fromEntries(
      Object.entries(source).flatMap(([name, value]) =>
        UPSTREAM_VARIABLE.test(name) && value?.trim() ? [[name, value.trim()]] : [],
      ),
    ),
    sidecar: sidecarEnvironment(source),
  };
}
