/** Reads a `response`. */
import type { FinishReason, LlmAnswer, LlmToolCall, Usage } from '#contracts';
import { textOf } from '../content-parts.js';
import { asCount, asList, asName, asRecord, type JsonRecord } from '../read-json.js';
import { usageOf } from '../usage.js';
import { hasPreviewSearch, isMessage, isSearchItem, readCallItem, readResponsesPart } from './items.js';
import { isPlainResponse } from './lossless.js';

export function readResponsesAnswer(body: unknown): LlmAnswer {
  const response = asRecord(body) ?? {};
  let text = '';
  const tool_calls: LlmToolCall[] = [];
  for (const value of asList(response.output)) {
    const item = asRecord(value);
    if (!item) continue;
    const call = readCallItem(item);
    if (call) tool_calls.push(call);
    else if (isMessage(item)) text += textOf(item.content, readResponsesPart, '');
  }
  return {
    model: asName(response.model),
    text,
    tool_calls,
    finish: responsesFinish(response, tool_calls.length > 0),
    usage: readResponsesUsage(response.usage, searchesIn(response.output), hasPreviewSearch(response)),
    failed: response.status === 'failed' || (response.error !== undefined && response.error !== null),
    answer_id: asName(response.id),
    lossless: isPlainResponse(response),
  };
}

export function responsesFinish(response: JsonRecord, hasCalls: boolean): FinishReason | null {
  switch (response.status) {
    case 'completed':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'incomplete':
      return incompleteFinish(asRecord(response.incomplete_details)?.reason);
    case 'cancelled':
      return 'other';
    default:
      return null;
  }
}

function incompleteFinish(reason: unknown): FinishReason {
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'filtered' : 'other';
}

const searchesIn = (output: unknown): number =>
  asList(output).filter((item) => isSearchItem(asRecord(item))).length;

export function readResponsesUsage(value: unknown, searches = 0, arePreviews = false): Usage | null {
  const usage = asRecord(value);
  const input = asCount(usage?.input_tokens);
  const output = asCount(usage?.output_tokens);
  if (!usage || (input === undefined && output === undefined)) return null;
  const inputDetails = asRecord(usage.input_tokens_details);
  return usageOf({
    input,
    cachedInput: asCount(inputDetails?.cached_tokens),
    cacheWrite: asCount(inputDetails?.cache_write_tokens),
    output,
    reasoning: asCount(asRecord(usage.output_tokens_details)?.reasoning_tokens),
    searches,
    arePreviews,
  });
}
