/** What a request's path and query say that can change its answer: a deployment, an API version, a beta. */
import { normalisePath } from './path-match.js';

/**
 * @param suffix of the path that the dialect itself is known by
 * @param isIdle query parameters that say nothing about the answer
 */
export function addTarget(
  rest: Record<string, unknown>,
  path: string,
  suffix: string | RegExp,
  query: string | undefined,
  isIdle?: (name: string, value: string) => boolean,
): void {
  const plain = normalisePath(path.split('?', 1)[0] ?? '');
  const place = typeof suffix === 'string' ? withoutEnd(plain, suffix) : plain.replace(suffix, '');
  if (place !== '') rest.path = place;
  if (query === undefined || query === '' || query === '?') return;
  const parameters = [...new URLSearchParams(query)].filter(([name, value]) => !isIdle?.(name, value));
  if (parameters.length > 0) rest.query = parameters;
}

const withoutEnd = (path: string, suffix: string): string =>
  path.endsWith(suffix) ? path.slice(0, -suffix.length) : path;
