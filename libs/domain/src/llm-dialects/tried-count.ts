import { asBound, type JsonRecord } from './read-json.js';

/** Answers that an API like OpenAI's writes at once, and charges for: `best_of` tries more than the `n` that it gives. */
export const triedCount = ({ n, best_of }: JsonRecord): number =>
  Math.max(asBound(n) ?? 1, asBound(best_of) ?? 1);
