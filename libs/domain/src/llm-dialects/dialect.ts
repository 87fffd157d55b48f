/**
 * One vendor's wire API, as pure functions over values already parsed from JSON. Reads tolerantly: what it does not
 * know it leaves alone, and odd input gives an empty reading, never an exception. Writes what the vendor's own SDK
 * accepts as the vendor's answer.
 */
import type { CachedAnswer, CanonicalRequest, DialectName, LlmAnswer, LlmRequest } from '#contracts';

/** Something of ours in place of an answer. */
export interface OwnAnswer {
  contentType: string;
  body: string;
}

export interface AnswerToWrite {
  id: string;
  model: string;
  text: string;
  stream: boolean;
  atMs: number;
  /** Gemini streams as a JSON array unless asked for `alt=sse`. */
  query?: string;
}

/** An answer given before, for a request that may be answered with it. */
export interface ReplayToWrite {
  answer: CachedAnswer;
  /** The caller's request, parsed; whether and how it streams is in it. */
  body: unknown;
  path: string;
  query?: string;
  /** Ours, fresh for each replay: a client may take two messages of one id for the same. Letters, digits, - and _. */
  id: string;
  atMs: number;
}

export interface ErrorToWrite {
  status: number;
  code: string;
  message: string;
}

/** Gathers an answer from its stream while the bytes go by. Holds text, tool calls and usage; bounded. */
export interface StreamReader {
  /** A chunk as it came; events may be cut anywhere, inside a UTF-8 sequence too. Never throws. */
  push(chunk: Uint8Array): void;
  /**
   * No chunk is to come: what lacks nothing but the end of its line, or the blank line behind it, is read, and what is not whole
   * makes the answer lossy. Never throws.
   */
  end(): void;
  /** What has come so far. `finish` is null while the vendor has not said that it is over. */
  answer(): LlmAnswer;
  /** Bytes and characters that it keeps now. */
  readonly keptCount: number;
  /** The vendor's own end of stream was seen ([DONE], message_stop, response.completed, a finishReason). */
  readonly isComplete: boolean;
  /** A bound of DIALECT_LIMITS was reached: something is missing from the answer. Never of use to a cache. */
  readonly isTruncated: boolean;
}

/** Words that a request had and its client's history has not; the model has thought of them. */
export interface ToldWords {
  words: readonly string[];
  /** Behind the message that was the newest then; else in the system prompt. */
  isBehindMessage: boolean;
}

export interface BoundThoughts {
  /** Where `injectSystem` puts words into this request. */
  isBehindMessage(body: unknown): boolean;
  /**
   * The request with words where an earlier one had them; the same value where there are none.
   * @param under what was told when the thoughts of this signature were thought
   */
  tellAgain(body: unknown, under: (signature: string) => ToldWords | null): unknown;
  /** Of the first thoughts in an answer that nobody reads whole. Undefined: there are none, or they have no end. @param text its beginning */
  signatureAtBeginning(text: string): string | undefined;
}

export interface Dialect {
  readonly name: DialectName;

  /** @param path below the upstream's base URL, without query, such as `/chat/completions` */
  matches(method: string, path: string): boolean;

  /** @param path Gemini has the model and whether it streams in the path */
  readRequest(body: unknown, path: string): LlmRequest;

  /** A complete, unstreamed answer. */
  readAnswer(body: unknown): LlmAnswer;

  streamReader(): StreamReader;

  /** Its stream says itself that it is over. Gemini's does not: some models tell a finish reason with each event. */
  readonly hasStreamEnd: boolean;

  /** All that can change the answer, in no vendor's vocabulary. @param query of the request's URL */
  canonicalRequest(body: unknown, path: string, query?: string): CanonicalRequest;

  /** A copy of the request with `text` as the operator's or the gateway's word to the model. */
  injectSystem(body: unknown, text: string): unknown;

  /** Of a vendor that refuses a model's thoughts once what came before them is not as it was. */
  readonly boundThoughts?: BoundThoughts;

  /** A finished assistant message in the vendor's shape, streamed or not: no tool calls, and a usage of 0. */
  writeAnswer(answer: AnswerToWrite): OwnAnswer;

  /**
   * The same text and tool calls as the caller's SDK takes them from the vendor, streamed or not, with all input
   * counted as cached; without a usage where the first answer had none, but for Anthropic's kind. Null: this caller cannot have this answer (arguments that are no object where the vendor has
   * objects, an id that the vendor would have to know).
   */
  writeReplay(replay: ReplayToWrite): OwnAnswer | null;

  /** The vendor's error shape, unstreamed. `code` is our catalogue's. */
  writeError(error: ErrorToWrite): OwnAnswer;

  /** An error inside a stream that has begun (a held call that expires): one complete event. */
  writeStreamError(error: ErrorToWrite): string;

  /** A comment the vendor's stream parser skips, sent while a call is held. Null where the stream knows none. */
  readonly keepAliveComment: string | null;
}
