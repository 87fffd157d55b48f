/** Step 1: the call's place in a distributed trace, W3C `traceparent` in and out. */
import { randomBytes } from 'node:crypto';
import type { ProxyCall } from '../proxy-call.js';
import type { Step } from '../step.js';

/** version 00, trace id, parent id, flags; zero ids are invalid. @see https://www.w3.org/TR/trace-context/ */
const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** @param newSpanId 16 hex digits, never all zero */
export const traceStep = (newSpanId: () => string = randomSpanId): Step => ({
  name: 'trace',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    const given = call.incoming.headers.traceparent;
    // An agent that traces nothing needs no header it never asked for.
    if (typeof given !== 'string') return;
    const match = TRACE_PARENT.exec(given);
    if (match !== null) call.traceParent = `00-${match[1]}-${newSpanId()}-${match[3]}`;
  },
});

const randomSpanId = (): string => {
  const bytes = randomBytes(8);
  // All zero would be invalid.
  bytes[0] = (bytes[0] as number) | 1;
  return bytes.toString('hex');
};
