/**
 * Between a command's answer and the topic that tells everybody of it lies up to a second. What was saved must not look
 * undone for that long: the answer stands in for the live value that was there when it was asked for, and for no other.
 * What the topic tells meanwhile may be somebody else's newer change, and an answer that is late must not hide it.
 */
import { useState } from 'react';

/** @returns what to show, and what to call as a request goes out; it gives what to call with the answer */
export function useAnswerOverLive<T>(live: T): [shown: T, ask: () => (answer: T) => void] {
  const [held, setHeld] = useState<{ over: T; answer: T } | null>(null);
  return [held?.over === live ? held.answer : live, () => (answer) => setHeld({ over: live, answer })];
}
