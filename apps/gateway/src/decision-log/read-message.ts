/**
 * What a message says, before anything is made of it: read against the schema, and against saying two things at once.
 * Knows no tenant and keeps nothing.
 */
import type { DecisionLog, RejectedAnswer } from '#contracts';
import {
  bodyHash,
  type ParsedLog,
  parseDecisionLog,
  plainnessOf,
  type RefusedLog,
} from '#domain/decision-log';
import { findDuplicateKey, mayBeRounded, parseJsonExactly } from '#kernel';

import { parseJsonText } from './json-text.js';

/**
 * One message as a carrier delivers it: a value, with its text and that text's bytes where they are known; or a line
 * of NDJSON, parsed only when its turn comes, so that a batch never holds all its values at once.
 *
 * A value that comes with its text is the interceptor's to change; one without may be the sender's own object.
 */
export type Incoming = IncomingValue | IncomingLine;

export type IncomingValue =
  | { value: unknown; text: string; bytes: Buffer | null }
  | { value: unknown; text: null };

interface IncomingLine {
  line: Buffer;
  lineNumber: number;
}

/** A message that fits the schema. */
export interface Validated {
  log: DecisionLog;
  warnings: string[];
  /** The message as JSON.stringify writes it: the same for every way it can come in. */
  serialised: string;
  hash: string;
}

export type Rejected = { kind: 'rejected'; answer: RejectedAnswer };

/**
 * Against the schema, and against saying two things at once. The ordinary message is recognised by a walk; everything
 * else, and every refusal, is the schema's.
 */
export function validate(incoming: IncomingValue): Validated | RefusedLog | Rejected {
  const { value, text } = incoming;
  const plainness = plainnessOf(value, text);
  if (plainness === 'compact' && incoming.text !== null) {
    return {
      log: value as DecisionLog,
      warnings: [],
      serialised: incoming.text,
      hash: bodyHash(incoming.bytes ?? incoming.text),
    };
  }
  const parsed = plainness === 'plain' ? plainLog(value as DecisionLog) : parseDecisionLog(value);
  if (!parsed.ok) return parsed;
  const { log, warnings } = parsed;
  const serialised = JSON.stringify(value);
  // Compact text that lost nothing in parsing has no key twice; anything else is looked at closely.
  if (text !== null && text.length !== serialised.length) {
    const key = findDuplicateKey(text);
    if (key !== null) {
      const detail = `duplicate key: ${JSON.stringify(key.slice(0, 80))}`;
      return rejected('invalid_json', detail, log.meta.trace_id);
    }
  }
  if (text !== null && mayBeRounded(log.action.tool_input)) {
    const exact = validate({ value: withDigits(value as DecisionLog, text), text: null });
    if ('log' in exact && exact.serialised !== serialised) {
      exact.warnings.push(DIGITS_KEPT);
      return exact;
    }
  }
  return {
    log,
    warnings,
    serialised,
    hash: bodyHash(serialised),
  };
}

const DIGITS_KEPT = 'action.tool_input: whole numbers beyond 2^53 are kept as text';

/** An id of 64 bits among the arguments is shown to people who decide by it, and tells one call from another. */
function withDigits(message: DecisionLog, text: string): unknown {
  const { action } = parseJsonExactly(Buffer.from(text)) as DecisionLog;
  return { ...message, action: { ...message.action, tool_input: action.tool_input } };
}

export function parseLine({ line, lineNumber }: IncomingLine): IncomingValue | Rejected {
  const { text, bytes } = trimmed(line);
  const read = parseJsonText(text);
  if (!read.ok) return rejected('invalid_json', `line ${lineNumber}: ${read.detail}`, null);
  return { value: read.value, text, bytes };
}

/** Bytes as text without white space around it; null instead of the bytes where there was some. */
export function trimmed(bytes: Buffer): { text: string; bytes: Buffer | null } {
  const text = bytes.toString('utf8');
  const inner = text.trim();
  return { text: inner, bytes: inner.length === text.length ? bytes : null };
}

/**
 * Its own as far as the score reaches: what the sender holds stays as it was. Not spread, since the score is added to it: V8 gives
 * each object that is spread and then extended a shape of its own.
 */
const plainLog = (value: DecisionLog): ParsedLog => ({
  ok: true,
  log: { ...value, cognition: Object.assign({}, value.cognition) },
  warnings: [],
});

export const rejected = (reason: RejectedAnswer['reason'], detail: string, traceId: string | null) =>
  ({ kind: 'rejected', answer: { status: 'rejected', reason, detail, trace_id: traceId } }) as const;

/** Of a refused message. Too deep for JSON.stringify is possible here: it may have been refused for that. */
export function textOf({ value, text }: IncomingValue): string {
  if (text !== null) return text;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'unserialisable';
  }
}
