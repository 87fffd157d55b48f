/**
 * Finds the calls that tool results answer, walking back from the newest turn and no further than it has to. Each
 * message is looked at once, however many results ask, and what is found is read by whoever found it.
 */
import { asRecord, type JsonRecord } from './read-json.js';

/** Hands over each call that the message makes, with the key that its result will name. */
export type CollectCalls = (message: JsonRecord, add: (key: string, call: JsonRecord) => void) => void;

export class CallIndex {
  readonly #messages: readonly unknown[];
  readonly #collect: CollectCalls;
  readonly #known = new Map<string, JsonRecord>();
  #next: number;

  /** @param before index of the newest turn's first message */
  constructor(messages: readonly unknown[], before: number, collect: CollectCalls) {
    this.#messages = messages;
    this.#collect = collect;
    this.#next = before - 1;
  }

  /** The nearest one back, as some vendors begin their ids anew in each turn. */
  find(key: string): JsonRecord | undefined {
    while (this.#next >= 0 && !this.#known.has(key)) {
      const message = asRecord(this.#messages[this.#next]);
      this.#next -= 1;
      if (message) this.#collect(message, this.#add);
    }
    return this.#known.get(key);
  }

  readonly #add = (key: string, call: JsonRecord): void => {
    if (key !== '' && !this.#known.has(key)) this.#known.set(key, call);
  };
}
