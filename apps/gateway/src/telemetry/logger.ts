/**
 * The gateway's log: one JSON object a line on stdout, without secrets, prompts or headers. On a terminal only
 * warnings appear unless LOG_LEVEL says otherwise, so that the first start's banner stays readable.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { openLogOutput } from '#adapters/standard-output';
import { type LogLevel, plainLine, REDACTED } from '#kernel';
import { lineRedactor, redactMembers, SECRET_PATHS } from './redact.js';

export interface LoggerOptions {
  /** Null: `warn` on a terminal, else `info`. */
  level: LogLevel | null;
  /** Plain secrets this process holds, to be taken out wherever they turn up. */
  secrets: readonly string[];
  destination?: DestinationStream;
  isTerminal?: boolean;
}

export function createLogger(options: LoggerOptions): Logger {
  const isTerminal = options.isTerminal ?? process.stdout.isTTY === true;
  const redactLine = lineRedactor(options.secrets);
  const redactMembersOf = (bindings: object) => redactMembers(bindings) as Record<string, unknown>;
  return pino(
    {
      level: options.level ?? (isTerminal ? 'warn' : 'info'),
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: redactMembersOf,
      },
      redact: { paths: [...SECRET_PATHS], censor: REDACTED },
      serializers: { err: describeError, error: describeError, req: describeRequest, res: describeResponse },
      hooks: { streamWrite: (line) => plainLine(redactLine(line)) },
    },
    options.destination ?? openLogOutput({ isSync: false }),
  );
}

/** Name, text, code and stack; not the other members, which in HTTP clients hold whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactMembers(error);
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(cause instanceof Error && cause !== error ? { cause: `${cause.name}: ${cause.message}` } : {}),
  };
}

/** Method and path; a query may hold anything. */
function describeRequest(request: { method?: string; url?: string; ip?: string }): unknown {
  return { method: request.method, path: request.url?.split('?', 1)[0], address: request.ip };
}

const describeResponse = (response: { statusCode?: number }): unknown => ({ status: response.statusCode });
