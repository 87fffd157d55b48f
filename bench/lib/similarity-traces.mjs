/**
 * The semantic loop on recorded sessions: which of them would have had a hint, an alert, a pause. Requests are made and
 * read as the gateway reads them, so what counts as a prompt is what counts there.
 */

import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { HISTORY_COUNT_MAX, promptOf } from '#domain/semantic-loop';
import { decideVeto } from '#domain/text-likeness';
import { requestBodies } from './detection-chat.mjs';
import { isIn } from './detection-traces.mjs';

/** @typedef {import('./detection-traces.mjs').RecordedTrace} RecordedTrace */
/** @typedef {import('./detection-traces.mjs').Group} Group */
/** @typedef {import('./detection-chat.mjs').Wire} Wire */
/** @typedef {import('./similarity-embedders.mjs').Measured} Measured */
/** @typedef {{ trace: RecordedTrace, prompts: string[] }} Session */

/** @type {{ group: Group, title: string }[]} */
export const groups = [
  { group: 'humanYes', title: 'looping, by a human: yes' },
  { group: 'humanNo', title: 'looping, by a human: no' },
  { group: 'stagnated', title: 'stood still until the step limit' },
  { group: 'success', title: 'succeeded' },
];

/** @param {RecordedTrace[]} traces @param {Wire} wire @returns {Session[]} */
export function sessionsOf(traces, wire) {
  return traces.map((trace) => {
    const prompts = [];
    for (const body of requestBodies(trace, wire)) {
      const request = DIALECT_BY_NAME['openai-chat'].readRequest(JSON.parse(body), '');
      const prompt = promptOf(request);
      if (prompt !== null) prompts.push(prompt);
    }
    return { trace, prompts };
  });
}

/**
 * @param {Measured} embedder
 * @param {Session} session
 * @param {number} cosineAbove exclusive; above 1: only the very same text counts
 * @param {boolean | null} strict null: no vetoes
 * @returns {number} prompts that came again in other words, or in the same
 */
export function loopsOf(embedder, { prompts }, cosineAbove, strict) {
  let loops = 0;
  for (const [at, prompt] of prompts.entries()) {
    if (embedder.vectorOf(prompt) === null) continue;
    const earlier = prompts.slice(Math.max(0, at - HISTORY_COUNT_MAX), at);
    const isLoop = earlier.some(
      (one) =>
        one === prompt ||
        (embedder.cosine(one, prompt) > cosineAbove &&
          (strict === null || decideVeto(one, prompt, { strict }) === null)),
    );
    if (isLoop) loops += 1;
  }
  return loops;
}

/**
 * @param {Session[]} sessions
 * @param {number[]} loops of each session
 * @param {Group} group
 */
export function reached(sessions, loops, group) {
  const count = { sessions: 0, asked: 0, hinted: 0, alerted: 0, paused: 0 };
  for (const [at, { trace, prompts }] of sessions.entries()) {
    if (!isIn(trace, group)) continue;
    count.sessions += 1;
    // Without two prompts there is nothing to compare.
    if (prompts.length > 1) count.asked += 1;
    const found = loops[at] ?? 0;
    if (found >= 1) count.hinted += 1;
    if (found >= 2) count.alerted += 1;
    if (found >= 3) count.paused += 1;
  }
  return count;
}
