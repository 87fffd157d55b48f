/** Gathers `chat.completion.chunk`s. */
import type { LlmAnswer } from '#contracts';
import { textOf } from '../content-parts.js';
import { GatheringReader } from '../gathering-reader.js';
import {
  asCount,
  asJsonText,
  asList,
  asModel,
  asName,
  asRecord,
  asText,
  type JsonRecord,
  tellsError,
} from '../read-json.js';
import { readTier } from '../service-tier.js';
import { SseReader } from '../sse.js';
import { isPlainChoice, isPlainEnvelope } from './lossless.js';
import { isFirstChoice, readChatPart, reasoningChars, writtenChars } from './parts.js';
import { chatFinish, isBrokenOff } from './read-answer.js';
import { readChunkUsage, searchesBy } from './usage.js';

const END = '[DONE]';
/** Key of the older `function_call`, of which there is one. */
const LEGACY_CALL = 'function_call';

export class ChatStreamReader extends GatheringReader {
  protected readonly cutter = new SseReader((data) => this.#readEvent(data));
  isComplete = false;
  #finishReason: unknown = null;
  /** Key of the latest call under an index that several have. */
  readonly #latestAt = new Map<number | string, number>();

  override answer(): LlmAnswer {
    this.gatherer.searchCount = searchesBy(this.gatherer.model);
    const answer = super.answer();
    answer.finish = chatFinish(this.#finishReason);
    return answer;
  }

  #readEvent(data: string): void {
    if (this.isComplete) return;
    if (data.startsWith(END)) {
      this.isComplete = true;
      return;
    }
    const chunk = this.gatherer.parseEvent(data);
    if (!chunk) return;
    this.gatherer.isLossy ||= !isPlainEnvelope(chunk);
    if (tellsError(chunk)) this.gatherer.failed = true;
    this.gatherer.model ??= asModel(chunk.model);
    this.gatherer.answerId ??= asName(chunk.id);
    this.gatherer.usage = readChunkUsage(chunk, this.gatherer.usage);
    this.gatherer.tier = { ...this.gatherer.tier, ...readTier(chunk.service_tier) };
    for (const value of asList(chunk.choices)) {
      const choice = asRecord(value);
      this.gatherer.isLossy ||= !isPlainChoice(choice, choice?.delta ?? {});
      if (!choice) continue;
      if (isFirstChoice(choice)) this.#readChoice(choice);
      else this.gatherer.charsBeside += writtenChars(asRecord(choice.delta) ?? {});
    }
  }

  #readChoice(choice: JsonRecord): void {
    if (isBrokenOff(choice)) this.gatherer.failed = true;
    this.#finishReason = asName(choice.finish_reason) ?? this.#finishReason;
    const delta = asRecord(choice.delta);
    if (!delta) return;
    this.gatherer.charsBeside += reasoningChars(delta);
    if (delta.content) this.gatherer.addText(textOf(delta.content, readChatPart, ''));
    if (delta.refusal) this.gatherer.addText(asText(delta.refusal));
    const audio = asRecord(delta.audio);
    if (audio) this.gatherer.addText(asText(audio.transcript));
    const calls = asList(delta.tool_calls);
    for (const [position, value] of calls.entries()) {
      const call = asRecord(value);
      if (asCount(call?.index) === undefined) this.gatherer.isLossy = true;
      if (call) this.#readCall(asCount(call.index) ?? position, call.id, call.function ?? call.custom);
    }
    if (delta.function_call) this.#readCall(LEGACY_CALL, null, delta.function_call);
  }

  /** Only arguments come in fragments; a name or an id that comes again is the same one. */
  #readCall(index: number | string, id: unknown, body: unknown): void {
    const fields = asRecord(body);
    const name = asName(fields?.name);
    const call = this.#callAt(index, asName(id), name);
    if (!call) return;
    this.gatherer.nameCall(call, { id: call.id ?? asName(id), name: call.name || (name ?? '') });
    if (name !== null && call.name !== '' && call.name !== name) this.gatherer.isLossy = true;
    if (!fields) return;
    const fragment = fields.arguments ?? fields.input;
    if (fragment) this.gatherer.addArguments(call, asJsonText(fragment));
  }

  /**
   * Several calls under one index, as some vendors number them, begin with an id and a name of their own; an id alone may be
   * new with each fragment. What has neither belongs to the last of them.
   */
  #callAt(index: number | string, id: string | null, name: string | null) {
    const key = this.#latestAt.get(index) ?? index;
    const known = this.gatherer.findCall(key)?.id ?? null;
    if (id === null || known === null || known === id) return this.gatherer.openCall(key);
    this.gatherer.isLossy = true;
    if (name === null) return this.gatherer.openCall(key);
    // No index is below 0.
    const own = -1 - this.gatherer.callCount;
    this.#latestAt.set(index, own);
    return this.gatherer.openCall(own);
  }
}
