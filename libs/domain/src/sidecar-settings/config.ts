/**
 * What the sidecar is started with: typed, defaults applied, units in the names, no secrets. A value that cannot be
 * used stops the start with its variable, the value and the remedy. Names and defaults are the design's, section 6;
 * the threshold alone has no fixed default: 0.95 is MiniLM's, and each embedder brings its own.
 */
import type { LoopSimilarity } from '#contracts/embedding';
import {
  ConfigError,
  LOG_LEVELS,
  type LogLevel,
  readBaseUrl,
  readChoice,
  readDurationMs,
  readInteger,
  readShare,
} from '#kernel';
import { CONFIG_VARIABLES, type Environment } from './env.js';

const EMBEDDER_KINDS = ['static', 'minilm', 'openai'] as const;
export type EmbedderKind = (typeof EMBEDDER_KINDS)[number];

export interface SidecarConfig {
  readonly socketPath: string;
  readonly embedder: EmbedderKind;
  /** Directory or file of the MiniLM model; null: where `models:pull` puts it. */
  readonly modelPath: string | null;
  /** `openai` only. With its version path. */
  readonly baseUrl: string | null;
  /** `openai` only. */
  readonly model: string | null;
  /** Exclusive; null: the embedder's own. */
  readonly loopWhenSimilarityAbove: LoopSimilarity | null;
  /** Earlier prompts of a session that are compared. */
  readonly historySize: number;
  readonly ttlMs: number;
  /** Texts waiting for the model, and checks under way; more are refused as busy. */
  readonly queueMax: number;
  /** Of the Prometheus endpoint; null: none. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
}

type Variables = Environment['config'];

const TTL_MS = { fallback: 3_600_000, min: 1_000, max: 365 * 86_400_000 };
const SIMILARITY = 'a similarity from 0 to 1 such as 0.95 (a cosine above 0.90)';

/** @throws ConfigError for the first variable that cannot be used */
export function parseConfig(variables: Variables): SidecarConfig {
  const names = CONFIG_VARIABLES;
  const embedder = parseEmbedder(variables);
  const baseUrl = readBaseUrl(variables, names.baseUrl);
  if (embedder === 'openai') {
    const chosenBy = variables[names.embedder] === undefined ? names.baseUrl : names.embedder;
    const given = chosenBy === names.embedder ? 'openai' : null;
    if (baseUrl === null) throw new ConfigError(chosenBy, given, `set ${names.baseUrl} as well.`);
    if (variables[names.model] === undefined)
      throw new ConfigError(chosenBy, given, `set ${names.model} as well, such as bge-m3.`);
  }
  return {
    socketPath: variables[names.socketPath] ?? '/tmp/embedding-sidecar.sock',
    embedder,
    modelPath: variables[names.modelPath] ?? null,
    baseUrl,
    model: variables[names.model] ?? null,
    loopWhenSimilarityAbove: readShare(
      variables,
      names.similarityThreshold,
      SIMILARITY,
    ) as LoopSimilarity | null,
    historySize: readInteger(variables, names.historySize, { fallback: 5, min: 1, max: 100 }),
    ttlMs: Math.round(readDurationMs(variables, names.ttl, TTL_MS, 's')),
    queueMax: readInteger(variables, names.queueMax, { fallback: 256, min: 1, max: 65_536 }),
    metricsPort: readInteger(variables, names.metricsPort, { fallback: null, min: 1, max: 65_535 }),
    metricsHost: variables[names.metricsHost] ?? '127.0.0.1',
    logLevel: readChoice(variables, names.logLevel, LOG_LEVELS) ?? 'info',
  };
}

/** Without LOOP_EMBEDDER, what else is configured says which one is meant. */
function parseEmbedder(variables: Variables): EmbedderKind {
  const names = CONFIG_VARIABLES;
  const chosen = readChoice(variables, names.embedder, EMBEDDER_KINDS);
  if (chosen !== null) return chosen;
  const hasPath = variables[names.modelPath] !== undefined;
  const hasUrl = variables[names.baseUrl] !== undefined;
  if (hasPath && hasUrl) {
    const remedy = `${names.baseUrl} is set too; say which is meant with ${names.embedder}=minilm or openai.`;
    throw new ConfigError(names.modelPath, variables[names.modelPath] ?? null, remedy);
  }
  return hasPath ? 'minilm' : hasUrl ? 'openai' : 'static';
}
