/** What the kill-switch bench times: texts of several kinds, windows filled with them, and one decision at a time. */
import { hash } from 'node:crypto';
import { KILL_SWITCH_DEFAULTS } from '#contracts';
import { KillSwitchWindows } from '#domain/kill-switch';
import { systemClock } from '#kernel';
import { liveBytes } from '#testing';
import { seededIndex } from '../../scripts/lib/seeded-random.mjs';

/** @typedef {'prose' | 'log' | 'json' | 'cyrillic'} TextKind */

const settings = { ...KILL_SWITCH_DEFAULTS, threshold: 50 };
/** Different texts taken in turn, so that none is in the caches because it has just been there. */
const poolCount = 32;
const key = 'tenant\0agent\0session';

const words =
  'the agent reads file and writes another one before it asks what next step of this task could be while build runs because every question costs something so answers should matter to whoever waits for them'.split(
    ' ',
  );
const cyrillicWords =
  'агент читает файл и пишет другой прежде чем спросить какой шаг этой задачи будет следующим'.split(' ');

/** @type {Record<TextKind, (random: (below: number) => number) => string>} a piece of text to be repeated in variation */
const pieces = {
  // One word in fifty is a number, one in twelve ends a sentence or a clause.
  prose: (random) =>
    `${random(50) === 0 ? random(10_000) : words[random(words.length)]}${random(12) === 0 ? (random(2) ? ',' : '.') : ''} `,
  log: (random) =>
    `2026-01-31T12:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z INFO request 550e8400-e29b-41d4-a716-4466554${10_000 + random(90_000)} took ${random(1_000)} ms, status ${200 + random(300)}\n`,
  json: (random) =>
    `{"id":${random(10_000)},"name":"${words[random(words.length)]}","price":${random(10_000) / 100},"tags":["a","b"]},`,
  cyrillic: (random) => `${cyrillicWords[random(cyrillicWords.length)]}${random(12) === 0 ? ',' : ''} `,
};

/**
 * @param {TextKind} kind
 * @param {number} chars
 * @param {(below: number) => number} random
 * @returns {string} in one piece, as JSON.parse gives it
 */
function textOf(kind, chars, random) {
  let text = '';
  while (text.length < chars) text += pieces[kind](random);
  return JSON.parse(JSON.stringify(text.slice(0, chars)));
}

/** @param {string} user_text @returns {import('#contracts').LlmRequest} */
const requestOf = (user_text) => ({
  model: 'gpt-bench',
  stream: false,
  system_text: '',
  first_user_text: '',
  newest: { user_text, tool_results: [], attachment_digests: [] },
  output_tokens_max: null,
  message_count: 2,
});
/** @param {string} text @returns {import('#contracts').LlmAnswer} */
const answerOf = (text) => ({
  model: null,
  text,
  tool_calls: [],
  finish: 'stop',
  usage: null,
  failed: false,
  answer_id: null,
  lossless: true,
});

/**
 * Times single decisions against a full window, next to a SHA-256 of the same text.
 *
 * @param {TextKind} kind
 * @param {number} chars
 * @param {number} rounds
 * @returns {{ decisionUs: number[], hashUs: number[] }} one entry a round
 */
export function timeDecisions(kind, chars, rounds) {
  const random = seededIndex(chars);
  const pool = Array.from({ length: poolCount }, () => textOf(kind, chars, random));
  const windows = new KillSwitchWindows({ clock: systemClock });
  let id = 0;
  const decide = (/** @type {string} */ text) => {
    id += 1;
    const startedAt = performance.now();
    const { kind: found } = windows.observe(key, settings, {
      call_id: `call-${id}`,
      at_ms: id,
      request: requestOf(text),
      is_retry: false,
      role: '',
      wordsSince: () => '',
    });
    const us = (performance.now() - startedAt) * 1_000;
    if (found !== 'forward') throw new Error('fired on texts that are all different');
    windows.recordAnswer(key, `call-${id}`, answerOf(`Answer ${words[id % words.length]}`));
    return us;
  };
  const warmUpRounds = Math.max(200, rounds / 4);
  for (let round = 0; round < warmUpRounds; round += 1) decide(pool[round % poolCount] ?? '');
  const decisionUs = [];
  const hashUs = [];
  for (let round = 0; round < rounds; round += 1) {
    const text = pool[round % poolCount] ?? '';
    decisionUs.push(decide(text));
    const startedAt = performance.now();
    hash('sha256', text);
    hashUs.push((performance.now() - startedAt) * 1_000);
  }
  return { decisionUs, hashUs };
}

/**
 * Heap held by one request of a full window, its excerpts for evidence included.
 *
 * @param {number} promptChars
 * @param {number} answerChars
 */
export function bytesPerEntry(promptChars, answerChars) {
  const random = seededIndex(7);
  const windowCount = 200;
  const windows = new KillSwitchWindows({ clock: systemClock });
  const before = liveBytes();
  for (let window = 0; window < windowCount; window += 1) {
    for (let n = 0; n < settings.window_size; n += 1) {
      const observed = {
        call_id: `call-${window}-${n}`,
        at_ms: n,
        request: requestOf(textOf('prose', promptChars, random)),
        is_retry: false,
        role: '',
        wordsSince: () => '',
      };
      windows.observe(`${key}-${window}`, settings, observed);
      windows.recordAnswer(
        `${key}-${window}`,
        observed.call_id,
        answerOf(textOf('prose', answerChars, random)),
      );
    }
  }
  const bytes = (liveBytes() - before) / (windowCount * settings.window_size);
  // Read after the measurement, so that the windows are alive in it.
  if (windows.counts().windows !== windowCount) throw new Error('windows were evicted');
  return bytes;
}
