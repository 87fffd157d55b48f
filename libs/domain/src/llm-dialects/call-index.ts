/**
 * Finds the calls that tool results answer, walking back from the newest turn and no further than it has to. Each
 * message is looked at once, however many results ask, and so is each call: its arguments may be as large as a request.
 */
import type { LlmToolCall } from '#contracts';
import { asRecord, type JsonRecord } from './read-json.js';

/** Hands over each call that the message makes, with the key that its result will name. */
export type CollectCalls = (message: JsonRecord, add: (key: string, call: JsonRecord) => void) => void;

/** Null: it is no call. */
export type ReadCall = (call: JsonRecord) => LlmToolCall | null;

export class CallIndex {
  readonly #messages: readonly unknown[];
  readonly #collect: CollectCalls;
  readonly #read: ReadCall;
  readonly #known = new Map<string, JsonRecord>();
  /** Of those known, what somebody asked for. */
  readonly #calls = new Map<string, LlmToolCall | null>();
  #next: number;

  /** @param before index of the newest turn's first message */
  constructor(messages: readonly unknown[], before: number, collect: CollectCalls, read: ReadCall) {
    this.#messages = messages;
    this.#collect = collect;
    this.#read = read;
    this.#next = before - 1;
  }

  /** The nearest one back, as some vendors begin their ids anew in each turn; undefined: none. The same for all who ask. */
  find(key: string): LlmToolCall | null | undefined {
    while (this.#next >= 0 && !this.#known.has(key)) {
      const message = asRecord(this.#messages[this.#next]);
      this.#next -= 1;
      if (message) this.#collect(message, this.#add);
    }
    const record = this.#known.get(key);
    if (record !== undefined && !this.#calls.has(key)) this.#calls.set(key, this.#read(record));
    return this.#calls.get(key);
  }

  readonly #add = (key: string, call: JsonRecord): void => {
    if (key !== '' && !this.#known.has(key)) this.#known.set(key, call);
  };
}
