/**
 * Gathers the events of a streamed response. The pieces serve an answer that breaks off; one that ends is taken
 * from its last event, which holds all of it.
 */
import type { AnswerGatherer } from '../answer-gatherer.js';
import { GatheringReader } from '../gathering-reader.js';
import {
  asCount,
  asJsonText,
  asModel,
  asName,
  asRecord,
  asText,
  type JsonRecord,
  tellsError,
} from '../read-json.js';
import { readTier } from '../service-tier.js';
import { SseReader } from '../sse.js';
import { hasPreviewSearch, isFileSearchItem, isSearchItem, readCallItem } from './items.js';
import { readResponsesAnswer } from './read-answer.js';

type ReadEvent = (gatherer: AnswerGatherer, event: JsonRecord) => void;

/** Ours to read; an event named otherwise is not even parsed. */
const EVENTS = new Map<string, ReadEvent>([
  ['response.created', readHead],
  ['response.in_progress', readHead],
  ['response.output_text.delta', (gatherer, event) => gatherer.addText(asText(event.delta))],
  ['response.refusal.delta', (gatherer, event) => gatherer.addText(asText(event.delta))],
  ['response.output_item.added', readItem],
  ['response.output_item.done', readDoneItem],
  ['response.reasoning_text.delta', readReasoning],
  ['response.reasoning_summary_text.delta', readReasoning],
  ['response.function_call_arguments.delta', readArguments],
  ['response.custom_tool_call_input.delta', readArguments],
  ['response.completed', readEnd],
  ['response.incomplete', readEnd],
  ['response.failed', readEnd],
  ['error', readError],
]);

/** Repeat what other events say; the last event has it too. */
const IDLE_EVENTS = new Set([
  'response.output_text.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.function_call_arguments.done',
  'keepalive',
]);

const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export class ResponsesStreamReader extends GatheringReader {
  protected readonly cutter = new SseReader((data, name) => this.#readEvent(data, name));
  #lastSequence = 0;
  isComplete = false;

  #readEvent(data: string, name: string): void {
    if (this.isComplete || IDLE_EVENTS.has(name)) return;
    if (name !== '' && !EVENTS.has(name)) {
      this.gatherer.isLossy = true;
      return;
    }
    const event = this.gatherer.parseEvent(data);
    if (!event || this.#isRepeated(event)) return;
    const type = asText(event.type) || name;
    // The shape of an error in place of an answer, without a type.
    if (type === '' && tellsError(event)) readError(this.gatherer);
    if (!EVENTS.has(type) && !IDLE_EVENTS.has(type)) this.gatherer.isLossy = true;
    EVENTS.get(type)?.(this.gatherer, event);
    this.isComplete = ENDS.has(type);
  }

  /** Events are numbered upwards, so a number that is not new is a repetition; 0 and below say nothing. */
  #isRepeated(event: JsonRecord): boolean {
    const sequence = asCount(event.sequence_number) ?? 0;
    if (sequence > 0 && sequence <= this.#lastSequence) return true;
    if (sequence > 0) this.#lastSequence = sequence;
    return false;
  }
}

function readHead(gatherer: AnswerGatherer, event: JsonRecord): void {
  const response = asRecord(event.response);
  gatherer.model ??= asModel(response?.model);
  gatherer.answerId ??= asName(response?.id);
  gatherer.arePreviewSearches ||= hasPreviewSearch(response ?? {});
}

function readItem(gatherer: AnswerGatherer, event: JsonRecord): void {
  const item = asRecord(event.item);
  const read = item ? readCallItem(item) : null;
  const call = read && gatherer.openCall(keyOf(event, item));
  if (!read || !call) return;
  gatherer.nameCall(call, read);
  if (read.arguments !== '') gatherer.setArguments(call, read.arguments);
}

function readDoneItem(gatherer: AnswerGatherer, event: JsonRecord): void {
  readItem(gatherer, event);
  const item = asRecord(event.item);
  if (isSearchItem(item)) gatherer.noteSearch(keyOf(event, item));
  if (isFileSearchItem(item)) gatherer.noteFileSearch(keyOf(event, item));
}

function readArguments(gatherer: AnswerGatherer, event: JsonRecord): void {
  const call = gatherer.findCall(keyOf(event, undefined));
  if (call) gatherer.addArguments(call, asJsonText(event.delta));
}

/** Of which nothing is kept. */
function readReasoning(gatherer: AnswerGatherer, event: JsonRecord): void {
  gatherer.charsBeside += asText(event.delta).length;
  gatherer.isLossy = true;
}

const keyOf = (event: JsonRecord, item: JsonRecord | undefined): number | string =>
  asCount(event.output_index) ?? (asText(event.item_id) || asText(item?.id));

function readEnd(gatherer: AnswerGatherer, event: JsonRecord): void {
  const answer = readResponsesAnswer(event.response);
  gatherer.arePreviewSearches ||= hasPreviewSearch(asRecord(event.response) ?? {});
  gatherer.model = answer.model ?? gatherer.model;
  gatherer.answerId = answer.answer_id ?? gatherer.answerId;
  gatherer.usage = answer.usage;
  gatherer.tier = readTier(asRecord(event.response)?.service_tier);
  gatherer.searchCount = Math.max(gatherer.searchCount, answer.usage?.search_count ?? 0);
  gatherer.fileSearchCount = Math.max(gatherer.fileSearchCount, answer.usage?.file_search_count ?? 0);
  gatherer.failed = answer.failed || event.type === 'response.failed';
  const isLeftOut = answer.text === '' && answer.tool_calls.length === 0;
  if (!answer.lossless || (isLeftOut && (gatherer.hasText || gatherer.callCount > 0)))
    gatherer.isLossy = true;
  // Some vendors leave the output out of their last event.
  if (!isLeftOut) gatherer.replace(answer);
  const hasCalls = gatherer.callCount > 0;
  gatherer.finish = answer.finish === 'stop' && hasCalls ? 'tool_calls' : answer.finish;
}

/** Whatever comes behind it, an answer with an error in it is not given again. */
function readError(gatherer: AnswerGatherer): void {
  gatherer.failed = true;
  gatherer.isLossy = true;
}
