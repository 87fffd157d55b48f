/**
 * Step 1: the call's place in a distributed trace, W3C `traceparent` in and out. A caller's trace goes on whether or not
 * anybody records spans here; a call without one begins one only where somebody does, and nobody is sent a header that
 * the agent did not send.
 */
import { formatTraceParent, newSpanId, newTraceId, parseTraceParent, RECORDED_FLAGS } from '#kernel';
import type { ProxyCall } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface TraceParts {
  /** Of the calls that bring no trace along: the share that begins one. */
  startedShare: number;
}

export const traceStep = ({ startedShare }: TraceParts): Step => ({
  name: 'trace',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    const header = call.incoming.headers.traceparent;
    const given = typeof header === 'string' ? parseTraceParent(header) : null;
    if (given === null && Math.random() >= startedShare) return;
    call.parentSpanId = given?.spanId ?? null;
    call.traceParent = formatTraceParent({
      traceId: given?.traceId ?? newTraceId(),
      spanId: newSpanId(),
      flags: given?.flags ?? RECORDED_FLAGS,
    });
  },
});
