/**
 * Three numbers a step, side by side. Nearly every request needs to know one thing only of the steps before it, that none of them
 * is like it; and the steps themselves lie all over the memory: to visit twenty of them takes longer than all else there is to decide.
 */
import { isNear } from './fingerprint.js';
import type { PromptPrint } from './prompt-print.js';

const NUMBERS_PER_STEP = 3;

export class StepMarks {
  /** Of each step both halves of its print, and a bit for each of its calls. */
  readonly #numbers: number[] = [];

  push(prompt: PromptPrint): void {
    const { hi, lo } = printOf(prompt);
    this.#numbers.push(hi, lo, callBits(prompt));
  }

  remove(index: number): void {
    this.#numbers.splice(index * NUMBERS_PER_STEP, NUMBERS_PER_STEP);
  }

  /** False: no step's prompt is similar to this one, and none has a call that this one repeats. True: look at them. */
  mayRecur(prompt: PromptPrint): boolean {
    const numbers = this.#numbers;
    const { hi, lo } = printOf(prompt);
    const bits = callBits(prompt);
    const hasResults = prompt.results.length > 0;
    for (let at = 0; at < numbers.length; at += NUMBERS_PER_STEP) {
      const isLike = hasResults
        ? ((numbers[at + 2] as number) & bits) !== 0
        : isNear(numbers[at] as number, numbers[at + 1] as number, hi, lo);
      if (isLike) return true;
    }
    return false;
  }
}

/** Of results without a text or a handover it tells nothing: their calls do. */
const printOf = ({ text, handover }: PromptPrint) => text ?? handover ?? NOTHING;
const NOTHING = { hi: 0, lo: 0 };

/** Equal for equal calls. A result of a call that nobody knows repeats none, and has no bit. */
function callBits({ results }: PromptPrint): number {
  let bits = 0;
  for (const { callKey } of results) if (callKey !== null) bits |= 1 << bitOf(callKey);
  return bits;
}

/** Zero to 31. */
function bitOf(callKey: string): number {
  let hash = 0;
  for (let at = 0; at < callKey.length; at += 1) hash = Math.imul(hash, 31) + callKey.charCodeAt(at);
  return hash >>> 27;
}
