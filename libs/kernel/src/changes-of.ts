/**
 * What of a patch changes something: its members that are given, and are not as they are before it. Null, which takes a member
 * away, changes nothing where there is none. Compared as JSON; empty where nothing is to be done.
 */
import { canonicalJson } from './canonical-json.js';

export function changesOf<Patch extends object>(patch: Patch, before: object): Partial<Patch> {
  const isChange = ([name, value]: [string, unknown]): boolean =>
    value !== undefined &&
    canonicalJson(value) !== canonicalJson((before as Record<string, unknown>)[name] ?? null);
  return Object.fromEntries(Object.entries(patch).filter(isChange)) as Partial<Patch>;
}
