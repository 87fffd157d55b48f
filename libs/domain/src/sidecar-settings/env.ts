/**
 * The names of the environment variables the sidecar reads, and nothing else: their meaning is in config.ts. They stand
 * here rather than in the sidecar because a gateway that starts one refuses, at its own start, what its child would.
 */
import { pickVariables, type Variables } from '#kernel';

export const CONFIG_VARIABLES = {
  socketPath: 'UDS_PATH',
  similarityThreshold: 'LOOP_SIMILARITY_THRESHOLD',
  historySize: 'LOOP_HISTORY_SIZE',
  ttl: 'LOOP_EMBEDDING_TTL',
  modelPath: 'LOOP_EMBEDDING_MODEL_PATH',
  embedder: 'LOOP_EMBEDDER',
  baseUrl: 'LOOP_EMBEDDING_BASE_URL',
  model: 'LOOP_EMBEDDING_MODEL',
  queueMax: 'LOOP_QUEUE_MAX',
  metricsPort: 'LOOP_METRICS_PORT',
  metricsHost: 'LOOP_METRICS_HOST',
  logLevel: 'LOG_LEVEL',
} as const;

export const SECRET_VARIABLES = {
  /** May hold a password. */
  redisUrl: 'REDIS_URL',
  apiKey: 'LOOP_EMBEDDING_API_KEY',
} as const;

/** The names of all of them. */
export const SETTING_VARIABLES: readonly string[] = [CONFIG_VARIABLES, SECRET_VARIABLES].flatMap((table) =>
  Object.values(table),
);

type VariablesOf<Table extends Record<string, string>> = Variables<Table[keyof Table]>;

/** Set variables only; an empty one counts as not set. */
export interface Environment {
  config: VariablesOf<typeof CONFIG_VARIABLES>;
  secrets: VariablesOf<typeof SECRET_VARIABLES>;
}

export function readEnvironment(source: Record<string, string | undefined>): Environment {
  return {
    config: pickVariables(source, CONFIG_VARIABLES),
    secrets: pickVariables(source, SECRET_VARIABLES),
  };
}
