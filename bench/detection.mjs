/**
 * What the kill switch and the entropy labels find in recorded traces of real agents, replayed as LLM calls through the
 * gateway's proxy: recall on those that looped or stood still, false kills on those that worked. No thresholds: these
 * are figures about detectors, not about speed.
 *
 *     node bench/detection.mjs --list     also every false kill and every loop that was missed, for reading by hand
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../scripts/lib/gateway-process.mjs';
import { share } from '../scripts/lib/replay-summary.mjs';
import { contextCharsMax } from './lib/detection-chat.mjs';
import { DetectionReplay } from './lib/detection-replay.mjs';
import { equalResults, isIn, literalRepeats, onsetOf, readTraces } from './lib/detection-traces.mjs';
import { openHelper } from './lib/helper.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, median } from './lib/statistics.mjs';

/** @typedef {import('./lib/detection-replay.mjs').Outcome} Outcome */
/** @typedef {import('./lib/detection-replay.mjs').Pass} Pass */
/** @typedef {import('./lib/detection-traces.mjs').Group} Group */
/** @typedef {{ alerted: Set<string>, loopAtEnd: Set<string>, warnAtEnd: Set<string>, missingSteps: number }} EntropyLabels */

/** `off`: for the entropy labels, of whole traces. */
const passes = /** @type {const} */ (['off', 'default', 'strict', 'tolerant', 'text']);
/** @type {Record<typeof passes[number], Omit<Pass, 'name'>>} */
const settings = {
  off: { wire: 'tools', killSwitch: { enabled: false }, isPaced: true },
  default: { wire: 'tools', killSwitch: null },
  strict: { wire: 'tools', killSwitch: { preset: 'strict' } },
  tolerant: { wire: 'tools', killSwitch: { preset: 'tolerant' } },
  text: { wire: 'text', killSwitch: null },
};
/** Steps reach their sessions in batches, a moment after the calls. */
const feedMs = 3_000;
/** Equal tool steps in a row that the default preset kills at the next call. */
const equalStepsMin = 4;

/**
 * `killed` and `alerted`: what the best matching rows of BASELINES.md have on the same traces, S2 as designed and S1
 * LOOP, both with the called tool's name and arguments, worked out without a gateway.
 *
 * @type {{ group: Group, title: string, killed: string, alerted: string }[]}
 */
