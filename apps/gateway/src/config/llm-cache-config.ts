/** What the environment says of the LLM cache, typed and with defaults. Keys and Redis' address are among the secrets. */
import {
  CACHE_BACKENDS,
  CACHE_SEMANTIC_MODES,
  type CacheBackend,
  type CacheSemanticMode,
  type Cosine,
} from '#contracts';
import {
  ConfigError,
  DAY_MS,
  readBaseUrl,
  readChoice,
  readDurationMs,
  readInteger,
  readShare,
  type Variables,
} from '#kernel';

const CACHE_EMBEDDING_PROVIDERS = ['local', 'xinference', 'openai'] as const;

export interface CacheEmbeddingConfig {
  /** `local`: the sidecar, and with it the model that the semantic loop uses. */
  provider: (typeof CACHE_EMBEDDING_PROVIDERS)[number];
  model: string;
  baseUrl: string;
}

export interface LlmCacheConfig {
  backend: CacheBackend;
  entriesMax: number;
  bytesMax: number;
  exactTtlMs: number;
  semanticTtlMs: number;
  semanticMode: CacheSemanticMode;
  /** Inclusive. Null: the embedder's own. */
  hitWhenCosineAtLeast: Cosine | null;
  embedding: CacheEmbeddingConfig;
  /** Of all keys in Redis. */
  redisPrefix: string;
}

/** The cache wants vectors from the sidecar. */
export const needsSidecar = ({ backend, semanticMode, embedding }: LlmCacheConfig): boolean =>
  backend !== 'off' && semanticMode !== 'off' && embedding.provider === 'local';

export const LLM_CACHE_VARIABLES = {
  backend: 'LLM_CACHE_BACKEND',
  entriesMax: 'LLM_CACHE_MAX_ENTRIES',
  bytesMax: 'LLM_CACHE_MAX_BYTES',
  exactTtl: 'LLM_CACHE_EXACT_TTL_S',
  semanticTtl: 'LLM_CACHE_SEMANTIC_TTL_S',
  semantic: 'LLM_CACHE_SEMANTIC',
  similarity: 'LLM_CACHE_SIMILARITY',
  embeddingProvider: 'LLM_CACHE_EMBEDDING_PROVIDER',
  embeddingModel: 'LLM_CACHE_EMBEDDING_MODEL',
  embeddingBaseUrl: 'LLM_CACHE_EMBEDDING_BASE_URL',
  redisPrefix: 'LLM_CACHE_REDIS_PREFIX',
} as const;
type Variable = (typeof LLM_CACHE_VARIABLES)[keyof typeof LLM_CACHE_VARIABLES];

const MEBIBYTE = 1024 ** 2;
const YEAR_MS = 365 * DAY_MS;
/** What each provider serves unless told otherwise: Xinference where the design's model runs, OpenAI where theirs does. */
const PROVIDER_DEFAULTS = {
  local: { model: '', baseUrl: '' },
  xinference: { model: 'bge-m3', baseUrl: 'http://127.0.0.1:9997/v1' },
  openai: { model: 'text-embedding-3-small', baseUrl: 'https://api.openai.com/v1' },
} as const satisfies Record<CacheEmbeddingConfig['provider'], { model: string; baseUrl: string }>;

/** @throws ConfigError for the first variable that cannot be used */
export function parseLlmCacheConfig(variables: Variables<Variable>): LlmCacheConfig {
  const names = LLM_CACHE_VARIABLES;
  const provider = parseProvider(variables);
  const defaults = PROVIDER_DEFAULTS[provider];
  const redisPrefix = variables[names.redisPrefix] ?? 'observatory:llm_cache';
  if (!/^[\w:.-]{1,100}$/.test(redisPrefix))
    throw new ConfigError(
      names.redisPrefix,
      redisPrefix,
      'give letters, digits and : . _ - only, at most 100.',
    );
  const ttl = (name: Variable, fallback: number) =>
    readDurationMs(variables, name, { fallback, min: 1_000, max: YEAR_MS }, 's');
  return {
    backend: readChoice(variables, names.backend, CACHE_BACKENDS) ?? 'auto',
    entriesMax: readInteger(variables, names.entriesMax, { fallback: 10_000, min: 1, max: 10_000_000 }),
    bytesMax: readInteger(variables, names.bytesMax, {
      fallback: 256 * MEBIBYTE,
      min: MEBIBYTE,
      max: 64 * 1_024 * MEBIBYTE,
    }),
    exactTtlMs: ttl(names.exactTtl, 3_600_000),
    semanticTtlMs: ttl(names.semanticTtl, 86_400_000),
    semanticMode: readChoice(variables, names.semantic, CACHE_SEMANTIC_MODES) ?? 'shadow',
    hitWhenCosineAtLeast: readShare(
      variables,
      names.similarity,
      'a plain cosine from 0 to 1 such as 0.92',
    ) as Cosine | null,
    embedding: {
      provider,
      model: variables[names.embeddingModel] ?? defaults.model,
      baseUrl: readBaseUrl(variables, names.embeddingBaseUrl) ?? defaults.baseUrl,
    },
    redisPrefix,
  };
}

/** `local` where nothing says otherwise. What only an API can be told would be left aside in silence. */
function parseProvider(variables: Variables<Variable>): CacheEmbeddingConfig['provider'] {
  const names = LLM_CACHE_VARIABLES;
  const chosen = readChoice(variables, names.embeddingProvider, CACHE_EMBEDDING_PROVIDERS);
  if (chosen !== null) return chosen;
  const ofApi = [names.embeddingModel, names.embeddingBaseUrl].find((name) => variables[name] !== undefined);
  if (ofApi === undefined) return 'local';
  const remedy = `it is about an embeddings API, and the sidecar is asked: set ${names.embeddingProvider} to xinference or openai too.`;
  throw new ConfigError(ofApi, null, remedy);
}
