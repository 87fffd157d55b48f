import { type Logger, pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import {
  EmbeddingFailure,
  type LoopAnswer,
  type LoopSimilarity,
  PromptHistoryFailure,
  SidecarFailure,
} from '#contracts/embedding';
import { buildLoopAnswer, FakeClock } from '#testing';
import { SidecarFigures } from './sidecar-figures.js';
import { SidecarTelemetry } from './telemetry.js';

const TRACE = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';

let lines: Record<string, unknown>[];
let clock: FakeClock;
let figures: SidecarFigures;
let telemetry: SidecarTelemetry;

beforeEach(() => {
  lines = [];
  clock = new FakeClock();
  const logger: Logger = pino(
    { level: 'debug', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  figures = new SidecarFigures();
  telemetry = new SidecarTelemetry(logger, clock, figures);
});

const answer = (over: Partial<LoopAnswer> = {}) =>
  buildLoopAnswer({
    loop_detected: false,
    max_similarity: 0 as LoopSimilarity,
    similar_prompt: 'a secret prompt',
    similar_count: 0,
    ...over,
  });

it('counts checks by result and reason, and keeps the totals', async () => {
  telemetry.checked(answer(), 1, null);
  // A nearer one was vetoed.
  telemetry.checked(answer({ loop_detected: true, vetoed_by: 'numbers' }), 1, null);
  telemetry.checked(answer({ vetoed_by: 'numbers' }), 1, null);
  telemetry.checked(answer({ fitness: 'empty' }), 1, null);
  telemetry.checkFailed(new EmbeddingFailure('busy', 'full'), null);
  const text = await figures.registry.getSingleMetricAsString('observatory_sidecar_checks_total');
  for (const labels of [
    'result="clear",reason=""',
    'result="loop",reason=""',
    'result="vetoed",reason="numbers"',
    'result="unfit",reason="empty"',
    'result="failed",reason="busy"',
  ])
    expect(text).toContain(`{${labels}} 1`);
  expect(telemetry.totals).toEqual({ checks: 5, loops: 1, failures: 1 });
});

it('counts vectors, and prompts that were not remembered, by result and reason', async () => {
  telemetry.embedAnswered('fit');
  telemetry.embedAnswered('unknown_tokens');
  telemetry.embedFailed(new EmbeddingFailure('expired', 'late'), null);
  telemetry.recordFailed(new PromptHistoryFailure('unavailable', 'Redis is not connected'));
  const text = await figures.registry.metrics();
  for (const line of [
    'embeds_total{result="fit",reason=""} 1',
    'embeds_total{result="unfit",reason="unknown_tokens"} 1',
    'embeds_total{result="failed",reason="timeout"} 1',
    'record_failures_total{reason="unavailable"} 1',
  ])
    expect(text).toContain(`observatory_sidecar_${line}`);
});

it('tells in seconds what each part took', async () => {
  telemetry.checked(answer(), 1_000, null);
  telemetry.embedded(2_000);
  telemetry.waitedForModel(3_000);
  telemetry.queued(4_000);
  telemetry.searched(5_000);
  telemetry.recorded(6_000);
  const text = await figures.registry.getSingleMetricAsString('observatory_sidecar_seconds');
  const parts = ['check', 'embedding', 'embedding_queue', 'lane', 'search', 'record'];
  for (const [at, part] of parts.entries()) expect(text).toContain(`_sum{part="${part}"} ${at + 1}\n`);
});

it('says a failure once a minute for each reason, with the number of those it did not say', () => {
  const failed = (): void => telemetry.checkFailed(new EmbeddingFailure('busy', 'full'), TRACE);
  for (let count = 0; count < 5; count += 1) failed();
  telemetry.checkFailed(new EmbeddingFailure('expired', 'late'), null);
  clock.advance(60_000);
  failed();
  expect(lines.map(({ reason, unsaid_count }) => [reason, unsaid_count])).toEqual([
    ['busy', undefined],
    ['timeout', undefined],
    ['busy', 4],
  ]);
});

it('says as an error what somebody has to mend, and as a warning what a caller asked too much or too soon', () => {
  telemetry.checkFailed(new PromptHistoryFailure('unavailable', 'Redis is not connected'), null);
  telemetry.checkFailed(new PromptHistoryFailure('failed', 'The index of prompts is missing'), null);
  telemetry.embedFailed(new EmbeddingFailure('failed', 'the model failed'), null);
  telemetry.recordFailed(new PromptHistoryFailure('failed', 'Redis has no memory left'));
  telemetry.storeTroubled('disconnected');
  telemetry.checkFailed(new EmbeddingFailure('busy', 'full'), null);
  telemetry.checkFailed(new EmbeddingFailure('expired', 'late'), null);
  telemetry.checkFailed(new SidecarFailure('invalid', 'tenant_id is missing'), null);
  for (const line of lines) expect(line).not.toHaveProperty('where');
  const [error, warn] = [pino.levels.values.error, pino.levels.values.warn];
  expect(lines.map(({ level }) => level)).toEqual([error, error, error, error, error, warn, warn, warn]);
});

it("carries the caller's trace into its lines, and nothing that is no trace", () => {
  telemetry.checkFailed(new EmbeddingFailure('busy', 'full'), TRACE);
  telemetry.checkFailed(new EmbeddingFailure('expired', 'late'), 'what the user wrote');
  telemetry.checked(answer(), 1, TRACE);
  expect(lines[0]).toMatchObject({
    trace_id: '0123456789abcdef0123456789abcdef',
    parent_span_id: '0123456789abcdef',
  });
  expect(lines[1]).not.toHaveProperty('trace_id');
  expect(JSON.stringify(lines[1])).not.toContain('what the user wrote');
  expect(lines[2]).toMatchObject({ event: 'check', trace_id: '0123456789abcdef0123456789abcdef' });
});

it('never writes a prompt, not even one that an unforeseen error quotes', async () => {
  telemetry.checked(answer(), 1, TRACE);
  telemetry.embedFailed(new TypeError('cannot read "a secret prompt"'), null);
  const written = JSON.stringify(lines) + (await figures.registry.metrics());
  expect(written).not.toContain('a secret prompt');
  expect(lines[1]).toMatchObject({ reason: 'error', detail: 'internal error' });
  expect(lines[1]?.where).toEqual(expect.arrayContaining([expect.stringContaining('telemetry.spec')]));
});

it('writes the kind of what was thrown that is no error, and no more of it', () => {
  telemetry.checkFailed('a secret prompt', null);
  expect(lines[0]?.where).toEqual(['string']);
  expect(JSON.stringify(lines)).not.toContain('a secret prompt');
});

it('says what happens seldom with what belongs to it', () => {
  telemetry.said('warn', 'store_missing', 'no store of prompts yet', { reason: 'unavailable' });
  expect(lines[0]).toMatchObject({
    event: 'store_missing',
    reason: 'unavailable',
    msg: 'no store of prompts yet',
  });
});

it('keeps totals and says failures also where nobody reads figures', () => {
  const logger: Logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const quiet = new SidecarTelemetry(logger, clock, null);
  quiet.checked(answer({ loop_detected: true }), 1, null);
  quiet.checkFailed(new EmbeddingFailure('busy', 'full'), null);
  quiet.embedFailed(new EmbeddingFailure('expired', 'late'), null);
  quiet.recordFailed(new Error('lost'));
  quiet.gauge('queued', 'Texts waiting for the model.', () => 0);
  expect(quiet.totals).toEqual({ checks: 2, loops: 1, failures: 3 });
  expect(lines.map(({ event, reason }) => [event, reason])).toEqual([
    ['check_failed', 'busy'],
    ['embed_failed', 'timeout'],
    ['record_failed', 'error'],
  ]);
});

it('has a count that is kept elsewhere as a counter, which is what it was when it is read', async () => {
  let evicted = 0;
  telemetry.counter('history_evicted_total', 'Sessions forgotten early.', () => evicted);
  const read = () => figures.registry.getSingleMetricAsString('observatory_sidecar_history_evicted_total');
  await read();
  evicted = 3;
  await read();
  expect((await read()).split('\n').slice(1)).toEqual([
    '# TYPE observatory_sidecar_history_evicted_total counter',
    'observatory_sidecar_history_evicted_total 3',
  ]);
});
