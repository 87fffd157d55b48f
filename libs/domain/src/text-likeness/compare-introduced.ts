/**
 * What a colon hands over, as it is: "Translate: you can go", "Reply with the exact text: hello world". There a capital, a mark
 * or a "please" is what the question is about, and no way to ask it.
 */

/** A colon with something before and behind it; in `10:30` and `https://` there is none. */
const COLON = /(?<=\S\s*):(?=\s*[\p{Script=Han}"'«“„‘「『]|\s+\S)/u;

/** Symmetric; linear in both texts, which are normalised. One that hands over nothing may say it in other words. */
export function differsInIntroduced(one: string, other: string): boolean {
  const [here, there] = [introducedIn(one), introducedIn(other)];
  return here !== null && there !== null && here !== there;
}

/** @returns null: there is no colon */
function introducedIn(text: string): string | null {
  const at = text.search(COLON);
  return at < 0
    ? null
    : text
        .slice(at + 1)
        .trim()
        .replace(/[ \t]+/g, ' ');
}
