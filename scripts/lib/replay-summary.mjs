/**
 * What a replay adds up to: the labels stay on this side and meet the server's answers here. Pure sums and text.
 */
import { LatencyHistogram } from './latency-histogram.mjs';
import { shownText } from './shown-text.mjs';

/** @typedef {import('./replay-trace.mjs').RecordedTrace} RecordedTrace */
/** @typedef {{ sessions: number, alerted: number }} Tally */
/** @typedef {Tally & { successes: Tally, stagnated: Tally }} SourceTally */
/** @typedef {{ humanYes: boolean, humanNo: boolean, success: boolean, stagnated: boolean }} Labels */

/** BASELINES.md, row "S1 entropy LOOP <.25 (intent class, tool name, status)", measured on the whole of dev.jsonl. */
const baseline = {
  row: 'S1 entropy LOOP <.25 (intent class, tool name, status)',
  humanYes: { alerted: 8, sessions: 11 },
  humanNo: { alerted: 2, sessions: 29 },
  success: { alerted: 32, sessions: 396 },
  /** Given there as 83 % of 627. */
  stagnated: { alerted: 518, sessions: 627 },
};

/**
 * The four groups of BASELINES.md. Human-labelled traces are judged by that label alone: their outcome is not
 * counted as a success too.
 *
 * @param {RecordedTrace} trace
 * @returns {Labels}
 */
export function labelsOf({ label = {} }) {
  const human = typeof label.kind === 'string' && label.kind.startsWith('human');
  return {
    humanYes: human && label.looping === true,
    humanNo: human && label.looping === false,
    success: !human && label.outcome === 'success',
    stagnated: label.stagnated === true,
  };
}

/** @returns {Tally} */
const tally = () => ({ sessions: 0, alerted: 0 });

/** @param {Tally} into @param {boolean} alerted */
function count(into, alerted) {
  into.sessions++;
  if (alerted) into.alerted++;
}

export class ReplaySummary {
  latency = new LatencyHistogram();
  badLineCount = 0;
  acceptedCount = 0;
  rejectedCount = 0;
  warningCount = 0;
  /** The first warning that came, as an example. */
  firstWarning = '';
  retryCount = 0;
  /** Sessions whose window was not empty when their first step came. */
  knownBeforeCount = 0;
  terminatedCount = 0;
  unfinishedCount = 0;
  all = tally();
  groups = { humanYes: tally(), humanNo: tally(), success: tally(), stagnated: tally() };
  /** @type {Map<string, SourceTally>} */
  sources = new Map();

  get stepCount() {
    return this.acceptedCount + this.rejectedCount;
  }

  /**
   * A trace is over. Not counted as a session when nothing of it was accepted.
   *
   * @param {RecordedTrace} trace
   * @param {{ accepted: number, alerted: boolean, end: 'complete' | 'terminated' | 'unfinished' }} outcome
   */
  addTrace(trace, { accepted, alerted, end }) {
    if (accepted === 0) return;
    if (end === 'terminated') this.terminatedCount++;
    if (end === 'unfinished') this.unfinishedCount++;
    count(this.all, alerted);
    const labels = labelsOf(trace);
    for (const group of /** @type {(keyof Labels)[]} */ (Object.keys(labels))) {
      if (labels[group]) count(this.groups[group], alerted);
    }
    const name = trace.source ?? 'unknown';
    let source = this.sources.get(name);
    if (!source) {
      source = { ...tally(), successes: tally(), stagnated: tally() };
      this.sources.set(name, source);
    }
    count(source, alerted);
    if (labels.success) count(source.successes, alerted);
    if (labels.stagnated) count(source.stagnated, alerted);
  }
}

/** @param {Tally} tally @returns {string} "8/11 = 73 %", or "-" for an empty group */
export function share({ sessions, alerted }) {
  return sessions === 0 ? '-' : `${alerted}/${sessions} = ${percent(alerted / sessions)}`;
}

/** @param {number} ratio */
function percent(ratio) {
  return `${(ratio * 100).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)} %`;
}

