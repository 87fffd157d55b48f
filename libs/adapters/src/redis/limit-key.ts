/** Where a counter lives in Redis. */
import type { LimitWindow } from '#contracts';

type Place = Pick<LimitWindow, 'key' | 'kind' | 'startMs'>;

/** Not `observatory:limit:`, under which earlier builds have counters without parts. */
const PREFIX = 'observatory:limits:';

/**
 * `observatory:limits:{<owner>}:<name>`, and for a calendar bucket `:<startMs>`, for a sliding counter `:slots`: without it are those of
 * earlier builds, which count otherwise. The braces are a hash tag: a cluster keeps all
 * counters of an owner in one slot, so one script may touch them together. The owner is what stands before the key's
 * last NUL (tenant and agent); without a NUL, the whole key.
 */
export function limitKey({ key, kind, startMs }: Place): string {
  const end = key.lastIndexOf('\0');
  const owner = end === -1 ? key : key.slice(0, end);
  const name = end === -1 ? '' : key.slice(end + 1);
  const place = `${PREFIX}{${escapedForKey(owner)}}:${escapedForKey(name)}`;
  return `${place}:${kind === 'calendar' ? startMs : 'slots'}`;
}

/** What would end the hash tag, or make two owners look alike; ids may hold anything. */
export const escapedForKey = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll(SPECIALS, (char) => `%${char.charCodeAt(0).toString(16)}`) : text;

const SPECIAL = /[%{}:\0]/;
const SPECIALS = new RegExp(SPECIAL, 'g');
