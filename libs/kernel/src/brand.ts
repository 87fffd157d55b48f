/**
 * Nominal typing for values that share a representation but must not be mixed,
 * such as a tenant-scoped session key and a bare session id.
 */
declare const brand: unique symbol;

/** `Brand<string, 'SessionKey'>` is assignable to `string`, never the other way round. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