/** @param {number | null} ms */
function formatMs(ms) {
  if (ms === null) return '-';
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

/**
 * Columns padded to their widest cell, the first to the left and the others to the right.
 *
 * @param {string[][]} rows
 * @returns {string[]} lines, indented by two
 */
function table(rows) {
  const widths = rows.reduce(
    (/** @type {number[]} */ into, row) => row.map((cell, at) => Math.max(cell.length, into[at] ?? 0)),
    [],
  );
  return rows.map((row) =>
    `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('   ')}`.trimEnd(),
  );
}

/**
 * @param {ReplaySummary} summary
 * @param {{ seconds: number, interrupted?: boolean, intent?: string }} run
 * @returns {string}
 */
export function formatSummary(summary, { seconds, interrupted = false, intent = 'class' }) {
  const { latency } = summary;
  const perSecond = seconds > 0 ? Math.round(summary.stepCount / seconds) : 0;
  const lines = [
    interrupted ? 'Replay stopped; so far:' : 'Replay finished:',
    ...table([
      ['sessions', String(summary.all.sessions), ''],
      ['steps', String(summary.stepCount), `${perSecond}/s over ${seconds.toFixed(1)} s`],
      ['accepted', String(summary.acceptedCount), ''],
      ['rejected', String(summary.rejectedCount), ''],
      ['alerted sessions', String(summary.all.alerted), ''],
      ['latency p50', formatMs(latency.percentileMs(50)), `p95 ${formatMs(latency.percentileMs(95))}`],
    ]),
    ...(summary.all.sessions > 0 ? labelLines(summary) : []),
    ...notes(summary, intent).map((note) => `\nNote: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {ReplaySummary} summary @returns {string[]} */
function labelLines({ groups, sources }) {
  return [
    '',
    'By label (alerted of all sessions with that label):',
    ...table([
      ['label', 'alerted', 'which is'],
      ['looping, by a human: yes', share(groups.humanYes), 'recall'],
      ['looping, by a human: no', share(groups.humanNo), 'false alarms'],
      ['outcome success', share(groups.success), 'false alarms'],
      ['stagnated', share(groups.stagnated), 'recall'],
    ]),
    `  Baseline on the whole file, ${baseline.row}: yes ${share(baseline.humanYes)}, no ${share(baseline.humanNo)}, ` +
      `success ${share(baseline.success)}, stagnated ${share(baseline.stagnated)}`,
    '',
    'By source:',
    ...table([
      ['source', 'sessions', 'alerted', 'of successes', 'of stagnated'],
      ...[...sources]
        .sort(([, one], [, other]) => other.sessions - one.sessions)
        .map(([name, source]) => [
          shownText(name),
          String(source.sessions),
          share(source),
          share(source.successes),
          share(source.stagnated),
        ]),
    ]),
  ];
}

/** @param {ReplaySummary} summary @param {string} intent @returns {string[]} what a reader of the figures must know */
function notes(summary, intent) {
  const found = [];
  if (summary.badLineCount > 0) found.push(`${summary.badLineCount} input lines were unusable and skipped.`);
  if (summary.knownBeforeCount > 0) {
    found.push(
      `${summary.knownBeforeCount} sessions were on this server before, and their windows went on from there. ` +
        'Add --run <name> to replay the same file as new sessions.',
    );
  }
  if (summary.terminatedCount > 0)
    found.push(`${summary.terminatedCount} sessions were ended by an operator.`);
  if (summary.unfinishedCount > 0) found.push(`${summary.unfinishedCount} sessions were cut short.`);
  if (summary.retryCount > 0)
    found.push(`${summary.retryCount} requests were sent again after 429, 5xx or a broken connection.`);
  if (summary.warningCount > 0)
    found.push(
      `${summary.warningCount} answers carried warnings, the first: ${shownText(summary.firstWarning)}`,
    );
  if (intent !== 'class')
    found.push('The intent was the free text; the baseline row is for the intent class.');
  return found;
}
