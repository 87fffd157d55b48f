/** Takes given secrets out of finished lines of JSON, wherever they turn up: in a message, an error's text, a URL. */

export const REDACTED = '[redacted]';

/** A shorter one ("x", "none") stands in ordinary words too, and is taken out where it stands by itself. */
const UNMISTAKABLE_CHARS = 8;

export function hideSecrets(secrets: readonly string[]): (line: string) => string {
  const written = secrets
    .filter((secret) => secret !== '')
    // A URL before the password in it, or its rest would be left standing.
    .sort((one, other) => other.length - one.length)
    .map((secret) => patternOf(secret));
  return (line) => written.reduce<string>((clean, secret) => clean.replaceAll(secret, REDACTED), line);
}

function patternOf(secret: string): string | RegExp {
  const written = JSON.stringify(secret).slice(1, -1);
  if (secret.length >= UNMISTAKABLE_CHARS) return written;
  const literal = written.replace(/[^A-Za-z0-9]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
  // The letter of an escape, such as that of a line feed, belongs to no word.
  return new RegExp(`(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt]))${literal}(?![A-Za-z0-9])`, 'gu');
}
