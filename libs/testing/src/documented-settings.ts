/** The tables of docs/settings.md, for the specs that hold them against the code. */
import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/settings.md', import.meta.url);
const ROW = /^\| `([A-Z][A-Z0-9_<>]*)` \| (?:`([^`]*)` \|)?/;

/**
 * @param chapter a heading of the second level
 * @returns variable -> its default as one would set it; null where the page tells it in words
 */
export function documentedSettings(chapter: string): Map<string, string | null> {
  const text = readFileSync(PAGE, 'utf8')
    .split(/^## /m)
    .find((part) => part.startsWith(`${chapter}\n`));
  const rows = text?.split('\n').map((line) => ROW.exec(line)) ?? [];
  return new Map(rows.flatMap((row) => (row?.[1] === undefined ? [] : [[row[1], row[2] ?? null]])));
}
