/**
 * Between a command's answer and the topic that tells everybody of it lies up to a second. What was saved must not look
 * undone for that long: the answer stands in for the live value until the topic says anything newer.
 */
import { useState } from 'react';

/** @returns what to show, and what to call with an answer */
export function useAnswerOverLive<T>(live: T): [shown: T, hold: (answer: T) => void] {
  const [held, setHeld] = useState<{ over: T; answer: T } | null>(null);
  return [held?.over === live ? held.answer : live, (answer) => setHeld({ over: live, answer })];
}
