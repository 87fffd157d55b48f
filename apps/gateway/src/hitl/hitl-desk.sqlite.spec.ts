/** The races of held-gate.spec.ts on the real store, whose order of commit they depend on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SqliteStore } from '#adapters/sqlite';
import { type SessionKey, type SessionView, type StepRow, sessionKey } from '#contracts';
import { randomIds } from '#kernel';
import { FakeTime } from '#testing';
import { operator, TENANT } from './desk.fixture.js';
import { HitlDesk } from './hitl-desk.js';
import { HitlEvents } from './hitl-events.js';

const KEY = sessionKey(TENANT, 's-1');
let folder: string;
let store: SqliteStore;
let published: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hitl-'));
  store = await openStore();
  published = [];
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function openStore(): Promise<SqliteStore> {
  const opened = new SqliteStore({ path: join(folder, 'o.db'), clock: new FakeTime(), workerUrl: null });
  await opened.open();
  return opened;
}

async function startDesk(): Promise<HitlDesk> {
  const time = new FakeTime();
  const desk = new HitlDesk({
    store,
    live: { publish: () => {} },
    clock: time,
    timer: time,
    ids: randomIds,
    config: { get: () => 0 },
    events: new HitlEvents(pino({ level: 'silent' }), new Registry()),
  });
  await desk.load();
  desk.connect({
    find: async () => ({}) as SessionView,
    setControl: (_key, control) => control,
    publishReleased: (_key, steps) => void published.push(...steps.map((step) => step.trace_id)),
  });
  await desk.settled();
  return desk;
}

async function step(desk: HitlDesk, key: SessionKey, traceId: string): Promise<void> {
  const isHeld = desk.isHolding(key);
  await store.appendSteps([stepRow(traceId, isHeld)]);
  if (isHeld) desk.noteHeld(key);
  else published.push(traceId);
  desk.noteStep(key);
}

const stepRow = (traceId: string, isHeld: boolean): StepRow => ({
  tenant_id: TENANT,
  session_id: 's-1',
  agent_id: 'a-1',
  trace_id: traceId,
  body_hash: traceId,
  received_at_ms: 0,
  held: isHeld ? 1 : 0,
  entropy_score: 1,
  entropy_severity: 'normal',
  window_size: 1,
  body: JSON.stringify({
    meta: { trace_id: traceId },
    cognition: { intent: 'i' },
    action: { status: 'pending' },
  }),
});

it('publishes every message once and in order through pauses and resumes under load', async () => {
  const desk = await startDesk();
  const expected: string[] = [];
  const steps: Promise<void>[] = [];
  const commands: Promise<unknown>[] = [];
  for (let count = 0; count < 2_000; count += 1) {
    expected.push(`t-${count}`);
    steps.push(step(desk, KEY, `t-${count}`));
    if (count % 97 === 0) commands.push(desk.execute(operator(), 's-1', 'pause', { reason: 'look' }));
    if (count % 89 === 0) commands.push(desk.execute(operator(), 's-1', 'resume', {}));
    if (count % 7 === 0) await new Promise(setImmediate);
  }
  await Promise.all([...steps, ...commands]);
  await desk.execute(operator(), 's-1', 'resume', {});
  await desk.settled();
  expect(published).toEqual(expected);
  expect(await store.heldCounts()).toEqual([]);
  expect(desk.view(KEY)).toMatchObject({ state: 'active', held_count: 0 });
  expect(await store.verifyAudit(TENANT)).toMatchObject({ ok: true });
});

it('keeps pause, held messages, directives and cursor over a restart', async () => {
  const before = await startDesk();
  await before.execute(operator(), 's-1', 'pause', { reason: 'look' });
  await step(before, KEY, 't-1');
  await before.drain();
  await store.close();
  store = await openStore();
  const desk = await startDesk();
  expect(desk.isHolding(KEY)).toBe(true);
  expect(desk.view(KEY)).toMatchObject({ state: 'pause_requested', operator_id: 'ada', held_count: 1 });
  expect(await desk.poll(KEY, { isAgent: true, waitMs: 0 })).toMatchObject({ state: 'paused', cursor: 1 });
  const rewritten = { trace_id: 't-1', new_content: { path: '/tmp' } };
  await desk.execute(operator(), 's-1', 'rewrite', rewritten);
  expect(await store.heldSteps(TENANT, 's-1', 9)).toMatchObject([
    { rewritten_by: 'ada', log: { action: { tool_input: { path: '/tmp' } } } },
  ]);
  expect(await desk.execute(operator(), 's-1', 'resume', {})).toEqual({ status: 'ok', flushed_count: 1 });
});
