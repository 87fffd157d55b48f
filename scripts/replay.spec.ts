import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decisionLogSchema, LIMITS } from '#contracts';
import { temporaryFolder } from '#testing/temporary-folder';
import { readLines } from './lib/json-lines.mjs';
import { LatencyHistogram } from './lib/latency-histogram.mjs';
import { ProgressLine } from './lib/progress-line.mjs';
import { Replay } from './lib/replay-run.mjs';
import { formatSummary, labelsOf, ReplaySummary, share } from './lib/replay-summary.mjs';
import * as mapping from './lib/replay-trace.mjs';

const { decisionLogOf, findFault, sessionIdOf } = mapping;
const now = new Date('2026-03-01T10:00:00.000Z');

const trace = (over: object = {}) => ({
  trace_id: 'intercode/ic bash/5',
  source: 'InterCode-bash',
  label: {
    looping: true,
    kind: 'human',
    evidence: 'SECRET-EVIDENCE',
    outcome: 'SECRET-OUTCOME',
    onset_step: 3,
  },
  steps: [
    {
      i: 0,
      actor: 'agent',
      intent: 'Count the files.',
      intent_class: 'bash:find',
      tool_call: { name: 'bash', args: { cmd: 'find . | wc -l' } },
      status: 'ok',
      observation_text: '12\n',
    },
    {
      i: 1,
      actor: 'critic',
      intent: '',
      intent_class: 'say',
      tool_call: null,
      status: 'unknown',
      observation_text: '',
    },
    {
      i: 2,
      actor: 'agent',
      intent: '',
      intent_class: 'bash:rm',
      tool_call: { name: 'bash', args: 'rm x' },
      status: 'error',
      observation_text: 'no such file',
    },
  ],
  ...over,
});

const logsOf = (recorded: ReturnType<typeof trace>, options = {}) =>
  recorded.steps.map((_, at) => decisionLogOf(recorded, at, { now, ...options }));

describe('a recorded trace as DecisionLogs', () => {
  it('fits the contract, with no member that the contract does not know', () => {
    for (const log of logsOf(trace())) {
      expect(decisionLogSchema.parse(log)).toEqual(log);
    }
  });

  it('makes one session of one trace, each step the child of the one before', () => {
    const logs = logsOf(trace());
    expect(new Set(logs.map(({ meta }) => meta.session_id))).toEqual(new Set(['intercode-ic-bash-5']));
    expect(logs.map(({ meta }) => [meta.trace_id, meta.parent_step_id])).toEqual([
      ['intercode/ic bash/5#0', null],
      ['intercode/ic bash/5#1', 'intercode/ic bash/5#0'],
      ['intercode/ic bash/5#2', 'intercode/ic bash/5#1'],
    ]);
    expect(logs.map(({ control }) => control?.is_terminal)).toEqual([false, false, true]);
    expect(logs.map(({ identity }) => identity.agent_id)).toEqual([
      'InterCode-bash.agent',
      'InterCode-bash.critic',
      'InterCode-bash.agent',
    ]);
  });

  it('says pending where the recording does not know how a step went', () => {
    expect(logsOf(trace()).map(({ action }) => action.status)).toEqual(['success', 'pending', 'failure']);
  });

  it('sends an object as it is and anything else as JSON text', () => {
    const logs = logsOf(trace());
    expect(logs.map(({ action }) => action.tool_input)).toEqual([
      { cmd: 'find . | wc -l' },
      undefined,
      '"rm x"',
    ]);
    expect(logs[1]?.action).toEqual({ status: 'pending' });
  });

  it('sends the intent class, or on request the free text, and says so where there is none', () => {
    expect(logsOf(trace()).map(({ cognition }) => cognition.intent)).toEqual(['bash:find', 'say', 'bash:rm']);
    expect(logsOf(trace(), { intent: 'text' }).map(({ cognition }) => cognition.intent)).toEqual([
      'Count the files.',
      mapping.intentNotStated,
      mapping.intentNotStated,
    ]);
  });

  it('lets nothing under label through', () => {
    const recorded = trace();
    const sent = JSON.stringify([logsOf(recorded), logsOf(recorded, { intent: 'text', run: 'two' })]);
    expect(sent).not.toContain('SECRET');
    // Not even which label it has: the same trace under another label is byte for byte the same.
    const relabelled = trace({ label: { looping: false, kind: 'outcome', stagnated: true } });
    expect(JSON.stringify([logsOf(relabelled), logsOf(relabelled, { intent: 'text', run: 'two' })])).toBe(
      sent,
    );
    // Not even read.
    const untouchable = {
      ...trace(),
      get label(): never {
        throw new Error('label was read');
      },
    };
    expect(() => untouchable.steps.map((_, at) => decisionLogOf(untouchable as never, at))).not.toThrow();
  });

  it('cuts to the limits of the contract and keeps ids that differ apart', () => {
    expect([mapping.idCharsMax, mapping.lineCharsMax, mapping.textCharsMax]).toEqual([
      LIMITS.idCharsMax,
      LIMITS.lineCharsMax,
      LIMITS.textCharsMax,
    ]);
    const long = 'x'.repeat(100_000);
    const step = {
      i: 0,
      actor: long,
      intent: long,
      intent_class: long,
      status: 'ok',
      observation_text: long,
    };
    const calls = [
      { name: long, args: { long } },
      { name: 'bash', args: [long] },
    ];
    for (const tool_call of calls) {
      const recorded = { trace_id: `${long}a`, source: long, steps: [{ ...step, tool_call }] };
      expect(() => decisionLogSchema.parse(decisionLogOf(recorded, 0))).not.toThrow();
    }
    expect(sessionIdOf(`${long}a`)).not.toBe(sessionIdOf(`${long}b`));
    expect(sessionIdOf(`${long}a`)).toHaveLength(LIMITS.idCharsMax);
  });

  it('keeps two runs of one file apart by their name', () => {
    const [first, second] = [logsOf(trace(), { run: 'a' }), logsOf(trace(), { run: 'b' })];
    expect(first[0]?.meta.session_id).toBe('intercode-ic-bash-5.a');
    expect(second[0]?.meta.trace_id).not.toBe(first[0]?.meta.trace_id);
  });

  it.each([
    ['a number', 5, 'not a JSON object'],
    ['null', null, 'not a JSON object'],
    ['no id', { steps: [{}] }, 'trace_id is missing'],
    ['no steps', { trace_id: 'x', steps: [] }, 'steps is missing or empty'],
    ['a step that is none', { trace_id: 'x', steps: [{}, 'y'] }, 'steps[1] is not an object'],
    [
      'a call without a name',
      { trace_id: 'x', steps: [{ tool_call: {} }] },
      'steps[0].tool_call has no name',
    ],
  ])('names what is wrong with %s', (_, value, fault) => {
    expect(findFault(value)).toBe(fault);
  });
});

