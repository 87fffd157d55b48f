/**
 * Tolerant reading of values that came out of JSON.parse. Nothing here throws, recurses or writes to what it is given,
 * and members are only ever read by names written in our source, so a key like `__proto__` is just a key.
 */
import { passedBound } from '#kernel';
import { DIALECT_LIMITS } from './dialect-limits.js';

export type JsonRecord = Record<string, unknown>;

/** Objects only: null, arrays and scalars give undefined. */
export const asRecord = (value: unknown): JsonRecord | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;

const NOTHING: readonly unknown[] = Object.freeze([]);

/** Anything but an array gives an empty one. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NOTHING);

/** Anything but a string gives "". */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** "" counts as none. */
export const asName = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** The longest names are paths of deployments. What is longer is none, and nobody should keep it for each call. */
const MODEL_CHARS_MAX = 256;

/** The name of a model, or null. */
export function asModel(value: unknown): string | null {
  const name = asName(value);
  return name === null || name.length > MODEL_CHARS_MAX ? null : name;
}

/** An index or the like: a whole number from 0 up; anything else gives undefined. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** More than any answer takes: a count beyond it, such as -1 in 32 bits without a sign, is a mistake, and would use up any budget. */
const TOKENS_MAX = 1_000_000_000;

/** A count of tokens, or of searches, as a vendor tells it; undefined for what is none. */
export function asTokens(value: unknown): number | undefined {
  const count = asCount(value);
  return count === undefined || count > TOKENS_MAX ? undefined : count;
}

/**
 * Whether one of these was told and is no count of tokens: then what the others say is not all that was used, and taking it for 0
 * would charge too little. What is absent or null was not told.
 */
export const tellsNoCount = (...counts: readonly unknown[]): boolean =>
  counts.some((count) => count !== undefined && count !== null && asTokens(count) === undefined);

/** A bound that a caller set: a whole number above 0; anything else is none. */
export const asBound = (value: unknown): number | null => asCount(value) || null;

/** The JSON of an event, or of an element, that would take the parser or its reader long: not to be parsed. */
export const holdsTooMuch = (json: string): boolean =>
  json.length > DIALECT_LIMITS.shortCharsMax && passedBound(Buffer.from(json), DIALECT_LIMITS.json) !== null;

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** In place of an answer, or in the middle of it: an object at the vendors, a mere text at some who speak their APIs, or all of it. */
export const tellsError = ({ error, object }: JsonRecord): boolean => Boolean(error) || object === 'error';

/** Stands for a value nested deeper than the stack can write down. */
const TOO_DEEP = '"[nested too deeply]"';

/** A string as it is, anything else as its JSON text; "" for undefined. */
export function asJsonText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return TOO_DEEP;
  }
}
