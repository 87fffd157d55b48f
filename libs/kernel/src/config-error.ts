/** A start refused because of one variable: says which, what is wrong with it and what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param value as given; null for secrets, which are not repeated */
  constructor(
    readonly variable: string,
    value: string | null,
    remedy: string,
  ) {
    super(`${variable}${value === null ? '' : `=${JSON.stringify(value)}`} cannot be used: ${remedy}`);
  }
}
