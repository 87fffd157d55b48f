/**
 * Reads wait here for their thread, tenants by turns: one that asks for thousands waits for itself, and another's page comes
 * next. Few are with the thread at a time, enough that it always has work, so that what is asked now has little ahead of it.
 */
import { ObservatoryError } from '#contracts';
import type { ReadCallName, ReadCalls } from './protocol.js';
import { ThreadError, toError } from './thread-failure.js';
import type { ThreadLink } from './thread-link.js';

/** Of all tenants; one has no more waiting than it leaves: alone half, so that who asks last still finds a place. */
const READS_WAITING_MAX = 2_000;

/** Whose turn a read over all tenants takes: the gateway's own. */
const NOBODY = '';

export interface ReadQueueOptions {
  link: Pick<ThreadLink, 'ask' | 'close'>;
  /** With the thread at once. */
  runningMax: number;
  /** A read was refused. Must not throw. */
  onRefused: () => void;
}

export class ReadQueue {
  readonly #options: ReadQueueOptions;
  /** Starts what waits; the tenant that was served longest ago first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #runningCount = 0;
  /** All that come wait, though there is room for them with the thread. */
  #isHeld = false;
  #onIdle = () => {};

  constructor(options: ReadQueueOptions) {
    this.#options = options;
  }

  /** Rejects with `store_busy` where its tenant has its share waiting. */
  ask<Name extends ReadCallName>(
    name: Name,
    args: Parameters<ReadCalls[Name]>,
  ): Promise<ReturnType<ReadCalls[Name]>> {
    return new Promise((resolve, reject) => {
      const start = async () => {
        this.#runningCount += 1;
        try {
          const { result } = await this.#options.link.ask({ kind: 'read', name, args });
          resolve(result as ReturnType<ReadCalls[Name]>);
        } catch (error) {
          reject(error instanceof ThreadError ? toError(error.failure) : error);
        }
        this.#runningCount -= 1;
        this.#goOn();
      };
      if (this.#hasRoom()) start();
      else if (!this.#wait(tenantOf(args), start)) reject(this.#refuse());
    });
  }

  /** Does `work` while none of its reads is with the thread; for one at a time. Rejects as `work` does. */
  async whileIdle(work: () => Promise<unknown>): Promise<void> {
    this.#isHeld = true;
    if (this.#runningCount > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    try {
      await work();
    } finally {
      this.#isHeld = false;
      while (this.#hasRoom() && this.#waitingCount > 0) this.#startNext();
    }
  }

  /** Answers everything asked before; resolves when the thread is gone. */
  close(): Promise<void> {
    for (const starts of this.#waiting.values()) for (const start of starts) start();
    this.#waiting.clear();
    this.#waitingCount = 0;
    return this.#options.link.close();
  }

  #wait(tenantId: string, start: () => void): boolean {
    const ofTenant = this.#waiting.get(tenantId) ?? [];
    if (ofTenant.length >= READS_WAITING_MAX - this.#waitingCount) return false;
    ofTenant.push(start);
    this.#waiting.set(tenantId, ofTenant);
    this.#waitingCount += 1;
    return true;
  }

  #hasRoom(): boolean {
    return !this.#isHeld && this.#runningCount < this.#options.runningMax;
  }

  #goOn(): void {
    if (!this.#isHeld) this.#startNext();
    else if (this.#runningCount === 0) this.#onIdle();
  }

  #startNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [tenantId, starts] = next;
    // Last again, behind all others that wait.
    this.#waiting.delete(tenantId);
    const start = starts.shift();
    if (starts.length > 0) this.#waiting.set(tenantId, starts);
    this.#waitingCount -= 1;
    start?.();
  }

  #refuse(): ObservatoryError {
    this.#options.onRefused();
    return new ObservatoryError('store_busy', undefined, { retryAfterSeconds: 1 });
  }
}

/** A tenant stands first among a read's arguments, or in the first. */
function tenantOf([first]: readonly unknown[]): string {
  if (typeof first === 'string') return first;
  return (first as { tenantId?: string } | undefined)?.tenantId ?? NOBODY;
}
