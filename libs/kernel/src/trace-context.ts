/** A place in a distributed trace, as services tell it each other. @see https://www.w3.org/TR/trace-context/ */
import { randomBytes } from 'node:crypto';

export interface TraceContext {
  /** 32 hex digits, not all zero. */
  traceId: string;
  /** 16 hex digits, not all zero: whoever wrote the header. */
  spanId: string;
  /** Two hex digits, of which the last bit says that the trace is recorded. */
  flags: string;
}

/** Version 00, trace id, parent id, flags. */
const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;
/** Flags of a recorded trace that begins here. */
export const RECORDED_FLAGS = '01';

/** Null for what is no `traceparent`. */
export function parseTraceParent(text: string | null): TraceContext | null {
  const match = text === null ? null : TRACE_PARENT.exec(text);
  if (match === null) return null;
  const [, traceId, spanId, flags] = match as unknown as [string, string, string, string];
  return { traceId, spanId, flags };
}

export const formatTraceParent = ({ traceId, spanId, flags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${flags}`;

export const isSampled = ({ flags }: TraceContext): boolean => (Number.parseInt(flags, 16) & SAMPLED) !== 0;

export const newTraceId = (): string => randomId(16);
export const newSpanId = (): string => randomId(8);

function randomId(byteCount: number): string {
  const bytes = randomBytes(byteCount);
  // All zero would be invalid.
  bytes[0] = (bytes[0] as number) | 1;
  return bytes.toString('hex');
}
