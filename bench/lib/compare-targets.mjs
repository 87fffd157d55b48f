/**
 * Several servers under the same load: short windows in turn, so that what slows the machine slows all alike, and the
 * processor time of each read from its process, all threads together.
 *
 * Each round begins with another of them: with one connection a machine sleeps most of the time, and who came first in
 * every round took twice the processor time per streamed call of who came last, whichever of them it was.
 */
import { readUsage } from './machine.mjs';
import { isQuick } from './quick.mjs';

export const windowSeconds = isQuick ? 1 : 2;
export const rounds = isQuick ? 3 : 7;
const warmUpCalls = isQuick ? 2_000 : 20_000;
const warmUpSecondsMax = isQuick ? 4 : 15;

/** @typedef {{ perSecond: number, p50: number, p99: number, firstByteP50: number, cpuUs: number }} Window */
/** @typedef {ReturnType<typeof import('./helper.mjs').openHelper>} Helper */

/**
 * @param {Helper} load
 * @param {Record<string, { target: object, pid: number }>} targets
 * @param {object} shape
 * @returns {Promise<Record<string, Window[]>>} windows in the order of the rounds
 */
export async function compareTargets(load, targets, shape) {
  /** @type {Record<string, Window[]>} */
  const windows = {};
  const names = Object.keys(targets);
  for (const name of names) {
    windows[name] = [];
    await load.call('open', { name, ...targets[name]?.target, ...shape });
    await warmUp(load, name);
  }
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const pid = targets[name]?.pid ?? 0;
      const before = readUsage(pid).cpuSeconds;
      const window = await load.call('run', { name, seconds: windowSeconds });
      const others = Object.keys(window.statuses).filter((status) => status !== '200');
      if (others.length > 0)
        throw new Error(`${name}: ${JSON.stringify(window.statuses)}\n${window.firstBad}`);
      windows[name]?.push({
        ...window,
        cpuUs: ((readUsage(pid).cpuSeconds - before) / window.requests) * 1e6,
      });
    }
  }
  for (const name of names) await load.call('close', name);
  return windows;
}

/**
 * Code is compiled by how often it ran, not by how long: all targets get as many calls, or the time that may take.
 *
 * @param {Helper} load
 * @param {string} name
 */
async function warmUp(load, name) {
  const endsAt = performance.now() + warmUpSecondsMax * 1_000;
  for (let calls = 0; calls < warmUpCalls && performance.now() < endsAt; )
    calls += (await load.call('run', { name, seconds: 1 })).requests;
}
