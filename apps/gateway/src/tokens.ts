/** Injection tokens of what crosses module borders: ports and plain values, never another module's class. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('IdSource');
/** pino Logger, redacting. */
export const LOGGER = Symbol('Logger');
/** prom-client Registry. */
export const METRICS = Symbol('Registry');
/** `GatewayConfig`: typed, defaults applied, no secrets. */
export const CONFIG = Symbol('GatewayConfig');
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
/** `SecretBox`: seals what is kept at rest. */
export const SECRET_BOX = Symbol('SecretBox');
