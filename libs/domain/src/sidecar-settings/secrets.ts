/** The secrets the sidecar is started with: an instance shows nothing of itself in JSON, in texts and in `inspect`. */
import { ConfigError, readRedisUrl, secretsOfUrl, Unshown } from '#kernel';
import { type Environment, SECRET_VARIABLES } from './env.js';

export class SidecarSecrets extends Unshown {
  readonly #redisUrl: string | null;
  readonly #apiKey: string | null;

  constructor(values: { redisUrl: string | null; apiKey: string | null }) {
    super();
    this.#redisUrl = values.redisUrl;
    this.#apiKey = values.apiKey;
  }

  /** Null: the history stays in this process. */
  get redisUrl(): string | null {
    return this.#redisUrl;
  }

  /** Of the embeddings endpoint; null: it asks for none. */
  get apiKey(): string | null {
    return this.#apiKey;
  }

  /** Whatever must not turn up in a log line. */
  values(): string[] {
    const url = this.#redisUrl === null ? [] : secretsOfUrl(this.#redisUrl);
    return this.#apiKey === null ? url : [...url, this.#apiKey];
  }
}

/** @throws ConfigError naming the variable and the remedy, never the value */
export function parseSecrets(variables: Environment['secrets']): SidecarSecrets {
  const redisUrl = readRedisUrl(variables, SECRET_VARIABLES.redisUrl);
  const apiKey = variables[SECRET_VARIABLES.apiKey] ?? null;
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ConfigError(SECRET_VARIABLES.apiKey, null, 'it may hold printable ASCII without spaces only.');
  return new SidecarSecrets({ redisUrl, apiKey });
}
