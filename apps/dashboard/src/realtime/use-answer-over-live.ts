/**
 * Between a command's answer and the topic that tells everybody of it lies up to a second. What was saved must not look
 * undone for that long: the answer stands in for the version that was live when it was asked for, and for no other. What
 * the topic tells meanwhile may be somebody else's newer change, and an answer that is late must not hide it.
 */
import { useState } from 'react';

interface Dated {
  /** Differs from version to version, and from one telling of the same version to the next it does not. */
  updated_at_ms: number | null;
}

/** @returns what to show, and what to call as a request goes out; it gives what to call with the answer */
export function useAnswerOverLive<T extends Dated>(live: T): [shown: T, ask: () => (answer: T) => void] {
  const [held, setHeld] = useState<{ over: number | null; answer: T } | null>(null);
  const { updated_at_ms: over } = live;
  return [held?.over === over ? held.answer : live, () => (answer) => setHeld({ over, answer })];
}
