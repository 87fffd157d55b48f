/** The recorded traces of the shared data, and what is known about them; the labels never leave the bench. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { labelsOf } from '../../scripts/lib/replay-summary.mjs';
import { findFault } from '../../scripts/lib/replay-trace.mjs';

/** @typedef {import('../../scripts/lib/replay-trace.mjs').RecordedTrace} RecordedTrace */
/** @typedef {import('../../scripts/lib/replay-summary.mjs').Labels} Labels */
/** @typedef {keyof Labels} Group */

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** `OBSERVATORY_SHARED`, or `shared` beside the repository. The half for development: the other is not looked at. */
const tracesFile = resolve(
  process.env.OBSERVATORY_SHARED ?? resolve(repository, '../shared'),
  'data/loops/dev.jsonl',
);

/** @returns {RecordedTrace[]} in the order of the file; throws when it is not there */
export function readTraces() {
  return readFileSync(tracesFile, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const trace = JSON.parse(line);
      const fault = findFault(trace);
      if (fault) throw new Error(`line ${at + 1} of the traces: ${fault}`);
      return trace;
    });
}

/** @param {RecordedTrace} trace @param {Group} group */
export const isIn = (trace, group) => labelsOf(trace)[group];

/** @param {RecordedTrace} trace @returns {number | null} index of the step from which on it stood still */
export function onsetOf({ label = {} }) {
  const onset = label.stagnation_onset ?? label.human_onset_step ?? label.onset_step;
  return typeof onset === 'number' ? onset : null;
}

/**
 * How often the most repeated result came, whatever was called, up to a call.
 *
 * @param {RecordedTrace} trace
 * @param {number} before index of a call: what came with it, and earlier, counts
 */
export function equalResults({ steps }, before) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { tool_call: call, observation_text: result } of steps.slice(0, before))
    if (call) counts.set(result?.trim() ?? '', (counts.get(result?.trim() ?? '') ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/**
 * How often the most repeated step came, up to a call: the same tool with the same arguments and the same result.
 *
 * @param {RecordedTrace} trace
 * @param {number} before index of a call: what came with it, and earlier, counts
 * @param {boolean} withEmpty steps with an empty result count too
 */
export function literalRepeats({ steps }, before, withEmpty = true) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { tool_call: call, observation_text: result } of steps.slice(0, before)) {
    if (!call || (!result && !withEmpty)) continue;
    const key = JSON.stringify([call.name, call.args, result]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
