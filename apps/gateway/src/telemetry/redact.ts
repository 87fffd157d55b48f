/**
 * Keeps secrets out of log lines, twice: members whose name says so are replaced at any depth, and what looks like
 * a secret of ours is replaced in the finished line, wherever it came from (a message, an error's text, a URL).
 */
import { hideSecrets, REDACTED } from '#kernel';

/** In lower case. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-observatory-key',
  'x-api-key',
  'api-key',
  'api_key',
  'apikey',
  'agent-key',
  'agent_key',
  'agentkey',
  'operatortoken',
  'operator_token',
  'token',
  'key',
  'secret',
  'password',
  'secret_hash',
  'cookie_hash',
] as const;

const isSecretName = (name: string): boolean =>
  (SECRET_NAMES as readonly string[]).includes(name.toLowerCase()) || /(token|secret|password)$/i.test(name);

/** For what a child logger is bound to, which pino passes by the formatters: the same names, two levels deep. */
export const SECRET_PATHS: readonly string[] = [
  ...SECRET_NAMES,
  'agentKey',
  'operatorToken',
  'apiKey',
].flatMap((name) => [`["${name}"]`, `*["${name}"]`]);

const SECRET_TEXTS =
  /\b(obs_(?:agent|op)_)[\w-]{8,}|\b(bearer +)[^\s"\\,]+|\b(observatory_session=)[^\s";\\]+/gi;

/** Deeper members are dropped: a log line is no dump. */
const DEPTH_MAX = 6;

/** A copy without secret members. Errors, dates and buffers pass as they are, for the serializers. */
export function redactMembers(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Error || value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => redactMembers(item, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    copy[name] = isSecretName(name) && member != null ? REDACTED : redactMembers(member, depth + 1);
  }
  return copy;
}

/** A function that takes secrets out of a finished line. @param fixed plain values to look for, such as those of the environment */
export function lineRedactor(fixed: readonly string[]): (line: string) => string {
  const hideFixed = hideSecrets(fixed);
  return (line) =>
    hideFixed(line).replace(SECRET_TEXTS, (_, ...parts) => `${parts.slice(0, 3).find(Boolean)}${REDACTED}`);
}
