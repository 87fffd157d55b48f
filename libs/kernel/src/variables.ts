/** Environment variables as typed values. Each reader throws a ConfigError that names the variable and the remedy. */
import { ConfigError } from './config-error.js';
import { type DurationUnit, parseDurationMs } from './duration.js';
import { percentDecoded } from './percent-decoded.js';

/** Set variables only, trimmed. */
export type Variables<Name extends string> = Partial<Record<Name, string>>;

/** Of `table` (our name -> the variable's) what is set; an empty variable counts as not set. */
export function pickVariables<Name extends string>(
  source: Record<string, string | undefined>,
  table: Readonly<Record<string, Name>>,
): Variables<Name> {
  const names = Object.values(table).filter((name) => source[name]?.trim());
  return Object.fromEntries(names.map((name) => [name, source[name]?.trim()])) as Variables<Name>;
}

interface Range {
  fallback: number;
  min: number;
  max: number;
}

/** Decimal digits only: "10MB", "1e3" and "" are refused, not read halfway. A fallback of null: what it sets is off. */
export function readInteger<Name extends string, Fallback extends number | null>(
  variables: Variables<Name>,
  name: Name,
  { fallback, min, max }: Omit<Range, 'fallback'> & { fallback: Fallback },
): number | Fallback {
  const text = variables[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
  throw new ConfigError(
    name,
    text,
    `give a whole number from ${min} to ${max}, or unset it for ${fallback ?? 'none'}.`,
  );
}

/** Milliseconds, from a duration (`50ms`, `1h`) or a plain number of `plainUnit`; the range is in milliseconds. */
export function readDurationMs<Name extends string>(
  variables: Variables<Name>,
  name: Name,
  { fallback, min, max }: Range,
  plainUnit: DurationUnit = 'ms',
): number {
  const text = variables[name];
  if (text === undefined) return fallback;
  const ms = parseDurationMs(text, plainUnit);
  if (ms !== null && ms >= min && ms <= max) return ms;
  const plain = plainUnit === 's' ? 'a number of seconds' : 'a number of milliseconds';
  throw new ConfigError(
    name,
    text,
    `give a duration in ms, s, m or h, or ${plain}, from ${durationText(min)} to ${durationText(max)}; unset it for ${durationText(fallback)}.`,
  );
}

/** A decimal number from 0 to 1; null when unset. @param meaning as in "a similarity from 0 to 1 such as 0.95" */
export function readShare<Name extends string>(
  variables: Variables<Name>,
  name: Name,
  meaning = 'a number from 0 to 1 such as 0.95',
): number | null {
  const text = variables[name];
  if (text === undefined) return null;
  const value = Number(text);
  if (/^(?:\d(?:\.\d{1,12})?|\.\d{1,12})$/.test(text) && value <= 1) return value;
  throw new ConfigError(name, text, `give ${meaning}, or unset it.`);
}

export function readFlag<Name extends string>(
  variables: Variables<Name>,
  name: Name,
  fallback: boolean,
): boolean {
  const text = variables[name]?.toLowerCase();
  if (text === undefined) return fallback;
  if (['0', 'false', 'no', 'off'].includes(text)) return false;
  if (['1', 'true', 'yes', 'on'].includes(text)) return true;
  throw new ConfigError(name, text, 'give 1 or 0.');
}

/** One of the choices, in any case; null when unset. */
export function readChoice<Name extends string, Choice extends string>(
  variables: Variables<Name>,
  name: Name,
  choices: readonly Choice[],
): Choice | null {
  const text = variables[name];
  if (text === undefined) return null;
  const choice = choices.find((one) => one === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new ConfigError(name, text, `give one of ${choices.join(', ')}.`);
}

/**
 * A http(s) URL without credentials, which would be a secret; null when unset. The value is not repeated.
 *
 * @param example one that would do, for whoever gave another
 */
export function readBaseUrl<Name extends string>(
  variables: Variables<Name>,
  name: Name,
  example = 'http://127.0.0.1:9997/v1',
): string | null {
  const text = variables[name];
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return text;
  throw new ConfigError(name, null, `give a URL without credentials, such as ${example}.`);
}

/** A `redis://` or `rediss://` URL; null when unset. It may hold a password, so the value is not repeated. */
export function readRedisUrl<Name extends string>(variables: Variables<Name>, name: Name): string | null {
  const text = variables[name];
  return text === undefined ? null : requireRedisUrl(text, name);
}

/** The same of the nodes of a cluster, with commas between them; of a single Redis one, none when unset. */
export function readRedisUrls<Name extends string>(variables: Variables<Name>, name: Name): string[] {
  const text = variables[name];
  return text === undefined ? [] : text.split(NEXT_REDIS_URL).map((url) => requireRedisUrl(url, name));
}

/** A password may hold a comma too. */
const NEXT_REDIS_URL = /\s*,\s*(?=rediss?:)/;

function requireRedisUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^rediss?:$/.test(url.protocol))
    throw new ConfigError(name, null, 'give a URL such as redis://127.0.0.1:6379.');
  if (percentDecoded(url.username + url.password) === null)
    throw new ConfigError(name, null, 'write a % of the name or password as %25.');
  return text;
}

/** What of a URL must not turn up in a log line: all of it, and its password as it is written and as it is meant. */
export function secretsOfUrl(text: string): string[] {
  const { password } = new URL(text);
  return [text, ...(password === '' ? [] : [password, percentDecoded(password) ?? password])];
}

const durationText = (ms: number): string => (ms % 1_000 === 0 && ms > 0 ? `${ms / 1_000}s` : `${ms}ms`);