describe('the summary of a replay', () => {
  const labelled = (label: Record<string, unknown>, source = 'one') => ({
    trace_id: 'x',
    source,
    steps: [{}],
    label,
  });
  const complete = (alerted: boolean) => ({ accepted: 5, alerted, end: 'complete' as const });

  it('judges a human-labelled trace by that label alone', () => {
    expect(labelsOf(labelled({ kind: 'human', looping: true }))).toMatchObject({
      humanYes: true,
      humanNo: false,
    });
    expect(labelsOf(labelled({ kind: 'human-steps', looping: false, outcome: 'success' }))).toEqual({
      humanYes: false,
      humanNo: true,
      success: false,
      stagnated: false,
    });
    expect(labelsOf(labelled({ kind: 'outcome', looping: false, outcome: 'success' }))).toMatchObject({
      humanNo: false,
      success: true,
    });
  });

  it('counts recall, false alarms and sources', () => {
    const summary = new ReplaySummary();
    summary.addTrace(labelled({ kind: 'human', looping: true }), complete(true));
    summary.addTrace(labelled({ kind: 'human', looping: true }), complete(false));
    summary.addTrace(labelled({ kind: 'outcome', outcome: 'success' }, 'two'), complete(true));
    summary.addTrace(labelled({ kind: 'outcome', stagnated: true }, 'two'), complete(true));
    summary.addTrace(labelled({ kind: 'outcome', stagnated: true }), {
      accepted: 0,
      alerted: false,
      end: 'unfinished',
    });
    expect(summary.all).toEqual({ sessions: 4, alerted: 3 });
    expect(summary.groups).toEqual({
      humanYes: { sessions: 2, alerted: 1 },
      humanNo: { sessions: 0, alerted: 0 },
      success: { sessions: 1, alerted: 1 },
      stagnated: { sessions: 1, alerted: 1 },
    });
    expect(summary.sources.get('two')).toMatchObject({
      sessions: 2,
      successes: { alerted: 1 },
      stagnated: { alerted: 1 },
    });
    const text = formatSummary(summary, { seconds: 2 });
    expect(text).toMatch(/looping, by a human: yes +1\/2 = 50 % +recall/);
    expect(text).toContain('Baseline on the whole file, S1 entropy LOOP <.25');
  });

  it('shows what stands in a recording, and moves no cursor of a terminal by it', () => {
    const summary = new ReplaySummary();
    summary.addTrace(labelled({}, 'swe\u001b[2J\u202e'), complete(false));
    summary.warningCount = 1;
    summary.firstWarning = 'new\u009b1A\r\n';
    const text = formatSummary(summary, { seconds: 2 });
    expect(text).toContain('swe\\u{1b}[2J\\u{202e}');
    expect(text).toContain('new\\u{9b}1A\\u{d}\\u{a}');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);

    const written: string[] = [];
    const progress = new ProgressLine(() => '', { write: (line: string) => written.push(line) } as never);
    progress.note('line 1: not valid JSON ("\u001b]0;");\nskipped');
    expect(written).toEqual(['line 1: not valid JSON ("\\u{1b}]0;");\\u{a}skipped\n']);
  });

  it('says nothing of groups that were empty', () => {
    expect(share({ sessions: 0, alerted: 0 })).toBe('-');
    expect(formatSummary(new ReplaySummary(), { seconds: 0 })).not.toContain('By label');
  });
});

