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
