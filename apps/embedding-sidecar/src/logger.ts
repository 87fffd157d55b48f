/**
 * The sidecar's log: one JSON object a line on stdout, the gateway's way of writing, so that a gateway which started
 * it can merge the lines. Never a prompt; what the environment gave as a secret is taken out wherever it turns up.
 */
import { type Logger, pino } from 'pino';
import { openLogOutput } from '#adapters/standard-output';
import { hideSecrets, type LogLevel, plainLine } from '#kernel';

export interface LoggerOptions {
  level: LogLevel;
  secrets: readonly string[];
}

export function createLogger({ level, secrets }: LoggerOptions): Logger {
  const hide = hideSecrets(secrets);
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: { streamWrite: (line) => plainLine(hide(line)) },
    },
    openLogOutput({ isSync: true }),
  );
}

/** Not its other members, which may hold whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  return { type: name, message, stack, ...(code === undefined ? {} : { code: String(code) }) };
}
