/** Takes a request apart into canonical fields; what nobody took stays whole, so that no field can be forgotten. */
import type { DialectName, VendorValue } from '#contracts';
import type { JsonRecord } from './read-json.js';

/** Names in `rest` that belong to no vendor. */
export type CommonName =
  | 'top_p'
  | 'top_k'
  | 'seed'
  | 'stop'
  | 'n'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'parallel_tool_calls'
  | 'service_tier';

export class FieldsLeft {
  readonly #vendor: DialectName;
  readonly #left: Map<string, unknown>;

  constructor(vendor: DialectName, record: JsonRecord | undefined, excluded: readonly string[] = []) {
    this.#vendor = vendor;
    this.#left = new Map(Object.entries(record ?? {}));
    for (const name of excluded) this.#left.delete(name);
  }

  /** The first of the names whose value is of this kind; null is the vendors' way to leave a field out. */
  take<T>(is: (value: unknown) => value is T, ...names: string[]): T | null {
    for (const name of names) {
      const value = this.#left.get(name);
      if (value === null) this.#left.delete(name);
      if (!is(value)) continue;
      this.#left.delete(name);
      return value;
    }
    return null;
  }

  /** Whole, whatever it is; null for none. */
  takeWhole(...names: string[]): VendorValue | null {
    const value = this.take(isAnything, ...names);
    return value === null ? null : { vendor: this.#vendor, value };
  }

  /**
   * Moves what is left into `rest`.
   *
   * @param within the field whose members these are; undefined: the request's own
   */
  moveTo(rest: Record<string, unknown>, common: ReadonlyMap<string, CommonName>, within?: string): void {
    for (const [name, known] of common) {
      const value = this.#left.get(name);
      // Of two spellings of one name the second is kept under the vendor's.
      if (value === undefined || Object.hasOwn(rest, known)) continue;
      rest[known] = known === 'stop' && typeof value === 'string' ? [value] : value;
      this.#left.delete(name);
    }
    if (within === undefined) for (const [name, value] of this.#left) rest[`${this.#vendor}.${name}`] = value;
    else if (this.#left.size > 0) rest[`${this.#vendor}.${within}`] = Object.fromEntries(this.#left);
    this.#left.clear();
  }
}

export const isString = (value: unknown): value is string => typeof value === 'string';
export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);
export const isObject = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isAnything = (value: unknown): value is unknown => value !== undefined && value !== null;
