/** Reads `POST /interactions`, whole conversations and continuations (`previous_interaction_id`) alike. */
import type { LlmRequest, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, collectTexts, resultTextOf } from '../content-parts.js';
import { continuedTurn, emptyTurn, startOfTurn, takeUserTexts } from '../newest-turn.js';
import { Opening } from '../opening.js';
import { asBound, asModel, asName, asRecord, asText } from '../read-json.js';
import { tellsFailure } from '../tells-failure.js';
import { inputSteps, isModelStep, isUserStep, readCallStep, readContent } from './steps.js';

export function readInteractionRequest(body: unknown): LlmRequest {
  const request = asRecord(body) ?? {};
  const steps = inputSteps(request.input);
  const opening = new Opening();
  for (const value of steps) {
    const step = asRecord(value);
    if (step && isUserStep(step)) opening.addUser(step.content, readContent);
  }
  return {
    model: asModel(request.model),
    stream: request.stream === true,
    system_text: asText(request.system_instruction),
    first_user_text: opening.firstUserText,
    continues: asName(request.previous_interaction_id),
    is_kept: true,
    // The rest of an answer that the vendor had cut: where it keeps nothing, the question comes again with it.
    newest: asName(request.continuation_token) === null ? readNewest(steps) : emptyTurn(),
    output_tokens_max: asBound(asRecord(request.generation_config)?.max_output_tokens),
    message_count: steps.length,
  };
}

function readNewest(steps: readonly unknown[]): NewestTurn {
  const start = startOfTurn(steps, steps.length, isModelStep);
  const turn = emptyTurn(start === steps.length ? continuedTurn(steps, start, isModelStep) : undefined);
  const calls = new CallIndex(steps, start, collectCalls, readCallStep);
  const texts: string[] = [];
  for (let index = start; index < steps.length; index++) {
    const step = asRecord(steps[index]);
    if (!step) continue;
    if (isUserStep(step)) {
      collectTexts(step.content, readContent, texts);
      collectDigests(step.content, readContent, turn.attachment_digests);
    } else if (step.type === 'function_result') {
      // Null when the call is in an earlier interaction, which the vendor keeps.
      const call = calls.find(asText(step.call_id)) ?? null;
      const text = resultTextOf(onlyContent(step.result), readContent, turn.attachment_digests);
      turn.tool_results.push({ call, text, failed: step.is_error === true || tellsFailure(text) });
    }
  }
  takeUserTexts(turn, texts, steps, start, isModelStep);
  return turn;
}

/** Google's own examples wrap contents into an object; one that holds more is taken whole. */
function onlyContent(result: unknown): unknown {
  const { content, ...rest } = asRecord(result) ?? {};
  return Array.isArray(content) && Object.keys(rest).length === 0 ? content : result;
}

const collectCalls: CollectCalls = (step, add) => {
  if (step.type === 'function_call') add(asText(step.id), step);
};
