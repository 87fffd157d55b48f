/** Reading and writing the members of an address. Pure; never throws; unknown values fall away. */

/** An id such as 42 arrives as a number; "" is absent. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value) || undefined
    : undefined;

export const oneOf = <V extends string>(values: readonly V[], value: unknown): V | undefined =>
  values.find((known) => known === value);

export const flagOf = (value: unknown): true | undefined =>
  value === true || value === 'true' || value === 1 ? true : undefined;

/** Without the members that are undefined, so that the address stays short. */
export const dropAbsent = <T extends object>(search: T): T =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as T;

/**
 * For `validateSearch`. The router lays what a parser returns over the address as it came, so what the parser left out has to be
 * taken away by name: a value that it refused would come through unread.
 */
export const onlyParsed =
  <S extends object>(parse: (search: Record<string, unknown>) => S) =>
  (search: Record<string, unknown>): S => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...parse(search),
  });
