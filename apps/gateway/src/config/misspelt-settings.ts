/** Variables that are nearly a setting: nobody reads them, and whoever set one would look for its effect in vain. */
import { CONFIG_VARIABLES, RUNTIME_VARIABLES, SECRET_VARIABLES, UPSTREAM_VARIABLE } from './env.js';
import { LLM_CACHE_VARIABLES } from './llm-cache-config.js';

/** So many letters of a name allow for one that is wrong: other programs' short names are left alone. */
const LETTERS_PER_SLIP = 6;

/** Without those of OpenTelemetry: of its standard's names we read a few, and the others are as like them as slips. */
const TABLES = [CONFIG_VARIABLES, SECRET_VARIABLES, RUNTIME_VARIABLES, LLM_CACHE_VARIABLES];
const KNOWN = TABLES.flatMap((table): string[] => Object.values(table));

/** @returns names only, never what they are set to */
export function misspeltSettings(
  source: Record<string, string | undefined>,
): { name: string; meant: string }[] {
  return Object.keys(source).flatMap((name) => {
    if (KNOWN.includes(name) || UPSTREAM_VARIABLE.test(name)) return [];
    const meant = KNOWN.find(
      (known) => slips(name.toUpperCase(), known) <= Math.floor(known.length / LETTERS_PER_SLIP),
    );
    return meant === undefined ? [] : [{ name, meant }];
  });
}

/** Letters to put in, take out or exchange until the one is the other (Levenshtein). */
function slips(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const exchanged = (above[at - 1] as number) + (one[row - 1] === other[at - 1] ? 0 : 1);
      line.push(Math.min(exchanged, (above[at] as number) + 1, (line[at - 1] as number) + 1));
    }
    above = line;
  }
  return above[other.length] as number;
}
