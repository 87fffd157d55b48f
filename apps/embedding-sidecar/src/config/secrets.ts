/** The secrets the sidecar is started with: an instance shows nothing of itself in JSON, in texts and in `inspect`. */
import { inspect } from 'node:util';
import { ConfigError } from '#kernel';
import { type Environment, SECRET_VARIABLES } from './env.js';

const HIDDEN = '[secrets]';

export class SidecarSecrets {
  readonly #redisUrl: string | null;
  readonly #apiKey: string | null;

  constructor(values: { redisUrl: string | null; apiKey: string | null }) {
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
    const password =
      this.#redisUrl !== null && URL.canParse(this.#redisUrl) ? new URL(this.#redisUrl).password : '';
    return [this.#redisUrl, this.#apiKey, password, decodeURIComponent(password)].filter(
      (value): value is string => value !== null && value !== '',
    );
  }

  toJSON(): string {
    return HIDDEN;
  }

  toString(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** @throws ConfigError naming the variable and the remedy, never the value */
export function parseSecrets(variables: Environment['secrets']): SidecarSecrets {
  const redisUrl = variables[SECRET_VARIABLES.redisUrl] ?? null;
  const apiKey = variables[SECRET_VARIABLES.apiKey] ?? null;
  const isUrl = redisUrl !== null && URL.canParse(redisUrl) && /^rediss?:$/.test(new URL(redisUrl).protocol);
  if (redisUrl !== null && !isUrl)
    throw new ConfigError(SECRET_VARIABLES.redisUrl, null, 'give a URL such as redis://127.0.0.1:6379.');
  if (redisUrl !== null && !isDecodable(new URL(redisUrl)))
    throw new ConfigError(SECRET_VARIABLES.redisUrl, null, 'write a % of the name or password as %25.');
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ConfigError(SECRET_VARIABLES.apiKey, null, 'it may hold printable ASCII without spaces only.');
  return new SidecarSecrets({ redisUrl, apiKey });
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
