/** Puts an answer together from its pieces, within bounds. One per stream; not for keeping. */
import type { FinishReason, LlmAnswer, LlmToolCall, Usage } from '#contracts';
import { TextPieces } from '#kernel';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { asRecord, type JsonRecord, parseJson } from './read-json.js';
import { searchCounts } from './usage.js';

const OBJECT = /^\s*\{/;

/** A call whose arguments come in pieces. */
interface GatheredCall extends Pick<LlmToolCall, 'id' | 'name'> {
  readonly arguments: TextPieces;
}

export class AnswerGatherer {
  model: string | null = null;
  finish: FinishReason | null = null;
  usage: Usage | null = null;
  tier: Pick<LlmAnswer, 'service_tier'> = {};
  /** Told beside the usage. */
  searchCount = 0;
  arePreviewSearches = false;
  fileSearchCount = 0;
  readonly #searches = new Set<string | number>();
  readonly #fileSearches = new Set<string | number>();
  failed = false;
  answerId: string | null = null;
  charsBeside = 0;
  /** Something came that is neither text nor a call, or cannot be put where it was. */
  isLossy = false;
  /** A bound was reached: text or calls are missing. */
  isTruncated = false;
  #brokenCount = 0;
  readonly #text = new TextPieces();
  #chars = 0;
  /** In order of arrival, under the vendor's index or id. */
  readonly #calls = new Map<string | number, GatheredCall>();

  /** An event as an object; undefined, and something is lost, where it is none. */
  parseEvent(data: string): JsonRecord | undefined {
    if (this.#brokenCount >= DIALECT_LIMITS.brokenEventsMax) {
      this.isTruncated = true;
      return undefined;
    }
    const looksWhole = OBJECT.test(data);
    const event = looksWhole ? asRecord(parseJson(data)) : undefined;
    if (event !== undefined) return event;
    this.isLossy = true;
    if (looksWhole) this.#brokenCount += 1;
    return undefined;
  }

  /** Characters that it keeps. */
  get keptCount(): number {
    return this.#chars;
  }

  addText(piece: string): void {
    this.#text.push(this.#admit(piece));
  }

  get hasText(): boolean {
    return this.#text.length > 0;
  }

  get callCount(): number {
    return this.#calls.size;
  }

  /** The call under this key, begun if it is new; undefined once there are too many. */
  openCall(key: string | number): GatheredCall | undefined {
    const known = this.#calls.get(key);
    if (known) return known;
    if (this.#calls.size >= DIALECT_LIMITS.toolCallsMax) {
      this.isTruncated = true;
      return undefined;
    }
    const call: GatheredCall = { id: null, name: '', arguments: new TextPieces() };
    this.#calls.set(key, call);
    return call;
  }

  findCall(key: string | number): GatheredCall | undefined {
    return this.#calls.get(key);
  }

  /** In place of what it was called before. */
  nameCall(call: GatheredCall, { id, name }: Pick<LlmToolCall, 'id' | 'name'>): void {
    this.#chars -= (call.id?.length ?? 0) + call.name.length;
    call.id = id && this.#admit(id);
    call.name = this.#admit(name);
  }

  addArguments(call: GatheredCall, piece: string): void {
    call.arguments.push(this.#admit(piece));
  }

  /** Counts it once, however often it is told of. As many as calls are kept. */
  noteSearch(key: string | number): void {
    if (this.#searches.size < DIALECT_LIMITS.toolCallsMax) this.#searches.add(key);
    this.searchCount = Math.max(this.searchCount, this.#searches.size);
  }

  /** The same of a search in files. */
  noteFileSearch(key: string | number): void {
    if (this.#fileSearches.size < DIALECT_LIMITS.toolCallsMax) this.#fileSearches.add(key);
    this.fileSearchCount = Math.max(this.fileSearchCount, this.#fileSearches.size);
  }

  /** In place of the pieces that came before. */
  setArguments(call: GatheredCall, whole: string): void {
    this.#chars -= call.arguments.length;
    call.arguments.clear();
    this.addArguments(call, whole);
  }

  /** The vendor's own summary, in place of everything gathered. */
  replace(answer: Pick<LlmAnswer, 'text' | 'tool_calls'>): void {
    this.#text.clear();
    this.#chars = 0;
    this.#calls.clear();
    this.addText(answer.text);
    for (const [index, call] of answer.tool_calls.entries()) {
      const own = this.openCall(index);
      if (!own) return;
      this.nameCall(own, call);
      this.addArguments(own, call.arguments);
    }
  }

  /** A copy. A call whose name never came is left out. */
  toAnswer(): LlmAnswer {
    const tool_calls: LlmToolCall[] = [];
    for (const { id, name, arguments: json } of this.#calls.values())
      if (name !== '') tool_calls.push({ id, name, arguments: json.toString() });
    const { model, finish, usage, failed, answerId: answer_id, charsBeside } = this;
    const { searchCount, arePreviewSearches, fileSearchCount } = this;
    const lossless = !this.isLossy && !this.isTruncated && !failed && tool_calls.length === this.#calls.size;
    return {
      model,
      text: this.#text.toString(),
      tool_calls,
      ...(charsBeside > 0 && { chars_beside: charsBeside }),
      finish,
      usage: usage && { ...usage, ...searchCounts(searchCount, arePreviewSearches, fileSearchCount) },
      ...this.tier,
      failed,
      answer_id,
      lossless,
    };
  }

  #admit(piece: string): string {
    const room = DIALECT_LIMITS.answerCharsMax - this.#chars;
    if (piece.length <= room) {
      this.#chars += piece.length;
      return piece;
    }
    this.isTruncated = true;
    this.#chars = DIALECT_LIMITS.answerCharsMax;
    return piece.slice(0, room);
  }
}
