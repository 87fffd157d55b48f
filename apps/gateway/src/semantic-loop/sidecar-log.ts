/** The child's log, line by line: JSON objects pass with their level, anything else is not repeated (it might hold anything). */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';

/** A longer line is dropped. */
const LINE_CHARS_MAX = 65_536;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export interface SidecarLine {
  level: (typeof LEVELS)[number];
  event: string | null;
  /** Public words for what went wrong. */
  reason: string | null;
  msg: string;
  fields: Record<string, unknown>;
}

/** Null for what is no line of the sidecar's log. */
export function parseSidecarLine(line: string): SidecarLine | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const { level, time: _time, msg, ...fields } = parsed as Record<string, unknown>;
  const known = LEVELS.find((one) => one === level);
  if (known === undefined || typeof msg !== 'string') return null;
  const { event, reason } = fields;
  return {
    level: known,
    event: typeof event === 'string' ? event : null,
    reason: typeof reason === 'string' ? reason : null,
    msg,
    fields,
  };
}

/** Reads `stream` to its end, so that the child never blocks on it. @param onLine told of every line that passed */
export function mergeSidecarLog(stream: Readable, logger: Logger, onLine: (line: SidecarLine) => void): void {
  let rest = '';
  /** In the middle of a line that is too long. */
  let isSkipping = false;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (!isSkipping && part.length <= LINE_CHARS_MAX) pass(part);
      isSkipping = false;
    }
    if (rest.length > LINE_CHARS_MAX) {
      rest = '';
      isSkipping = true;
    }
  });
  stream.on('error', () => {});
  const pass = (text: string): void => {
    const line = parseSidecarLine(text);
    if (line === null) return;
    // Last, so that no line of the child can claim to be somebody else's.
    logger[line.level]({ ...line.fields, source: 'embedding-sidecar' }, line.msg);
    onLine(line);
  };
}
