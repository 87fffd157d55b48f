/**
 * A proxied call as a step of its session, as far as it is known when the call ends:
 *
 *     intent      the newest thing a person or program asked of the agent; compared without its numbers
 *     tool_call   name and argument hash of each call the model made, as far as a line takes them, or of the one that it wrote
 *                 into its text
 *     status      failure if the upstream failed; success; pending where tool calls wait for their results
 */
import { hash } from 'node:crypto';
import {
  type DecisionLog,
  LIMITS,
  type LlmAnswer,
  type LlmToolCall,
  PROXY_SOURCE,
  tokensOf,
} from '#contracts';
import { canonicalArguments, redactedStart } from '#domain/kill-switch';
import { isOutputCall, writtenAction } from '#domain/llm-dialects';
import { ownText, wholeEnd } from '#kernel';
import type { ProxyCall } from '../proxy-call.js';

/** Twice what is compared of it, since numbers count as one character there. */
const INTENT_CHARS_MAX = 240;
const INPUT_CHARS_MAX = 2_000;
const OUTPUT_CHARS_MAX = 500;

/** What is known of the conversation that the call is part of. */
export interface SoFar {
  /** On one line. */
  asked: string;
  lastCallId: string | null;
  costMicroUsd: number;
}

/** On one line, in one piece of its own: it is kept in windows. What it loses of white space is made up for by what comes behind. */
export function intentOf(text: string): string {
  const line = redactedStart(text, INTENT_CHARS_MAX * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return ownText(line.slice(0, wholeEnd(line, INTENT_CHARS_MAX)).trimEnd());
}

/** Of what a tool gave back, or the model answered. */
export const outputOf = (text: string): string => redactedStart(text, OUTPUT_CHARS_MAX);

/** Whether tools are to carry out what the model answered. */
export const waitsForResults = ({ answer, summary }: ProxyCall): boolean =>
  answer !== null && !summary?.answersInTool && !answer.tool_calls.every(isOutputCall);

/** @param conversation with what this call asked and cost */
export function stepOf(call: ProxyCall, conversation: SoFar): DecisionLog {
  const { answer, agentId, sessionId } = call;
  const toolCalls = answer === null ? [] : callsOf(answer);
  const isPending = waitsForResults(call);
  return {
    meta: {
      trace_id: call.id,
      timestamp: new Date(call.startedAtMs).toISOString(),
      session_id: sessionId as string,
      parent_step_id: conversation.lastCallId,
      source_app: PROXY_SOURCE,
    },
    identity: {
      agent_id: agentId,
      agent_type: 'proxied',
      capability_version: '1.0.0',
      model_name: answer?.model ?? call.summary?.model ?? '',
    },
    cognition: { intent: conversation.asked || 'continue' },
    action: {
      status: !call.wasHeard || answer?.failed ? 'failure' : isPending ? 'pending' : 'success',
      ...(toolCalls.length > 0 && { tool_call: labelOfAll(toolCalls), ...inputOf(toolCalls) }),
      ...(answer?.tool_calls.length === 0 && { tool_output_summary: outputOf(answer.text) }),
      duration_ms: Math.round(call.durationMs),
    },
    state_delta: {
      tokens_consumed: answer?.usage ? tokensOf(answer.usage) : 0,
      // A call of unknown cost says none, so that its session's is known to be more than the sum.
      ...(call.costMicroUsd !== null && {
        cumulative_session_cost: conversation.costMicroUsd / 1_000_000,
      }),
    },
    control: { is_terminal: false },
  } as DecisionLog;
}

/** As much of it as is known before the answer. @param asked on one line */
export function begunStepOf(call: ProxyCall, asked: string): DecisionLog {
  const log = stepOf(call, { asked, lastCallId: null, costMicroUsd: 0 });
  return {
    ...log,
    action: { ...log.action, status: 'pending' },
    state_delta: { tokens_consumed: 0, cumulative_session_cost: 0 },
  };
}

/** What was written as text nobody waits for: its result comes as text, too. */
function callsOf({ text, tool_calls }: LlmAnswer): readonly LlmToolCall[] {
  if (tool_calls.length > 0) return tool_calls;
  const written = writtenAction(text);
  return written === null ? [] : [written];
}

/** Of calls too many for a line, or too long, the first and a digest of all: what is the same again has the same label. */
function labelOfAll(toolCalls: readonly LlmToolCall[]): string {
  const label = toolCalls.map(toolLabel).join(' + ');
  if (label.length <= LIMITS.lineCharsMax) return label;
  const digest = hash('sha256', label);
  return `${label.slice(0, wholeEnd(label, LIMITS.lineCharsMax / 2))}... #${digest}`;
}

const toolLabel = (call: LlmToolCall): string => `${call.name}#${argumentsHash(call)}`;

/** Eight hex digits over the canonical arguments. */
export const argumentsHash = ({ arguments: text }: LlmToolCall): string =>
  hash('sha256', canonicalArguments(text)).slice(0, 8);

function inputOf(toolCalls: readonly LlmToolCall[]): { tool_input: string } {
  const input =
    toolCalls.length === 1
      ? (toolCalls[0] as LlmToolCall).arguments
      : JSON.stringify(toolCalls.map((call) => call.arguments));
  return { tool_input: JSON.stringify({ arguments: redactedStart(input, INPUT_CHARS_MAX) }) };
}