const groups = [
  { group: 'humanYes', title: 'looping, by a human: yes (recall)', killed: '6/11', alerted: '5/11' },
  { group: 'humanNo', title: 'looping, by a human: no (false)', killed: '2/29', alerted: '0/29' },
  { group: 'stagnated', title: 'stood still until the step limit (recall)', killed: '74 %', alerted: '45 %' },
  { group: 'success', title: 'succeeded (false)', killed: '10/396', alerted: '4/396' },
];

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const all = readTraces();
  // A look takes every tenth trace; what is written down takes all.
  const traces = isQuick ? all.map((trace, at) => (at % 10 === 0 ? trace : { ...trace, steps: [] })) : all;
  const upstream = openHelper(new URL('./lib/detection-upstream.mjs', import.meta.url));
  const gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `http://127.0.0.1:${await upstream.call('listen')}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-bench',
    },
  });
  const replay = new DetectionReplay(gateway);
  try {
    /** @type {Record<string, Outcome[]>} */
    const outcomes = {};
    /** @type {EntropyLabels | null} */
    let labels = null;
    for (const name of passes) {
      const startedAt = performance.now();
      const found = await replay.run(traces, { name, ...settings[name] });
      outcomes[name] = found.filter(({ trace }) => trace.steps.length > 0);
      labels ??= await readEntropyLabels(replay, outcomes[name]);
      process.stderr.write(`detection: ${name} ${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`);
    }
    if (labels === null) throw new Error('nothing was replayed');
    if (process.argv.includes('--list')) await listMistakes(replay, outcomes, labels);
    return report(outcomes, labels);
  } finally {
    upstream.close();
    await replay.close();
    await gateway.stop();
  }
}

/**
 * Read as soon as the last call is through: a step waits for its tools' results, so the last one of each trace is not
 * among those that were scored.
 *
 * @param {DetectionReplay} replay
 * @param {Outcome[]} outcomes
 * @returns {Promise<EntropyLabels>}
 */
async function readEntropyLabels(replay, outcomes) {
  await sleep(feedMs);
  /** @type {Map<string, { severity: string, step_count: number }>} */
  const sessions = new Map();
  for await (const session of replay.list('/v1/sessions?')) sessions.set(session.session_id, session);
  const alerted = new Set();
  let missingSteps = 0;
  for (const { agentId, trace } of outcomes) {
    const waiting = trace.steps.at(-1)?.tool_call ? 1 : 0;
    const seen = sessions.get(agentId);
    missingSteps += trace.steps.length - waiting - (seen?.step_count ?? 0);
    if (seen && (await replay.ask('GET', `/v1/sessions/${agentId}`)).alert) alerted.add(agentId);
  }
  const listed = (/** @type {string} */ severity) =>
    new Set([...sessions].filter(([, session]) => session.severity === severity).map(([id]) => id));
  return { alerted, loopAtEnd: listed('loop'), warnAtEnd: listed('warning'), missingSteps };
}

/** @param {Outcome[]} outcomes @param {Group} group @param {(outcome: Outcome) => boolean} isFound */
const tally = (outcomes, group, isFound) => {
  const inGroup = outcomes.filter(({ trace }) => isIn(trace, group));
  return share({ sessions: inGroup.length, alerted: inGroup.filter(isFound).length });
};
const isKilled = (/** @type {Outcome} */ { killedAt }) => killedAt !== null;

/** @param {Record<string, Outcome[]>} outcomes @param {EntropyLabels} labels @returns {import('./lib/figures.mjs').BenchResult} */
function report(outcomes, labels) {
  const of = (/** @type {string} */ name) => outcomes[name] ?? [];
  const killed = (/** @type {string} */ name, /** @type {Group} */ group) => tally(of(name), group, isKilled);
  const labelled = (/** @type {Set<string>} */ ids, /** @type {Group} */ group) =>
    tally(of('off'), group, ({ agentId }) => ids.has(agentId));
  const figure = (
    /** @type {string} */ title,
    /** @type {string} */ measured,
    /** @type {string} */ absolutes,
  ) => ({
    title,
    measured,
    aim: '-',
    ok: null,
    absolutes,
  });
  return {
    figures: [
      ...groups.map(({ group, title, killed: known }) =>
        figure(
          `kill switch, default 20/10: ${title}`,
          killed('default', group),
          `strict 10/5: ${killed('strict', group)}; tolerant 50/20: ${killed('tolerant', group)}; default, tools asked for in text: ${killed('text', group)}; offline baseline ${known}`,
        ),
      ),
      ...['default', 'strict', 'tolerant'].map((name) => savedFigure(name, of(name), figure)),
      ...groups.map(({ group, title, alerted: known }) =>
        figure(
          `entropy label loop, uninstrumented: ${title}`,
          labelled(labels.alerted, group),
          `listed as loop when it was over: ${labelled(labels.loopAtEnd, group)}, as warning: ${labelled(labels.warnAtEnd, group)}; offline baseline ${known}`,
        ),
      ),
    ],
    notes: [setUpNote(of('off'), labels), sourceNote(outcomes), causeNote(outcomes)],
  };
}

/** @param {string} name @param {Outcome[]} outcomes @param {(title: string, measured: string, absolutes: string) => import('./lib/figures.mjs').Figure} figure */
function savedFigure(name, outcomes, figure) {
  const stood = outcomes.filter(({ trace }) => isIn(trace, 'stagnated'));
  const calls = stood.reduce((sum, { trace }) => sum + trace.steps.length, 0);
  const unsent = stood.reduce(
    (sum, { trace, killedAt }) => sum + trace.steps.length - (killedAt ?? trace.steps.length),
    0,
  );
  const kills = stood.filter(isKilled);
  const delays = kills.flatMap(({ trace, killedAt }) => {
    const onset = onsetOf(trace);
    return onset === null ? [] : [/** @type {number} */ (killedAt) - onset];
  });
  const number = (/** @type {number[]} */ values) => (values.length > 0 ? formatNumber(median(values)) : '-');
  return figure(
    `kill switch, ${name}: calls that never reached the upstream, of the runs that stood still`,
    `${((unsent / Math.max(1, calls)) * 100).toFixed(0)} %`,
    `${formatNumber(unsent)} of ${formatNumber(calls)}; killed at call ${number(kills.map(({ killedAt }) => (killedAt ?? 0) + 1))} (median), ${number(delays)} calls after it began to stand still`,
  );
}

/** @param {Outcome[]} outcomes @param {EntropyLabels} labels */
function setUpNote(outcomes, { missingSteps }) {
  const calls = outcomes.reduce((sum, { trace }) => sum + trace.steps.length, 0);
  return (
    `${formatNumber(outcomes.length)} recorded traces (the development half, all of it), ${formatNumber(calls)} calls, replayed once per column: ` +
    'an agent and a session each, no retries, one conversation per actor with its whole history (at most ' +
    `${contextCharsMax / 1_000} kB of it), the recorded tool calls as tool calls and their results as tool results. A trace ends where it is killed. ` +
    '"Tools asked for in text" sends the same results as user messages, as ReAct agents do. ' +
    `Entropy is read from /v1/sessions after a run with the kill switch off; ${formatNumber(missingSteps)} steps were missing there. ` +
    'Human-labelled traces are not counted as successes.'
  );
}

/** @param {Record<string, Outcome[]>} outcomes */
function sourceNote(outcomes) {
  const sources = [...new Set((outcomes.off ?? []).map(({ trace }) => trace.source ?? 'unknown'))];
  const rows = sources.map((source) => {
    const columns = ['default', 'strict', 'tolerant', 'text'].map((name) => {
      const of = (outcomes[name] ?? []).filter(({ trace }) => (trace.source ?? 'unknown') === source);
      const count = (/** @type {Group} */ group) =>
        of.filter((one) => isIn(one.trace, group) && isKilled(one)).length;
      return `${count('humanYes') + count('stagnated')} / ${count('humanNo') + count('success')}`;
    });
    const of = (outcomes.off ?? []).filter(({ trace }) => (trace.source ?? 'unknown') === source);
    const count = (/** @type {Group} */ group) => of.filter(({ trace }) => isIn(trace, group)).length;
    return `| ${[source, `${count('humanYes') + count('stagnated')} / ${count('humanNo') + count('success')}`, ...columns].join(' | ')} |`;
  });
  return [
    'Kills by source, right / false (looping or standing still / not looping or succeeded):',
    '',
    '| source | traces | default | strict | tolerant | default, tools in text |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The counts are of this run; the words come from reading the traces with `--list`. @param {Record<string, Outcome[]>} outcomes */
function causeNote(outcomes) {
  const equalSteps = (/** @type {Outcome} */ { trace, killedAt }, /** @type {boolean} */ withEmpty) =>
    literalRepeats(trace, killedAt ?? trace.steps.length - 1, withEmpty);
  const found = outcomes.default ?? [];
  const falseKills = found.filter(
    (one) => isKilled(one) && (isIn(one.trace, 'success') || isIn(one.trace, 'humanNo')),
  );
  const literal = falseKills.filter((one) => equalSteps(one, true) >= equalStepsMin);
  const missed = found.filter((one) => !isKilled(one) && isIn(one.trace, 'stagnated'));
  const varied = missed.filter((one) => equalSteps(one, true) < equalStepsMin);
  const sameResult = varied.filter(
    ({ trace }) => equalResults(trace, trace.steps.length - 1) >= equalStepsMin,
  );
  const withoutResult = missed.filter(
    (one) => equalSteps(one, true) >= equalStepsMin && equalSteps(one, false) < equalStepsMin,
  );
  return (
    `Causes, default preset. ${literal.length} of ${falseKills.length} false kills had made the very same call with the very same result ${equalStepsMin} times or more before: ` +
    'an SQL query against a table that is not there, sent again and again until the model happens to change a name; a wrong flag submitted again; ' +
    'a count of 0 that was right all along, asked for eight times before it was handed in. Those were loops, and luck ended them; no other kind of false kill was found. ' +
    `Of ${missed.length} runs that stood still and were missed, ${varied.length} never made one call with one result ${equalStepsMin} times: ` +
    `they tried other commands that did not help either (another quote, another path), which the kill switch counts as work, although ${sameResult.length} of them got one and the same result that often; ` +
    `${withoutResult.length} repeated a call whose result is empty, which counts as similar to nothing; ` +
    'in the others equal steps lie apart, or as many as fit in ten calls are not yet enough. ' +
    'The looping runs that humans saw are of teams: web surfers that click and scroll through pages that differ, results that tell how many seconds ago the page was last seen, ' +
    'each call under a new instruction, and, in HyperAgent, recordings that leave most tool results out.'
  );
}

/** @param {DetectionReplay} replay @param {Record<string, Outcome[]>} outcomes @param {EntropyLabels} labels */
async function listMistakes(replay, outcomes, labels) {
  /** @type {Map<string, any>} */
  const incidents = new Map();
  for await (const incident of replay.list('/v1/incidents?')) incidents.set(incident.agent_id, incident);
  for (const name of passes.slice(1)) {
    for (const { trace, agentId, killedAt } of outcomes[name] ?? []) {
      const isFalse = isIn(trace, 'success') || isIn(trace, 'humanNo');
      const isLoop = isIn(trace, 'stagnated') || isIn(trace, 'humanYes');
      if (killedAt === null ? !isLoop : !isFalse) continue;
      const { breakdown } = incidents.get(agentId) ?? {};
      const what = killedAt === null ? 'missed' : `false kill at call ${killedAt + 1}`;
      process.stdout.write(
        `${name}: ${what} of ${trace.steps.length}, ${trace.trace_id} (${trace.source}), repeats ${literalRepeats(trace, killedAt ?? trace.steps.length - 1)}, ${JSON.stringify(breakdown ?? null)}\n`,
      );
    }
  }
  for (const { trace, agentId } of outcomes.off ?? []) {
    const isFalse = isIn(trace, 'success') || isIn(trace, 'humanNo');
    if (isFalse && labels.alerted.has(agentId))
      process.stdout.write(`entropy: false alert, ${trace.trace_id} (${trace.source})\n`);
  }
}

await runAlone(import.meta.url, run);
