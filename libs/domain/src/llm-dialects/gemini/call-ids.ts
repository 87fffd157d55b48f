/**
 * Ids of calls as a key of the cache has them. Where the vendor gives a call none, the AI SDK and others make one up, another each time:
 * it says which result belongs to which call, and nothing else, so each id is counted instead.
 */
import { isObject } from '../fields-left.js';
import type { JsonRecord } from '../read-json.js';

const MEMBERS = ['functionCall', 'function_call', 'functionResponse', 'function_response'];

export class CallIds {
  readonly #counted = new Map<string, string>();

  /** The same content, but for its ids. Of one conversation, in order. */
  count(content: unknown): unknown {
    if (!isObject(content) || !Array.isArray(content.parts)) return content;
    return { ...content, parts: content.parts.map((part) => (isObject(part) ? this.#countIn(part) : part)) };
  }

  #countIn(part: JsonRecord): JsonRecord {
    for (const name of MEMBERS) {
      const call = part[name];
      if (isObject(call) && typeof call.id === 'string')
        return { ...part, [name]: { ...call, id: this.#countOf(call.id) } };
    }
    return part;
  }

  #countOf(id: string): string {
    const count = this.#counted.get(id) ?? String(this.#counted.size + 1);
    this.#counted.set(id, count);
    return count;
  }
}