describe('the progress of a replay', () => {
  const replay = (limit: number) =>
    new Replay({ limit, concurrency: 1 } as never, new ReplaySummary(), {
      signal: new AbortController().signal,
    });

  it('is what is posted of what was read, and not what was read', () => {
    const limited = replay(3);
    Object.assign(limited, { bytesRead: 500, traceCount: 3 });
    expect(limited.doneFraction(1_000)).toBe(0);
    for (const expected of [1 / 3, 2 / 3, 1]) {
      limited.summary.addTrace(trace() as never, { accepted: 3, alerted: false, end: 'complete' });
      expect(limited.doneFraction(1_000)).toBeCloseTo(expected);
    }
  });

  it('goes by the bytes of the file where no limit is set', () => {
    const whole = replay(Number.POSITIVE_INFINITY);
    expect(whole.doneFraction(0)).toBe(0);
    Object.assign(whole, { bytesRead: 500, traceCount: 2 });
    whole.summary.addTrace(trace() as never, { accepted: 3, alerted: false, end: 'complete' });
    expect(whole.doneFraction(1_000)).toBe(0.25);
  });
});

describe('latencies', () => {
  it('gives percentiles within 2 %', () => {
    const histogram = new LatencyHistogram();
    expect(histogram.percentileMs(50)).toBeNull();
    for (let ms = 1; ms <= 1_000; ms++) histogram.record(ms);
    expect(histogram.percentileMs(50) ?? 0).toBeGreaterThanOrEqual(500);
    expect(histogram.percentileMs(50) ?? 0).toBeLessThan(511);
    expect(histogram.percentileMs(100)).toBe(1_000);
    histogram.record(1e12);
    expect(histogram.count).toBe(1_001);
  });
});

describe('reading lines', () => {
  it('numbers lines, passes over empty and overlong ones, and reads a last line without an end', async () => {
    const file = join(temporaryFolder(), 'lines.jsonl');
    writeFileSync(file, `first\r\n\n${'é'.repeat(300_000)}\n${'x'.repeat(700_000)}\nlast ü`);
    const found: [number, number | null][] = [];
    for await (const { number, text } of readLines(file, { bytesMax: 650_000 })) {
      found.push([number, text?.length ?? null]);
    }
    expect(found).toEqual([
      [1, 5],
      [3, 300_000],
      [4, null],
      [5, 6],
    ]);
  });
});

it('takes an empty OBSERVATORY_URL as not set', () => {
  const { stderr } = spawnSync(process.execPath, ['scripts/replay.mjs', 'none.jsonl', '--limit', '0'], {
    encoding: 'utf8',
    env: { ...process.env, OBSERVATORY_URL: '', OBSERVATORY_AGENT_KEY: 'a-key' },
  });
  expect(stderr).toMatch(/--limit/);
  expect(stderr).not.toMatch(/--url is/);
});

it('takes an address without its scheme for a slip, with an example of one that can be used', () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    ['scripts/replay.mjs', 'none.jsonl', '--key', 'some-key', '--url', 'localhost:4000'],
    { encoding: 'utf8' },
  );
  expect(stderr).toContain('takes a URL such as http://127.0.0.1:4000, not "localhost:4000"');
  expect(status).toBe(2);
});
