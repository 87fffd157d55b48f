/** Injection tokens of what crosses module borders: ports and plain values, never another module's class. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('IdSource');
/** pino Logger, redacting. */
export const LOGGER = Symbol('Logger');
/** prom-client Registry. */
export const METRICS = Symbol('Registry');
/** `GatewayConfig`: typed, defaults applied, no secrets. */
export const CONFIG = Symbol('GatewayConfig');
/** `LlmCacheConfig`. */
export const LLM_CACHE_CONFIG = Symbol('LlmCacheConfig');
/** `TracesConfig`. */
export const TRACES_CONFIG = Symbol('TracesConfig');
/** `SpanSink`; null where nobody collects spans. */
export const SPANS = Symbol('SpanSink');
/** `GatewaySecrets`: kept apart so that it cannot be logged with the rest. */
export const SECRETS = Symbol('GatewaySecrets');
/** `RuntimeConfigSource`. */
export const RUNTIME_CONFIG = Symbol('RuntimeConfigSource');
/** `DecisionStore`, open. */
export const STORE = Symbol('DecisionStore');
/** `LivePublisher`. */
export const LIVE = Symbol('LivePublisher');
/** `SessionDirectory`: which sessions exist, as views. */
export const SESSIONS = Symbol('SessionDirectory');
/** `ProxyStore`, open. */
export const PROXY_STORE = Symbol('ProxyStore');
/** `EmbeddingService`: of the sidecar; one that is never ready where nobody needs any. */
export const EMBEDDING_SERVICE = Symbol('EmbeddingService');
/** Environment of the supervised sidecar; may hold the key of an embeddings API. */
export const SIDECAR_ENVIRONMENT = Symbol('SidecarEnvironment');
/** `SecretBox`: seals what is kept at rest. */
export const SECRET_BOX = Symbol('SecretBox');
