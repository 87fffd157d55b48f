/** The places a call can carry a key in: the headers and the one query parameter in which vendors take theirs. */

export const KEY_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
]);
/** Gemini's. Its name may come percent-encoded, and more than once. */
const KEY_PARAMETER = 'key';

/**
 * Every key that would reach an upstream with this call.
 *
 * @param raw headers as Node has them: name, value, name, value ..., since of a name that comes twice it shows one only
 * @param query with its `?`; "" for none
 */
export function carriedKeys(raw: readonly string[], query: string): string[] {
  const keys = query === '' ? [] : new URLSearchParams(query).getAll(KEY_PARAMETER);
  for (let at = 0; at < raw.length; at += 2) {
    const value = raw[at + 1] as string;
    // Past the scheme, `Bearer` or any other.
    if (KEY_HEADERS.has((raw[at] as string).toLowerCase()))
      keys.push(value.slice(value.lastIndexOf(' ') + 1));
  }
  return keys;
}

/** The first one; undefined for none. */
export const queryKey = (query: string): string | undefined =>
  query === '' ? undefined : (new URLSearchParams(query).get(KEY_PARAMETER) ?? undefined);

/** What remains is left as it was encoded. */
export function withoutQueryKey(query: string): string {
  if (queryKey(query) === undefined) return query;
  const kept = query
    .slice(1)
    .split('&')
    .filter((parameter) => !new URLSearchParams(parameter).has(KEY_PARAMETER));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}
