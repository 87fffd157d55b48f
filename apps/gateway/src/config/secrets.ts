/**
 * The secrets the gateway is started with, apart from its configuration so that they cannot be logged with it: an
 * instance shows nothing of itself in JSON, in string templates and in `util.inspect`.
 */
import {
  ConfigError,
  type ForwardProxy,
  readForwardProxy,
  readRedisUrls,
  secretsOfUrl,
  Unshown,
} from '#kernel';
import { type Environment, SECRET_VARIABLES } from './env.js';
import { type EnvironmentUpstream, parseUpstreams } from './upstreams.js';

/** Shorter ones are refused everywhere. */
const SECRET_CHARS_MIN = 8;
/** Shorter ones are refused where others than this machine can guess. */
const PUBLIC_SECRET_CHARS_MIN = 24;
const SECRET_CHARS_MAX = 256;

/** Found in documentation and in everybody's first guess; compared without case, digits and separators. */
const WELL_KNOWN =
  /^(.)\1*$|change.?me|example|password|secret|operator|agent|token|admin|test|demo|observatory|default|your/i;

export class GatewaySecrets extends Unshown {
  readonly #operatorToken: string | null;
  readonly #agentKey: string | null;
  readonly #redisUrls: readonly string[];
  readonly #cacheEmbeddingKey: string | null;
  readonly #secretKey: string | null;
  readonly #upstreams: readonly EnvironmentUpstream[];
  readonly #forwardProxy: ForwardProxy | null;

  constructor(values: {
    operatorToken: string | null;
    agentKey: string | null;
    redisUrls?: readonly string[];
    cacheEmbeddingKey?: string | null;
    secretKey?: string | null;
    upstreams?: readonly EnvironmentUpstream[];
    forwardProxy?: ForwardProxy | null;
  }) {
    super();
    this.#operatorToken = values.operatorToken;
    this.#agentKey = values.agentKey;
    this.#redisUrls = values.redisUrls ?? [];
    this.#cacheEmbeddingKey = values.cacheEmbeddingKey ?? null;
    this.#secretKey = values.secretKey ?? null;
    this.#upstreams = values.upstreams ?? [];
    this.#forwardProxy = values.forwardProxy ?? null;
  }

  /** None: one gateway, and its limits are its own. More than one: nodes of a cluster. */
  get redisUrls(): readonly string[] {
    return this.#redisUrls;
  }

  /** Null: the cache's embeddings API asks for none. */
  get cacheEmbeddingKey(): string | null {
    return this.#cacheEmbeddingKey;
  }

  /** Null: the data folder's key file. */
  get secretKey(): string | null {
    return this.#secretKey;
  }

  /** Upstreams the environment fixes, with their keys. */
  get upstreams(): readonly EnvironmentUpstream[] {
    return this.#upstreams;
  }

  /** What calls to upstreams leave through; null: they go straight. */
  get forwardProxy(): ForwardProxy | null {
    return this.#forwardProxy;
  }

  /** Null: not fixed by the environment. */
  get operatorToken(): string | null {
    return this.#operatorToken;
  }

  /** Null: not fixed by the environment. */
  get agentKey(): string | null {
    return this.#agentKey;
  }

