/** A whole answer is one `GenerateContentResponse`, a stream a series of them: both are gathered here. */
import type { FinishReason, LlmAnswer, Usage } from '#contracts';
import { AnswerGatherer } from '../answer-gatherer.js';
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
import { readGeminiTier } from '../service-tier.js';
import { usageOf } from '../usage.js';
import { field, functionCallOf, readFunctionCall, readPart } from './fields.js';
import { isPlainResponse } from './lossless.js';

/** @param body a response, or the array of them that a stream without `alt=sse` is */
export function readGeminiAnswer(body: unknown): LlmAnswer {
  const gatherer = new AnswerGatherer();
  for (const response of Array.isArray(body) ? body : [body]) takeResponse(gatherer, response);
  // Texts side by side in one whole answer are parts in their own right; those of a stream are pieces.
  if (!Array.isArray(body) && countTexts(body) > 1) gatherer.isLossy = true;
  return gatherer.toAnswer();
}

function countTexts(body: unknown): number {
  const candidate = asRecord(asList(asRecord(body)?.candidates)[0]);
  return asList(asRecord(candidate?.content)?.parts).filter((part) => asRecord(part)?.text).length;
}

/** Its first candidate. What is not a response is left out. */
export function takeResponse(gatherer: AnswerGatherer, value: unknown): void {
  const response = asRecord(value);
  gatherer.isLossy ||= !response || !isPlainResponse(response);
  if (!response) return;
  gatherer.answerId ??= asName(field(response, 'responseId', 'response_id'));
  if (tellsError(response)) gatherer.failed = true;
  gatherer.model = asModel(field(response, 'modelVersion', 'model_version')) ?? gatherer.model;
  const usage = asRecord(field(response, 'usageMetadata', 'usage_metadata'));
  // What was told before is less than what one told later that is no count stands for.
  gatherer.usage = readGeminiUsage(usage) ?? (isMistaken(usage) ? null : gatherer.usage);
  gatherer.tier = { ...gatherer.tier, ...readGeminiTier(usage) };
  const candidates = asList(response.candidates).map(asRecord);
  const candidate = candidates.find(isFirstCandidate);
  for (const other of candidates) if (other !== candidate) gatherer.charsBeside += writtenChars(other);
  for (const part of asList(asRecord(candidate?.content)?.parts)) takePart(gatherer, asRecord(part));
  gatherer.finish = readFinish(response, candidate, gatherer.callCount > 0) ?? gatherer.finish;
  noteSearches(gatherer, candidates);
}

const BILLED_BY_ANSWER = /^(?:models\/)?gemini-[12]\b/;

/** Up to version 2 a grounded answer is charged once, from 3 each query that differs; empty ones never. */
function noteSearches(gatherer: AnswerGatherer, candidates: readonly (JsonRecord | undefined)[]): void {
  const queries = new Set(
    candidates.flatMap((candidate) => {
      const metadata = asRecord(field(candidate, 'groundingMetadata', 'grounding_metadata'));
      return asList(field(metadata, 'webSearchQueries', 'web_search_queries')).map(asText);
    }),
  );
  queries.delete('');
  gatherer.searchCount = Math.max(gatherer.searchCount, charged(gatherer.model, queries.size));
}

const charged = (model: string | null, count: number): number =>
  BILLED_BY_ANSWER.test(model ?? '') ? Math.min(1, count) : count;

const isFirstCandidate = (candidate: JsonRecord | undefined): boolean =>
  candidate !== undefined && (candidate.index === undefined || candidate.index === 0);

/** All that is written in a candidate of which nothing is kept. */
function writtenChars(candidate: JsonRecord | undefined): number {
  return asList(asRecord(candidate?.content)?.parts).reduce<number>((chars, value) => {
    const part = asRecord(value);
    const call = part && readFunctionCall(functionCallOf(part));
    return chars + asText(part?.text).length + (call ? call.name.length + call.arguments.length : 0);
  }, 0);
}

function takePart(gatherer: AnswerGatherer, part: JsonRecord | undefined): void {
  if (!part) return;
  const { text } = readPart(part);
  // Only text, then calls, can be written again.
  if (text && gatherer.callCount > 0) gatherer.isLossy = true;
  if (text !== undefined) gatherer.addText(text);
  else gatherer.charsBeside += asText(part.text).length;
  const read = readFunctionCall(functionCallOf(part));
  const call = read && gatherer.openCall(gatherer.callCount);
  if (!call) return;
  gatherer.nameCall(call, read);
  gatherer.addArguments(call, read.arguments);
}

