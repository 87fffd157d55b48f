/** What an operator's pattern is matched with, and how. A glob, not a regular expression: nothing in it can run away. */
import type { CacheEntry } from '#contracts';

/** What a pattern needs to know of an entry. */
export type NamedEntry = Pick<CacheEntry, 'key' | 'agent_id' | 'upstream'> & { model: string | null };

/** True for an entry when the pattern matches one of its names: the key, `agent:`, `model:` or `upstream:`. */
export function compileEntryPattern(pattern: string | null): (entry: NamedEntry) => boolean {
  if (pattern === null) return () => true;
  const matches = compileGlob(pattern);
  /** Few agents, models and upstreams stand behind many entries. */
  const known = new Map<string, boolean>();
  const matchesName = (name: string): boolean => {
    let answer = known.get(name);
    if (answer === undefined) {
      answer = matches(name);
      known.set(name, answer);
    }
    return answer;
  };
  return ({ key, agent_id: agent, model, upstream }) =>
    matchesName(`agent:${agent}`) ||
    matchesName(`upstream:${upstream}`) ||
    (model !== null && matchesName(`model:${model}`)) ||
    matches(key);
}

/**
 * The whole text must match: `*` stands for any characters, `?` for one, everything else for itself. Each part between
 * stars is looked for once, from left to right, so the cost is at most pattern times text.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = [], ...rest] = pattern.split('*').map((part) => [...part]);
  const last = rest.pop();
  return (text) => {
    const characters = [...text];
    if (last === undefined) return characters.length === first.length && isAt(first, characters, 0);
    const end = characters.length - last.length;
    if (end < first.length || !isAt(first, characters, 0) || !isAt(last, characters, end)) return false;
    let from = first.length;
    for (const part of rest) {
      while (from + part.length <= end && !isAt(part, characters, from)) from += 1;
      if (from + part.length > end) return false;
      from += part.length;
    }
    return true;
  };
}

const isAt = (part: readonly string[], text: readonly string[], from: number): boolean => {
  for (let at = 0; at < part.length; at += 1)
    if (part[at] !== '?' && part[at] !== text[from + at]) return false;
  return true;
};
