/** Reads a `message`. */
import type { FinishReason, LlmAnswer, LlmToolCall } from '#contracts';
import { asList, asModel, asName, asRecord, asText, tellsError } from '../read-json.js';
import { readMessageTier } from '../service-tier.js';
import { readToolUse } from './blocks.js';
import { signatureIn } from './inject-system.js';
import { isPlainMessage } from './lossless.js';
import { readMessageUsage } from './usage.js';

export function readMessageAnswer(body: unknown): LlmAnswer {
  const message = asRecord(body) ?? {};
  let text = '';
  const tool_calls: LlmToolCall[] = [];
  let charsBeside = 0;
  for (const value of asList(message.content)) {
    const block = asRecord(value);
    if (!block) continue;
    const call = readToolUse(block);
    if (call) tool_calls.push(call);
    else if (block.type === 'text') text += asText(block.text);
    else if (block.type === 'thinking') charsBeside += asText(block.thinking).length;
  }
  const signature = signatureIn(message);
  return {
    model: asModel(message.model),
    text,
    tool_calls,
    ...(charsBeside > 0 && { chars_beside: charsBeside }),
    ...(signature !== null && { thinking_signature: signature }),
    finish: messageFinish(message.stop_reason),
    usage: readMessageUsage(message.usage),
    ...readMessageTier(asRecord(message.usage)),
    failed: message.type === 'error' || tellsError(message),
    answer_id: asName(message.id),
    lossless: isPlainMessage(message),
  };
}

export function messageFinish(reason: unknown): FinishReason | null {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'filtered';
    default:
      return asName(reason) === null ? null : 'other';
  }
}
