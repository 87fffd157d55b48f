/** Gathers the events of a streamed interaction. The last one tells how it ended and what it took, and seldom what it says. */
import { parseJsonExactly } from '#kernel';
import type { AnswerGatherer } from '../answer-gatherer.js';
import { textOf } from '../content-parts.js';
import { GatheringReader } from '../gathering-reader.js';
import { hasExactNumbers, isNothing } from '../lossless.js';
import { asCount, asModel, asName, asRecord, asText, type JsonRecord, tellsError } from '../read-json.js';
import { readTier } from '../service-tier.js';
import { SseReader } from '../sse.js';
import { isPlainBeginning } from './lossless.js';
import { interactionFinish, readInteractionAnswer } from './read-answer.js';
import { readCallStep, readContent } from './steps.js';

type ReadEvent = (gatherer: AnswerGatherer, event: JsonRecord) => void;

const EVENTS = new Map<string, ReadEvent>([
  ['interaction.created', (gatherer, event) => readHead(gatherer, asRecord(event.interaction))],
  ['interaction.status_update', () => undefined],
  ['step.start', readStart],
  ['step.delta', readDelta],
  ['step.stop', readStop],
  ['interaction.completed', readEnd],
  ['error', readError],
]);

export class InteractionStreamReader extends GatheringReader {
  protected readonly cutter = new SseReader((data, name) => this.#readEvent(data, name));
  isComplete = false;

  #readEvent(data: string, name: string): void {
    if (this.isComplete || name === 'done') return;
    let event = this.gatherer.parseEvent(data);
    if (!event) return;
    if (!hasExactNumbers(event)) {
      this.gatherer.isLossy = true;
      event = asRecord(parseJsonExactly(Buffer.from(data))) ?? event;
    }
    const type = asText(event.event_type) || name;
    // The shape of an error in place of an answer, without a type.
    if (type === '' && tellsError(event)) readError(this.gatherer);
    const read = EVENTS.get(type);
    if (!read) this.gatherer.isLossy = true;
    read?.(this.gatherer, event);
    this.isComplete = type === 'interaction.completed';
  }
}

function readHead(gatherer: AnswerGatherer, interaction: JsonRecord | undefined): void {
  gatherer.model = asModel(interaction?.model) ?? gatherer.model;
  gatherer.answerId = asName(interaction?.id) ?? gatherer.answerId;
}

function readStart(gatherer: AnswerGatherer, event: JsonRecord): void {
  const step = asRecord(event.step) ?? {};
  gatherer.isLossy ||= !isPlainBeginning(step);
  const read = readCallStep(step);
  const call = read && gatherer.openCall(keyOf(event));
  if (read && call) {
    gatherer.nameCall(call, read);
    if (!isNothing(step.arguments)) gatherer.setArguments(call, read.arguments);
    return;
  }
  // One message of one text, then calls: no order but this can be written again.
  const isFirst = step.type === 'model_output' && !gatherer.hasText && gatherer.callCount === 0;
  gatherer.isLossy ||= !isFirst;
  if (step.type === 'model_output') gatherer.addText(textOf(step.content, readContent, ''));
}

function readDelta(gatherer: AnswerGatherer, event: JsonRecord): void {
  const delta = asRecord(event.delta);
  const call = gatherer.findCall(keyOf(event));
  // Google's documents have both names.
  const piece = delta?.arguments ?? delta?.partial_arguments;
  if (call && typeof piece === 'string') gatherer.addArguments(call, piece);
  else if (delta?.type === 'text') gatherer.addText(asText(delta.text));
  else {
    gatherer.isLossy = true;
    // A thought, of which nothing is kept.
    gatherer.charsBeside += textOf(delta?.content, readContent, '').length;
  }
}

/** A call without arguments comes without any piece of them. */
function readStop(gatherer: AnswerGatherer, event: JsonRecord): void {
  const call = gatherer.findCall(keyOf(event));
  if (call?.arguments.length === 0) gatherer.addArguments(call, '{}');
}

const keyOf = (event: JsonRecord): number | string => asCount(event.index) ?? '';

function readEnd(gatherer: AnswerGatherer, event: JsonRecord): void {
  const interaction = asRecord(event.interaction) ?? {};
  readHead(gatherer, interaction);
  const answer = readInteractionAnswer({ ...interaction, model: gatherer.model });
  gatherer.usage = answer.usage;
  gatherer.tier = readTier(interaction.service_tier);
  gatherer.failed ||= answer.failed;
  if (answer.text !== '' || answer.tool_calls.length > 0) {
    gatherer.isLossy ||= !answer.lossless;
    gatherer.replace(answer);
  }
  gatherer.finish = interactionFinish(interaction, gatherer.callCount > 0);
}

/** Whatever comes behind it, an answer with an error in it is not given again. */
function readError(gatherer: AnswerGatherer): void {
  gatherer.failed = true;
  gatherer.isLossy = true;
}
