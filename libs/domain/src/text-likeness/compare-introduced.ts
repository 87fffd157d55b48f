/**
 * What a colon hands over, as it is: "Translate: you can go", "Reply with the exact text: hello world". There a capital, a mark
 * or a "please" is what the question is about, and no way to ask it.
 */

/** What may follow a colon at once; in `10:30` and `https://` there is nothing to hand over. */
const OPENS = /^[\p{Script=Han}"'«“„‘「『]/u;

/** Symmetric; linear in both texts, which are normalised. One that hands over nothing may say it in other words. */
export function differsInIntroduced(one: string, other: string): boolean {
  const [here, there] = [introducedIn(one), introducedIn(other)];
  return here !== null && there !== null && here !== there;
}

/** @returns null: no colon has something before and behind it */
function introducedIn(whole: string): string | null {
  const text = whole.trimEnd();
  const first = text.search(/\S/);
  for (let at = text.indexOf(':', first + 1); at !== -1; at = text.indexOf(':', at + 1)) {
    const behind = text.slice(at + 1);
    if (behind !== '' && (/^\s/.test(behind) || OPENS.test(behind)))
      return behind.trimStart().replace(/[ \t]+/g, ' ');
  }
  return null;
}
