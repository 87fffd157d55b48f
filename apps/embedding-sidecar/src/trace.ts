import { parseTraceParent } from '#kernel';

/** What a log line carries of the caller's trace; nothing for what is none. */
export function traceOf(traceParent: string | null): { trace_id?: string; parent_span_id?: string } {
  const context = parseTraceParent(traceParent);
  return context === null ? {} : { trace_id: context.traceId, parent_span_id: context.spanId };
}
