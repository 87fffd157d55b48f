/**
 * Reads an answer along while it goes by: a stream some kilobytes at a time, a whole answer once it has ended. No client
 * waits for it, least of all for the first token: what it is given has left before it is read. An answer it cannot read
 * (not what the vendor documents) is passed on all the same and counts as unread. Of one that is too large to be
 * read, as some are with their pictures, or holds more than anybody reads, or finds no room, what it says of its usage is, and
 * by what the vendor will know its thoughts again.
 */
import type { LlmAnswer } from '#contracts';
import { DIALECT_LIMITS, type Dialect, type StreamReader } from '#domain/llm-dialects';
import { BytePieces, parseJsonBytes, parseJsonExactly, passedBound } from '#kernel';
import type { AnswerRoom, MayKeep } from './answer-room.js';
import { EndReader } from './end-reader.js';
import { isEventStream } from './forwarded-headers.js';
import type { Reader } from './inflated-reader.js';

/** Of an unstreamed answer; beyond it, it goes unread but for its end. */
const ANSWER_BYTES_READ_MAX = 16 * 1024 * 1024;
/** Of a stream, read together: some 100 us of work, and what a call under way holds. */
const TOGETHER_BYTES = 16 * 1024;
const TOGETHER_COUNT = 64;
/** Of an answer that goes unread; its thoughts come first. */
const SIGNATURE_WITHIN_BYTES = 1024 * 1024;

export class AnswerReader implements Reader<LlmAnswer> {
  readonly #dialect: Dialect;
  readonly #mayKeep: MayKeep;
  #stream: StreamReader | null;
  /** Of an unstreamed answer, all that came, until it is too large. */
  readonly #whole = new BytePieces();
  /** Of a stream, not read yet. */
  #chunks: Buffer[] = [];
  #byteCount = 0;
  #isUnreadable = false;
  /** Of a stream, which may turn out at its end to have been too long to be read, and of what is too large; null before. */
  #end: EndReader | null;
  /** Of the first thoughts in what goes unread. */
  #signature: string | undefined;

  private constructor(dialect: Dialect, stream: StreamReader | null, room: AnswerRoom) {
    this.#dialect = dialect;
    this.#mayKeep = room.keeper();
    this.#stream = stream;
    this.#end = stream === null ? null : new EndReader(dialect);
  }

  /**
   * @param headers of the answer, name, value, name, value ...
   * @param isStream the request asked for a stream: Gemini's may be a JSON array
   */
  static for(
    dialect: Dialect,
    headers: readonly string[],
    isStream: boolean | undefined,
    room: AnswerRoom,
  ): AnswerReader {
    const isEvents = isEventStream(headers);
    return new AnswerReader(
      dialect,
      isEvents || (isStream === true && dialect.name === 'gemini') ? dialect.streamReader() : null,
      room,
    );
  }

  push(bytes: Buffer): void {
    if (this.#stream === null) {
      this.#keepWhole(bytes);
      return;
    }
    this.#chunks.push(bytes);
    this.#byteCount += bytes.length;
    if (this.#byteCount >= TOGETHER_BYTES || this.#chunks.length >= TOGETHER_COUNT) {
      this.#byteCount = 0;
      // Node writes to sockets before its next microtask.
      queueMicrotask(() => this.#readEvents());
    }
  }

  /** Of a stream that says so itself: its last event has come. Reads what waits to be read. */
  get isComplete(): boolean {
    this.#readEvents();
    return this.#dialect.hasStreamEnd && this.#stream?.isComplete === true;
  }

  /** Null: nothing that could be read. Never throws. */
  finish(): LlmAnswer | null {
    if (this.#stream !== null) {
      this.#readEvents(true);
      return this.#isUnreadable ? null : this.#answerOf(this.#stream);
    }
    if (this.#end !== null) return this.#answerOfUnread(this.#end);
    if (this.#whole.byteCount === 0) return null;
    try {
      const answer = this.#whole.read((bytes) => readWithinBounds(this.#dialect, bytes));
      return answer ?? this.#answerOfUnread(this.#endOfWhole());
    } catch {
      return null;
    }
  }

  #keepWhole(bytes: Buffer): void {
    if (this.#end !== null) {
      this.#end.push(bytes);
      return;
    }
    this.#whole.push(bytes);
    const { byteCount } = this.#whole;
    if (byteCount > ANSWER_BYTES_READ_MAX || !this.#mayKeep(byteCount)) this.#end = this.#endOfWhole();
  }

  /** Of all that came so far: the end may lie in that. */
  #endOfWhole(): EndReader {
    const end = new EndReader(this.#dialect);
    const pieces = this.#whole.giveAway();
    for (const piece of pieces) end.push(piece);
    const { boundThoughts } = this.#dialect;
    if (boundThoughts !== undefined) {
      const beginning = Buffer.concat(pieces, Math.min(this.#whole.byteCount, SIGNATURE_WITHIN_BYTES));
      this.#signature = boundThoughts.signatureAtBeginning(beginning.toString('latin1'));
    }
    return end;
  }

  #answerOfUnread(end: EndReader): LlmAnswer | null {
    const answer = end.finish();
    if (answer === null || this.#signature === undefined) return answer;
    return { ...answer, thinking_signature: this.#signature };
  }

  /** Where an event was too long to be read, it may have been the one that says what the answer took. */
  #answerOf(stream: StreamReader): LlmAnswer {
    const answer = stream.answer();
    const atEnd = stream.isTruncated ? this.#end?.finish()?.usage : undefined;
    return atEnd ? { ...answer, usage: { ...answer.usage, ...atEnd } } : answer;
  }

  /** A reader's error would find nobody above it here, and must not end the process. */
  #readEvents(areAll = false): void {
    try {
      for (const bytes of this.#chunks.splice(0)) {
        this.#end?.push(bytes);
        this.#stream?.push(bytes);
      }
      if (areAll) this.#stream?.end();
      // Its end alone is read from here on.
      else if (this.#stream !== null && !this.#mayKeep(this.#stream.keptCount)) {
        this.#signature = this.#stream.answer().thinking_signature;
        this.#stream = null;
      }
    } catch {
      this.#isUnreadable = true;
    }
  }
}

/** Null for what passes a bound. @throws SyntaxError */
function readWithinBounds(dialect: Dialect, bytes: Buffer): LlmAnswer | null {
  if (passedBound(bytes, DIALECT_LIMITS.json) !== null) return null;
  const answer = dialect.readAnswer(parseJsonBytes(bytes));
  if (answer.lossless || answer.tool_calls.length === 0) return answer;
  // It may be so for an id of 64 bits among the arguments of a call, which tells it from another one.
  return { ...dialect.readAnswer(parseJsonExactly(bytes)), lossless: false };
}
