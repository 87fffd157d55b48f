/** Gathers the events of a streamed message. */
import type { LlmAnswer } from '#contracts';
import { DIALECT_LIMITS } from '../dialect-limits.js';
import { GatheringReader } from '../gathering-reader.js';
import { isNothing } from '../lossless.js';
import { asCount, asModel, asName, asRecord, asText, type JsonRecord, tellsError } from '../read-json.js';
import { readMessageTier } from '../service-tier.js';
import { SseReader } from '../sse.js';
import { readToolUse } from './blocks.js';
import { isThought } from './inject-system.js';
import {
  isPlainDelta,
  isPlainEnvelope,
  isPlainEvent,
  isPlainStop,
  type PlainBlock,
  plainBlock,
} from './lossless.js';
import { messageFinish } from './read-answer.js';
import { mergeUsage, readMessageUsage } from './usage.js';

/** Named so, an event holds nothing for us and is not parsed. */
const IDLE_EVENTS = new Set(['ping', 'content_block_stop']);

export class MessageStreamReader extends GatheringReader {
  protected readonly cutter = new SseReader((data, name) => this.#readEvent(data, name));
  #usage: JsonRecord = {};
  #isStarted = false;
  /** Arguments given whole when their block began; pieces, if any come, take their place. */
  readonly #initialArguments = new Set<number>();
  /** By index, as far as they are plain; anything else has made the answer lossy. */
  readonly #blocks = new Map<number, PlainBlock>();
  /** Of the first thoughts, and at which index these are. */
  #signature = '';
  #thoughtsIndex: number | null = null;
  isComplete = false;

  override answer(): LlmAnswer {
    const answer = super.answer();
    return {
      ...answer,
      usage: readMessageUsage(this.#usage),
      ...readMessageTier(this.#usage),
      ...(this.#signature !== '' && { thinking_signature: this.#signature }),
      lossless: answer.lossless && this.#isStarted,
    };
  }

  #readEvent(data: string, name: string): void {
    if (this.isComplete || IDLE_EVENTS.has(name)) return;
    const event = this.gatherer.parseEvent(data);
    if (!event) return;
    this.gatherer.isLossy ||= !isPlainEvent(event);
    if (tellsError(event)) this.gatherer.failed = true;
    switch (event.type) {
      case 'message_start':
        this.#readStart(asRecord(event.message));
        break;
      case 'content_block_start':
        this.#readBlockStart(event);
        break;
      case 'content_block_delta':
        this.#readDelta(asCount(event.index) ?? 0, asRecord(event.delta));
        break;
      case 'message_delta':
        if (!isPlainStop(asRecord(event.delta))) this.gatherer.isLossy = true;
        this.gatherer.finish = messageFinish(asRecord(event.delta)?.stop_reason) ?? this.gatherer.finish;
        this.#usage = mergeUsage(this.#usage, event.usage);
        break;
      case 'message_stop':
        this.isComplete = true;
        break;
      case 'error':
        this.gatherer.failed = true;
        break;
      case 'ping':
      case 'content_block_stop':
        break;
      default:
        this.gatherer.isLossy = true;
    }
  }

  #readStart(message: JsonRecord | undefined): void {
    if (!message || this.#isStarted || !isPlainEnvelope(message) || !isNothing(message.content)) {
      this.gatherer.isLossy = true;
    }
    if (!message || this.#isStarted) return;
    this.#isStarted = true;
    this.gatherer.answerId = asName(message.id);
    this.gatherer.model = asModel(message.model);
    this.#usage = mergeUsage({}, message.usage);
  }

  #readBlockStart(event: JsonRecord): void {
    const index = asCount(event.index) ?? 0;
    const block = asRecord(event.content_block);
    this.#noteBlock(index, plainBlock(block));
    if (!block || this.gatherer.findCall(index)) return;
    // The message began with the model that was asked, and is paid for at the price of the one that wrote it.
    if (block.type === 'fallback') this.gatherer.model = asModel(asRecord(block.to)?.model);
    if (isThought(block) && this.#thoughtsIndex === null) {
      this.#thoughtsIndex = index;
      this.#addSignature(asText(block.signature ?? block.data));
    }
    if (block.type === 'text') {
      this.gatherer.addText(asText(block.text));
      return;
    }
    const read = readToolUse(block);
    const call = read && this.gatherer.openCall(index);
    if (!call) return;
    this.gatherer.nameCall(call, read);
    this.gatherer.addArguments(call, read.arguments);
    this.#initialArguments.add(index);
  }

  #noteBlock(index: number, kind: PlainBlock | null): void {
    const isNext = index === this.#blocks.size && index <= DIALECT_LIMITS.toolCallsMax;
    if (kind === null || !isNext || (kind === 'text' && index > 0)) {
      this.gatherer.isLossy = true;
    } else this.#blocks.set(index, kind);
  }

  #readDelta(index: number, delta: JsonRecord | undefined): void {
    this.gatherer.isLossy ||= !delta || !isPlainDelta(delta, this.#blocks.get(index));
    if (delta?.type === 'text_delta') this.gatherer.addText(asText(delta.text));
    else if (delta?.type === 'input_json_delta') this.#readArguments(index, asText(delta.partial_json));
    else if (delta?.type === 'thinking_delta') this.gatherer.charsBeside += asText(delta.thinking).length;
    else if (delta?.type === 'signature_delta' && index === this.#thoughtsIndex)
      this.#addSignature(asText(delta.signature));
  }

  #addSignature(piece: string): void {
    this.#signature += piece;
    if (this.#signature.length <= DIALECT_LIMITS.signatureCharsMax) return;
    // A part of it is worth nothing.
    this.#signature = '';
    this.#thoughtsIndex = -1;
  }

  #readArguments(index: number, piece: string): void {
    const call = this.gatherer.findCall(index);
    if (!call || piece === '') return;
    if (this.#initialArguments.delete(index)) this.gatherer.setArguments(call, piece);
    else this.gatherer.addArguments(call, piece);
  }
}
