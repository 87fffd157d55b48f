/** Paths as upstreams route them: a guard must not be missed for a doubled slash or an escaped letter. */

/** Single slashes, none at the end, escapes undone; a path that cannot be unescaped stays as it is. */
export function normalisePath(path: string): string {
  let plain = path;
  if (plain.includes('%')) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      // A stray % is the upstream's to refuse.
    }
  }
  if (plain.includes('//')) plain = plain.replaceAll(/\/{2,}/g, '/');
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** @param suffix starts with a slash, so that it only matches whole segments */
export const isPostTo = (method: string, path: string, suffix: string): boolean =>
  method.toUpperCase() === 'POST' && normalisePath(path).endsWith(suffix);
