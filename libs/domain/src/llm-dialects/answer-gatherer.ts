/** Puts an answer together from its pieces, within bounds. One per stream; not for keeping. */
import type { FinishReason, LlmAnswer, LlmToolCall, Usage } from '#contracts';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { searchCounts } from './usage.js';

export class AnswerGatherer {
  model: string | null = null;
  finish: FinishReason | null = null;
  usage: Usage | null = null;
  /** Told beside the usage. */
  searchCount = 0;
  arePreviewSearches = false;
  readonly #searches = new Set<string | number>();
  failed = false;
  answerId: string | null = null;
  charsBeside = 0;
  /** Something came that is neither text nor a call, or cannot be put where it was. */
  isLossy = false;
  /** A bound was reached: text or calls are missing. */
  isTruncated = false;
  #text = '';
  #chars = 0;
  /** In order of arrival, under the vendor's index or id. */
  readonly #calls = new Map<string | number, LlmToolCall>();

  addText(piece: string): void {
    this.#text += this.#admit(piece);
  }

  get hasText(): boolean {
    return this.#text !== '';
  }

  get callCount(): number {
    return this.#calls.size;
  }

  /** The call under this key, begun if it is new; undefined once there are too many. */
  openCall(key: string | number): LlmToolCall | undefined {
    const known = this.#calls.get(key);
    if (known) return known;
    if (this.#calls.size >= DIALECT_LIMITS.toolCallsMax) {
      this.isTruncated = true;
      return undefined;
    }
    const call: LlmToolCall = { id: null, name: '', arguments: '' };
    this.#calls.set(key, call);
    return call;
  }

  findCall(key: string | number): LlmToolCall | undefined {
    return this.#calls.get(key);
  }

  addArguments(call: LlmToolCall, piece: string): void {
    call.arguments += this.#admit(piece);
  }

  /** Counts it once, however often it is told of. As many as calls are kept. */
  noteSearch(key: string | number): void {
    if (this.#searches.size < DIALECT_LIMITS.toolCallsMax) this.#searches.add(key);
    this.searchCount = Math.max(this.searchCount, this.#searches.size);
  }

  /** In place of the pieces that came before. */
  setArguments(call: LlmToolCall, whole: string): void {
    this.#chars -= call.arguments.length;
    call.arguments = this.#admit(whole);
  }

  /** The vendor's own summary, in place of everything gathered. */
  replace(answer: Pick<LlmAnswer, 'text' | 'tool_calls'>): void {
    this.#text = '';
    this.#chars = 0;
    this.#calls.clear();
    this.addText(answer.text);
    for (const [index, call] of answer.tool_calls.entries()) {
      const own = this.openCall(index);
      if (!own) return;
      own.id = call.id;
      own.name = call.name;
      this.addArguments(own, call.arguments);
    }
  }

  /** A copy. A call whose name never came is left out. */
  toAnswer(): LlmAnswer {
    const tool_calls: LlmToolCall[] = [];
    for (const call of this.#calls.values()) if (call.name !== '') tool_calls.push({ ...call });
    const { model, finish, usage, failed, answerId: answer_id, charsBeside } = this;
    const { searchCount, arePreviewSearches } = this;
    const lossless = !this.isLossy && !this.isTruncated && !failed && tool_calls.length === this.#calls.size;
    return {
      model,
      text: this.#text,
      tool_calls,
      ...(charsBeside > 0 && { chars_beside: charsBeside }),
      finish,
      usage: usage && { ...usage, ...searchCounts(searchCount, arePreviewSearches) },
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