const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

/** The vendor says STOP after function calls too. A blocked prompt has no candidate at all. */
function readFinish(
  response: JsonRecord,
  candidate: JsonRecord | undefined,
  hasCalls: boolean,
): FinishReason | null {
  const reason = asName(field(candidate, 'finishReason', 'finish_reason'));
  if (reason === null) {
    const feedback = asRecord(field(response, 'promptFeedback', 'prompt_feedback'));
    return asName(field(feedback, 'blockReason', 'block_reason')) === null ? null : 'filtered';
  }
  if (reason === 'STOP') return hasCalls ? 'tool_calls' : 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  return FILTERED.has(reason) ? 'filtered' : 'other';
}

/**
 * What tools of the vendor's put into the prompt is input; thoughts are output, counted beside the candidates, or by some models
 * in the total alone, which is what they are billed by: then the total decides.
 */
export function readGeminiUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  if (!usage || isMistaken(usage)) return null;
  const reasoning = asTokens(usage.thoughtsTokenCount) ?? 0;
  const prompt = asTokens(usage.promptTokenCount);
  const candidates = asTokens(usage.candidatesTokenCount);
  if (prompt === undefined && candidates === undefined && reasoning === 0) return null;
  const input = (prompt ?? 0) + (asTokens(usage.toolUsePromptTokenCount) ?? 0);
  return usageOf({
    input,
    cachedInput: asTokens(usage.cachedContentTokenCount),
    output: Math.max((candidates ?? 0) + reasoning, (asTokens(usage.totalTokenCount) ?? 0) - input),
    reasoning,
    audioInput:
      tokensIn(usage.promptTokensDetails, 'AUDIO') + tokensIn(usage.toolUsePromptTokensDetails, 'AUDIO'),
    audioOutput: tokensIn(usage.candidatesTokensDetails, 'AUDIO'),
    imageOutput: tokensIn(usage.candidatesTokensDetails, 'IMAGE'),
  });
}

/** @param details by modality, as both APIs tell it */
const tokensIn = (details: unknown, modality: 'AUDIO' | 'IMAGE'): number =>
  asList(details).reduce<number>((sum, value) => {
    const one = asRecord(value);
    if (asText(one?.modality).toUpperCase() !== modality) return sum;
    return sum + (asTokens(one?.tokenCount) ?? asTokens(one?.tokens) ?? 0);
  }, 0);

const isMistaken = (usage: JsonRecord | undefined): boolean =>
  tellsNoCount(
    ...[usage?.promptTokenCount, usage?.toolUsePromptTokenCount],
    ...[usage?.candidatesTokenCount, usage?.thoughtsTokenCount],
  );

/** Of the Interactions API. @param model of the answer, where it is known */
export function readInteractionUsage(value: unknown, model: string | null = null): Usage | null {
  const usage = asRecord(value);
  const input = asTokens(usage?.total_input_tokens);
  const output = asTokens(usage?.total_output_tokens);
  if (!usage || (input === undefined && output === undefined)) return null;
  const summed = [usage.total_input_tokens, usage.total_output_tokens, usage.total_thought_tokens];
  if (tellsNoCount(...summed, usage.total_tool_use_tokens)) return null;
  const reasoning = asTokens(usage.total_thought_tokens) ?? 0;
  return usageOf({
    input: (input ?? 0) + (asTokens(usage.total_tool_use_tokens) ?? 0),
    cachedInput: asTokens(usage.total_cached_tokens),
    output: (output ?? 0) + reasoning,
    reasoning,
    audioInput: tokensIn(usage.input_tokens_by_modality, 'AUDIO'),
    audioOutput: tokensIn(usage.output_tokens_by_modality, 'AUDIO'),
    imageOutput: tokensIn(usage.output_tokens_by_modality, 'IMAGE'),
    searches: charged(model, searchesIn(usage.grounding_tool_count)),
  });
}

const searchesIn = (counts: unknown): number =>
  asList(counts).reduce<number>((sum, value) => {
    const one = asRecord(value);
    return one?.type === 'google_search' ? sum + (asTokens(one.count) ?? 0) : sum;
  }, 0);
