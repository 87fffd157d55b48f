/** Reads an `Interaction`. */
import type { FinishReason, LlmAnswer, LlmToolCall } from '#contracts';
import { textOf } from '../content-parts.js';
import { readInteractionUsage } from '../gemini/take-response.js';
import { asList, asModel, asName, asRecord, type JsonRecord, tellsError } from '../read-json.js';
import { readTier } from '../service-tier.js';
import { isPlainInteraction } from './lossless.js';
import { readCallStep, readContent } from './steps.js';

export function readInteractionAnswer(body: unknown): LlmAnswer {
  const interaction = asRecord(body) ?? {};
  let text = '';
  const tool_calls: LlmToolCall[] = [];
  let charsBeside = 0;
  for (const value of asList(interaction.steps)) {
    const step = asRecord(value);
    const call = readCallStep(step);
    if (call) tool_calls.push(call);
    else if (step?.type === 'model_output') text += textOf(step.content, readContent, '');
    else if (step?.type === 'thought') charsBeside += textOf(step.summary, readContent, '').length;
  }
  const model = asModel(interaction.model);
  return {
    model,
    text,
    tool_calls,
    ...(charsBeside > 0 && { chars_beside: charsBeside }),
    finish: interactionFinish(interaction, tool_calls.length > 0),
    usage: readInteractionUsage(interaction.usage, model),
    ...readTier(interaction.service_tier),
    failed: interaction.status === 'failed' || tellsError(interaction),
    answer_id: asName(interaction.id),
    lossless: isPlainInteraction(interaction),
  };
}

/** Null: the vendor is still at work on it. */
export function interactionFinish({ status }: JsonRecord, hasCalls: boolean): FinishReason | null {
  switch (status) {
    case 'completed':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'requires_action':
      return 'tool_calls';
    case 'incomplete':
    // The client asks for the rest of it.
    case 'requires_continuation':
      return 'length';
    // An end, too, and what is said of usage there is what is charged.
    case 'failed':
    case 'cancelled':
    case 'budget_exceeded':
      return 'other';
    default:
      return null;
  }
}
