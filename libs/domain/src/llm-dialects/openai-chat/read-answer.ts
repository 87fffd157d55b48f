/** Reads a `chat.completion`, its first choice. */
import type { FinishReason, LlmAnswer } from '#contracts';
import { textOf } from '../content-parts.js';
import { asList, asModel, asName, asRecord, asText, type JsonRecord, tellsError } from '../read-json.js';
import { readTier } from '../service-tier.js';
import { isPlainChoice, isPlainEnvelope } from './lossless.js';
import { isFirstChoice, readChatCalls, readChatPart, reasoningChars, writtenChars } from './parts.js';
import { readChatUsage, searchesBy } from './usage.js';

export function readChatAnswer(body: unknown): LlmAnswer {
  const answer = asRecord(body) ?? {};
  const model = asModel(answer.model);
  const choices = asList(answer.choices).map(asRecord);
  const choice = choices.find(isFirstChoice);
  const message = asRecord(choice?.message) ?? {};
  const tool_calls = readChatCalls(message);
  const charsBeside = choices.reduce(
    (chars, other) => (other === choice ? chars : chars + writtenChars(asRecord(other?.message) ?? {})),
    reasoningChars(message),
  );
  return {
    model,
    text: messageText(message),
    tool_calls,
    ...(charsBeside > 0 && { chars_beside: charsBeside }),
    finish: chatFinish(choice?.finish_reason),
    usage: readChatUsage(answer.usage, searchesBy(model)),
    ...readTier(answer.service_tier),
    failed: tellsError(answer) || isBrokenOff(choice),
    answer_id: asName(answer.id),
    lossless:
      choices.length === 1 &&
      tool_calls.length === asList(message.tool_calls).length &&
      isPlainEnvelope(answer) &&
      isPlainChoice(choice, choice?.message),
  };
}

/** What was spoken counts where nothing was written. */
function messageText(message: JsonRecord): string {
  const written = textOf(message.content, readChatPart, '') + asText(message.refusal);
  return written === '' ? asText(asRecord(message.audio)?.transcript) : written;
}

/** OpenRouter's, DeepSeek's and Z.ai's words for an answer that they could not end, behind a status of 200. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(['error', 'insufficient_system_resource', 'network_error']);

export const isBrokenOff = (choice: JsonRecord | undefined): boolean =>
  choice !== undefined && (tellsError(choice) || BROKEN_OFF.has(choice.finish_reason));

/** A call that the request forced ends with `stop`. */
export function chatFinish(reason: unknown): FinishReason | null {
  switch (reason) {
    case 'stop':
      return 'stop';
    case 'length':
      return 'length';
    case 'tool_calls':
    case 'function_call':
      return 'tool_calls';
    case 'content_filter':
      return 'filtered';
    default:
      return asName(reason) === null ? null : 'other';
  }
}
