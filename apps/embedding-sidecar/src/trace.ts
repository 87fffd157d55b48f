/** version 00, trace id, parent id, flags; zero ids are invalid. @see https://www.w3.org/TR/trace-context/ */
const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

/** What a log line carries of the caller's trace; nothing for what is none. */
export function traceOf(traceParent: string | null): { trace_id?: string; parent_span_id?: string } {
  const match = traceParent === null ? null : TRACE_PARENT.exec(traceParent);
  return match === null ? {} : { trace_id: match[1] as string, parent_span_id: match[2] as string };
}
