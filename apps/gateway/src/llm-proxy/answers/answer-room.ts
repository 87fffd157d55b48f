/**
 * Memory that the answers under way take while they are read, all together. Their upstreams decide how long they are, and those
 * that compress them pay for little of it. An answer without room goes on to its client all the same.
 */
import type { FairShare } from '../../fair-share.js';

/** Over all tenants, half of it per tenant; then answers go unread but for their usage. */
export const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
/** Of each answer so much is read whatever the others take: long ones must not blind the guards to the rest. */
const FREE_BYTES = 64 * 1024;

/** @param keptCount bytes and characters that a reader keeps now. @returns false: there is no room for so many */
export type MayKeep = (keptCount: number) => boolean;

/** One call's part of it. */
export class AnswerRoom {
  readonly #tenantId: string;
  readonly #answerBytes: FairShare;
  #taken = 0;
  #isLeft = false;

  constructor(tenantId: string, answerBytes: FairShare) {
    this.#tenantId = tenantId;
    this.#answerBytes = answerBytes;
  }

  /** For one reader. What it kept at most stays taken, though it may keep less later. */
  keeper(): MayKeep {
    let ownCount = FREE_BYTES;
    return (keptCount) => {
      if (keptCount <= ownCount) return true;
      if (!this.#take(keptCount - ownCount)) return false;
      ownCount = keptCount;
      return true;
    };
  }

  /** When the answer is read. What is still being inflated finds no room any more. */
  leave(): void {
    this.#isLeft = true;
    this.#answerBytes.giveBack(this.#tenantId, this.#taken);
    this.#taken = 0;
  }

  #take(byteCount: number): boolean {
    if (this.#isLeft || !this.#answerBytes.take(this.#tenantId, byteCount)) return false;
    this.#taken += byteCount;
    return true;
  }
}
