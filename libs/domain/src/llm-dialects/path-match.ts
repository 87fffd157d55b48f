/**
 * Paths as upstreams route them: a guard must not be missed for a doubled slash, an escaped letter, a parameter of a
 * segment (`;v=1`, which servers of Java's kind drop) or a capital (which routers of .NET's and Express's kind ignore).
 */
import { percentDecoded } from '#kernel';

/** Single slashes, none at the end, escapes undone; a path that cannot be unescaped stays as it is: its upstream refuses it. */
export function normalisePath(path: string): string {
  return tidy(path.includes('%') ? (percentDecoded(path) ?? path) : path);
}

/** Without parameters of its segments too: to know a path by, not to tell two apart. */
export function routedPath(path: string): string {
  const plain = normalisePath(path);
  return plain.includes(';') ? tidy(plain.replaceAll(/;[^/]*/g, '')) : plain;
}

function tidy(path: string): string {
  const plain = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** @param suffix lower case; starts with a slash, so that it only matches whole segments */
export const isPostTo = (method: string, path: string, suffix: string): boolean =>
  method.toUpperCase() === 'POST' && routedPath(path).toLowerCase().endsWith(suffix);

/** @param whole lower case; nothing may stand before it */
export const isPostToJust = (method: string, path: string, whole: string): boolean =>
  method.toUpperCase() === 'POST' && routedPath(path).toLowerCase() === whole;
