/** Calls that wait for their reply, by id. Bounded in count and size; each ends once: answered, out of time, or lost. */
import { SidecarFailure } from '#contracts/embedding';
import type { ReplyFrame } from './embedding-proto.js';

interface PendingCall {
  chars: number;
  timer: NodeJS.Timeout;
  resolve: (reply: ReplyFrame) => void;
  reject: (failure: SidecarFailure) => void;
}

const ID_MAX = 2 ** 32 - 1;

export interface PendingCallsOptions {
  countMax: number;
  /** Characters of the texts on their way. */
  charsMax: number;
  /** A call ran out of time. */
  onTimeout: () => void;
}

export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  readonly #options: PendingCallsOptions;
  #lastId = 0;
  #chars = 0;

  constructor(options: PendingCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** @returns its id and the reply to come, or null when there is no room */
  add(chars: number, timeoutMs: number): { id: number; reply: Promise<ReplyFrame> } | null {
    const { countMax, charsMax, onTimeout } = this.#options;
    // A single text is let in whatever its length: the bound is on what piles up.
    if (this.#calls.size >= countMax || (this.#chars > 0 && this.#chars + chars > charsMax)) return null;
    const id = this.#nextId();
    const reply = new Promise<ReplyFrame>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#take(id)?.reject(
          new SidecarFailure('timeout', `the sidecar did not answer within ${timeoutMs} ms`),
        );
        onTimeout();
      }, timeoutMs);
      timer.unref();
      this.#calls.set(id, { chars, timer, resolve, reject });
    });
    this.#chars += chars;
    return { id, reply };
  }

  /** One that nobody waits for any more is ignored. */
  answer(reply: ReplyFrame): void {
    this.#take(reply.id)?.resolve(reply);
  }

  reject(id: number, failure: SidecarFailure): void {
    this.#take(id)?.reject(failure);
  }

  rejectAll(failure: SidecarFailure): void {
    for (const id of [...this.#calls.keys()]) this.reject(id, failure);
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    clearTimeout(call.timer);
    this.#chars -= call.chars;
    this.#calls.delete(id);
    return call;
  }

  /** 1 .. 2^32 - 1, round and round, past those still in use. */
  #nextId(): number {
    do this.#lastId = this.#lastId === ID_MAX ? 1 : this.#lastId + 1;
    while (this.#calls.has(this.#lastId));
    return this.#lastId;
  }
}
