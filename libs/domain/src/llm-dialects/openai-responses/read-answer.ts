/** Reads a `response`. */
import type { FinishReason, LlmAnswer, LlmToolCall, Usage } from '#contracts';
import { readCharge } from '../charge.js';
import { textOf } from '../content-parts.js';
import {
  asList,
  asModel,
  asName,
  asRecord,
  asText,
  asTokens,
  type JsonRecord,
  tellsError,
  tellsNoCount,
} from '../read-json.js';
import { readTier } from '../service-tier.js';
import { usageOf } from '../usage.js';
import {
  hasPreviewSearch,
  isFileSearchItem,
  isMessage,
  isSearchItem,
  readCallItem,
  readResponsesPart,
} from './items.js';
import { isPlainResponse } from './lossless.js';

export function readResponsesAnswer(body: unknown): LlmAnswer {
  const response = asRecord(body) ?? {};
  let text = '';
  const tool_calls: LlmToolCall[] = [];
  let charsBeside = 0;
  for (const value of asList(response.output)) {
    const item = asRecord(value);
    if (!item) continue;
    const call = readCallItem(item);
    if (call) tool_calls.push(call);
    else if (isMessage(item)) text += textOf(item.content, readResponsesPart, '');
    else if (item.type === 'reasoning') charsBeside += reasoningChars(item);
  }
  return {
    model: asModel(response.model),
    text,
    tool_calls,
    ...(charsBeside > 0 && { chars_beside: charsBeside }),
    finish: responsesFinish(response, tool_calls.length > 0),
    usage: readResponsesUsage(response.usage, {
      beside: response.tool_usage,
      searches: countItems(response.output, isSearchItem),
      arePreviews: hasPreviewSearch(response),
      fileSearches: countItems(response.output, isFileSearchItem),
    }),
    ...readTier(response.service_tier),
    failed: response.status === 'failed' || tellsError(response),
    answer_id: asName(response.id),
    lossless: isPlainResponse(response),
  };
}

/** As much of it as is shown. */
const reasoningChars = ({ summary, content }: JsonRecord): number =>
  [...asList(summary), ...asList(content)].reduce<number>(
    (chars, part) => chars + asText(asRecord(part)?.text).length,
    0,
  );

function responsesFinish(response: JsonRecord, hasCalls: boolean): FinishReason | null {
  switch (response.status) {
    case 'completed':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'incomplete':
      return incompleteFinish(asRecord(response.incomplete_details)?.reason);
    // An end, too, and what is said of usage there is what is charged.
    case 'failed':
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

const countItems = (output: unknown, isOne: typeof isSearchItem): number =>
  asList(output).filter((item) => isOne(asRecord(item))).length;

interface ToolsRun extends Pick<Parameters<typeof usageOf>[0], 'searches' | 'arePreviews' | 'fileSearches'> {
  /** `tool_usage`: pictures that the vendor's tool drew, whose tokens the usage leaves out, and searches that are charged. */
  beside?: unknown;
}

/** @param toolsRun what the vendor's own tools did, of which the usage does not speak */
export function readResponsesUsage(value: unknown, { beside, ...toolsRun }: ToolsRun = {}): Usage | null {
  const usage = asRecord(value);
  const input = asTokens(usage?.input_tokens);
  const output = asTokens(usage?.output_tokens);
  if (!usage || (input === undefined && output === undefined)) return null;
  const drawing = asRecord(asRecord(beside)?.image_gen);
  const counts = [usage.input_tokens, usage.output_tokens, drawing?.input_tokens, drawing?.output_tokens];
  if (tellsNoCount(...counts)) return null;
  const inputDetails = asRecord(usage.input_tokens_details);
  const outputDetails = asRecord(usage.output_tokens_details);
  const drawn = asTokens(drawing?.output_tokens) ?? 0;
  // An item may be several searches to the vendor.
  const searchesCharged = asTokens(asRecord(asRecord(beside)?.web_search)?.num_requests) ?? 0;
  return usageOf({
    input: (input ?? 0) + (asTokens(drawing?.input_tokens) ?? 0),
    cachedInput: asTokens(inputDetails?.cached_tokens),
    cacheWrite: asTokens(inputDetails?.cache_write_tokens),
    cacheWriteHour: asTokens(asRecord(inputDetails?.cache_write_tokens_details)?.ttl_12h_tokens),
    output: (output ?? 0) + drawn,
    reasoning: asTokens(outputDetails?.reasoning_tokens),
    audioInput: asTokens(inputDetails?.audio_tokens),
    audioOutput: asTokens(outputDetails?.audio_tokens),
    imageOutput: (asTokens(outputDetails?.image_tokens) ?? 0) + drawn,
    ...toolsRun,
    searches: Math.max(toolsRun.searches ?? 0, searchesCharged),
    charged: readCharge(usage),
  });
}
