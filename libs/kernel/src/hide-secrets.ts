/** Takes given secrets out of finished lines of JSON, wherever they turn up: in a message, an error's text, a URL. */

export const REDACTED = '[redacted]';

/** Shorter ones ("x", "none", "ollama") are no secrets, and stand in ordinary words. */
const SECRET_CHARS_MIN = 8;

export function hideSecrets(secrets: readonly string[]): (line: string) => string {
  const written = secrets
    .filter(({ length }) => length >= SECRET_CHARS_MIN)
    // A URL before the password in it, or its rest would be left standing.
    .sort((one, other) => other.length - one.length)
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => written.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), line);
}
