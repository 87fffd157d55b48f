/** Variables that are nearly a setting, or named as if they were one: nobody reads them, and whoever set one would look for its effect in vain. */

/** So many letters of a name allow for one that is wrong: other programs' short names are left alone. */
const LETTERS_PER_SLIP = 6;

/**
 * @param known the names of all settings
 * @param isOurs of a name in capitals that is like none of them: whether it can be meant for this program alone
 * @returns a sentence for each, which names it and never what it is set to
 */
export function misspeltVariables(
  source: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
  isOurs: (name: string) => boolean = () => false,
): string[] {
  return Object.keys(source).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = nearest(name.toUpperCase(), known);
    if (meant === null && !isOurs(name.toUpperCase())) return [];
    const hint = meant === null ? 'docs/settings.md lists those that there are.' : `is ${meant} meant?`;
    return [`${name} is no setting and changes nothing; ${hint}`];
  });
}

/** Null where none is near enough. */
function nearest(name: string, known: readonly string[]): string | null {
  let meant: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const one of known) {
    const allowed = Math.floor(one.length / LETTERS_PER_SLIP);
    // A letter more or less is a slip each: most names need no closer look.
    if (Math.abs(one.length - name.length) > allowed) continue;
    const count = slips(name, one);
    if (count >= fewest || count > allowed) continue;
    meant = one;
    fewest = count;
  }
  return meant;
}

/** Letters to put in, take out, exchange or swap with the next until the one is the other (optimal string alignment). */
function slips(one: string, other: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const exchanged = (above[at - 1] as number) + (one[row - 1] === other[at - 1] ? 0 : 1);
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      const swapped = isSwapped ? (twoAbove[at - 2] as number) + 1 : exchanged;
      line.push(Math.min(exchanged, swapped, (above[at] as number) + 1, (line[at - 1] as number) + 1));
    }
    twoAbove = above;
    above = line;
  }
  return above[other.length] as number;
}
