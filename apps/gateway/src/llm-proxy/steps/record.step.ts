/**
 * Step 9: what is kept of a call. It stands early in the list because steps settle in reverse: by the time it writes,
 * every guard has said its last word.
 */
import { isCostUnknown, type LlmCall, type LlmToolCall, wasRefused } from '#contracts';
import type { AgentActivity } from '../agents/agent-activity.js';
import type { CallLog } from '../calls/call-log.js';
import { spentAtMs } from '../limits/taken-limits.js';
import { type ProxyCall, shownMs } from '../proxy-call.js';
import type { ProxyEvents } from '../proxy-events.js';
import { argumentsHash } from '../sessions/step-of-call.js';
import type { Step } from '../step.js';

export interface RecordParts {
  log: Pick<CallLog, 'add'>;
  activity: Pick<AgentActivity, 'begin' | 'end'>;
  events: Pick<ProxyEvents, 'ended'>;
  /** Told of each call that begins. */
  onBegan: (call: ProxyCall) => void;
  /** Told of each call that ended. */
  onEnded: (call: ProxyCall, record: LlmCall) => void;
}

export const recordStep = (parts: RecordParts): Step => ({
  name: 'record',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    parts.activity.begin(call.scope);
    parts.onBegan(call);
  },
  settle(call: ProxyCall): void {
    const record = recordOf(call);
    const spentMs = spentAtMs(call.unsettled ?? call);
    parts.activity.end(call.scope, {
      isError: isError(call),
      refusal: wasRefused(record) ? { decision: record.decision, detail: record.detail } : null,
      costMicroUsd: isCostUnknown(record) ? null : (call.costMicroUsd ?? 0),
      spentAtMs: spentMs,
    });
    parts.log.add(call.tenantId, record, spentMs, call.documents);
    parts.events.ended(call, call.decision);
    parts.onEnded(call, record);
  },
});

/** The agent's or the upstream's failure; an operator's or a guard's refusal is none. */
export const isError = (call: ProxyCall): boolean =>
  call.decision === 'upstream_failed' || (call.wasSent && call.status >= 400);

const recordOf = (call: ProxyCall): LlmCall => ({
  call_id: call.id,
  seq: 0,
  agent_id: call.agentId,
  session_id: call.sessionId ?? '',
  upstream: call.upstream.name,
  dialect: call.dialect?.name ?? null,
  method: call.incoming.method as string,
  path: call.path,
  model: call.model,
  stream: call.summary?.stream ?? false,
  started_at_ms: call.startedAtMs,
  duration_ms: shownMs(call.durationMs),
  first_byte_ms: call.firstByteMs === null ? null : shownMs(call.firstByteMs),
  held_ms: shownMs(call.heldMs),
  status: call.status,
  decision: call.decision,
  detail: call.detail,
  usage: call.answer?.usage ?? null,
  cost_usd: call.costMicroUsd === null ? null : call.costMicroUsd / 1_000_000,
  tool_calls: call.answer === null ? [] : call.answer.tool_calls.map(toolCallOf),
  kill_score: call.killScore,
  cache: call.cache,
  is_retry: call.isRetry,
  trace_parent: call.traceParent,
  steps: [...call.waterfall],
});

const toolCallOf = (call: LlmToolCall) => ({ name: call.name, arguments_hash: argumentsHash(call) });