  /** Whatever must not turn up in a log line. */
  values(): string[] {
    const keys = this.#upstreams.map(({ apiKey }) => apiKey);
    const given = [this.#operatorToken, this.#agentKey, this.#cacheEmbeddingKey, this.#secretKey, ...keys];
    const urls = [
      ...this.#redisUrls,
      ...(this.#forwardProxy?.url.password ? [this.#forwardProxy.url.href] : []),
    ];
    return [...given.filter((secret) => secret !== null), ...urls.flatMap(secretsOfUrl)];
  }
}

/**
 * Authentication is always on. So what is checked here is that it means something: beyond loopback, a secret that
 * could be guessed is refused.
 *
 * @throws ConfigError naming the variable and the remedy, never the value
 */
export function parseSecrets(
  variables: Environment['secrets'],
  { isLoopback }: { isLoopback: boolean },
  upstreamVariables: Environment['upstreams'],
): GatewaySecrets {
  const operatorToken = variables[SECRET_VARIABLES.operatorToken] ?? null;
  const agentKey = variables[SECRET_VARIABLES.agentKey] ?? null;
  const exposure = isLoopback ? null : OPEN_PORT;
  if (operatorToken !== null) requireStrength(SECRET_VARIABLES.operatorToken, operatorToken, exposure);
  if (agentKey !== null) requireStrength(SECRET_VARIABLES.agentKey, agentKey, exposure);
  const secretKey = variables[SECRET_VARIABLES.secretKey] ?? null;
  // It guards a copied database against guessing at leisure, so its strength does not depend on who can connect.
  if (secretKey !== null) requireStrength(SECRET_VARIABLES.secretKey, secretKey, COPIED_DATABASE);
  if (agentKey !== null && agentKey === operatorToken) {
    throw new ConfigError(
      SECRET_VARIABLES.agentKey,
      null,
      `it equals ${SECRET_VARIABLES.operatorToken}, so every agent would be an operator; give each its own value.`,
    );
  }
  return new GatewaySecrets({
    operatorToken,
    agentKey,
    secretKey,
    redisUrls: readRedisUrls(variables, SECRET_VARIABLES.redisUrl),
    cacheEmbeddingKey: parseApiKey(variables[SECRET_VARIABLES.cacheEmbeddingKey]),
    upstreams: parseUpstreams(upstreamVariables),
    forwardProxy: readForwardProxy(
      variables[SECRET_VARIABLES.httpsProxy],
      variables[SECRET_VARIABLES.noProxy],
    ),
  });
}

/** Goes into a header as it is. */
function parseApiKey(text: string | undefined): string | null {
  if (text === undefined || /^[\x21-\x7e]+$/.test(text)) return text ?? null;
  throw new ConfigError(
    SECRET_VARIABLES.cacheEmbeddingKey,
    null,
    'it may hold printable ASCII without spaces only.',
  );
}

/** Who could guess a secret, and what helps besides a better one. Null: nobody but who uses this machine. */
type Exposure = { whose: string; wayOut: string } | null;

const OPEN_PORT: Exposure = {
  whose: 'HOST lets others connect',
  wayOut: ', unset it to have one made, or listen on 127.0.0.1.',
};
const COPIED_DATABASE: Exposure = {
  whose: 'whoever copies the database can try keys on it',
  wayOut: ', or unset it to have one made.',
};

function requireStrength(variable: string, secret: string, exposure: Exposure): void {
  const suggestion = 'make one with: node -p "crypto.randomBytes(24).toString(\'base64url\')"';
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new ConfigError(variable, null, `it may hold printable ASCII without spaces only; ${suggestion}.`);
  }
  if (secret.length < SECRET_CHARS_MIN || secret.length > SECRET_CHARS_MAX) {
    throw new ConfigError(
      variable,
      null,
      `it has ${secret.length} characters, and ${SECRET_CHARS_MIN} to ${SECRET_CHARS_MAX} are needed; ${suggestion}.`,
    );
  }
  if (exposure === null) return;
  const { whose, wayOut } = exposure;
  if (secret.length < PUBLIC_SECRET_CHARS_MIN) {
    const found = `${whose}, and ${secret.length} characters can be guessed`;
    throw new ConfigError(
      variable,
      null,
      `${found}: at least ${PUBLIC_SECRET_CHARS_MIN} are needed; ${suggestion}${wayOut}`,
    );
  }
  if (isWellKnown(secret)) {
    throw new ConfigError(
      variable,
      null,
      `${whose}, and this value looks like an example; ${suggestion}${wayOut}`,
    );
  }
}

/** True if little is left of it once the words of examples, digits in order and separators are taken away. */
function isWellKnown(secret: string): boolean {
  if (new Set(secret).size < 8) return true;
  const words = new RegExp(WELL_KNOWN.source, 'gi');
  const rest = secret
    .replace(words, '')
    .replace(/(key|my|obs|op|prod|dev|local|0123456789|123456789?0?|abc(def)?)/gi, '');
  return rest.replace(/[^a-z0-9]/gi, '').length < 12;
}
