import { expect, test } from 'vitest';
import type { LoopSimilarity } from '#contracts';
import { buildSidecarDescription, FakeClock } from '#testing';
import type { SidecarState } from './sidecar-process.js';
import { SidecarStatus } from './sidecar-status.js';

const DESCRIPTION = buildSidecarDescription({
  model_id: 'observatory-static-384',
  dimension: 384,
  loopWhenSimilarityAbove: 0.825 as LoopSimilarity,
  needsStrictGate: true,
  loop_similarity_threshold: 0.825 as LoopSimilarity,
  checks_total: 1,
  queued: 3,
});

function setUp(options: { isSupervised?: boolean; isNeeded?: boolean } = {}) {
  const clock = new FakeClock(1_000);
  const service = {
    isReady: false,
    describedCount: 0,
    describe: async () => {
      service.describedCount += 1;
      return DESCRIPTION;
    },
  };
  const supervised = {
    state: { state: 'down', restart_count: 0, since_ms: 0, detail: null, pid: null } as SidecarState,
  };
  const status = new SidecarStatus({
    service: options.isNeeded === false ? null : service,
    supervised: options.isSupervised === false ? null : supervised,
    clock,
  });
  const change = (isReady: boolean) => {
    service.isReady = isReady;
    status.noteChanged(isReady);
  };
  return { status, clock, service, supervised, change };
}

test('says that nobody needs it', async () => {
  const view = await setUp({ isNeeded: false, isSupervised: false }).status.view();
  expect(view).toMatchObject({ state: 'off', is_supervised: false, since_ms: null, detail: null });
});

test('starts, serves, goes down with a reason, and comes back', async () => {
  const { status, clock, supervised, change } = setUp();
  expect(await status.view()).toMatchObject({ state: 'starting', is_supervised: true, since_ms: 1_000 });
  supervised.state = { ...supervised.state, state: 'serving', pid: 7 };
  clock.advance(500);
  change(true);
  expect(await status.view()).toMatchObject({
    state: 'serving',
    since_ms: 1_500,
    model_id: 'observatory-static-384',
    dimension: 384,
    store: 'memory',
    loop_similarity_threshold: 0.825,
    queued: 3,
  });
  clock.advance(500);
  change(false);
  supervised.state = { ...supervised.state, state: 'down', pid: null, detail: 'ended with SIGKILL' };
  expect(await status.view()).toMatchObject({
    state: 'down',
    since_ms: 2_000,
    detail: 'ended with SIGKILL',
    model_id: null,
  });
  supervised.state = { ...supervised.state, state: 'starting', pid: 8, restart_count: 1 };
  expect(await status.view()).toMatchObject({ state: 'starting', restart_count: 1 });
  change(true);
  expect(await status.view()).toMatchObject({ state: 'serving', detail: null });
});

test('a process that was reached and does not answer any more is down, though it has not ended', async () => {
  const { status, clock, supervised, change } = setUp();
  supervised.state = { ...supervised.state, state: 'serving', since_ms: 1_000, pid: 7 };
  expect(await status.view()).toMatchObject({ state: 'starting', detail: null });
  clock.advance(10);
  change(true);
  clock.advance(1_000);
  change(false);
  expect(await status.view()).toMatchObject({
    state: 'down',
    since_ms: 2_010,
    detail: 'It does not answer.',
    model_id: null,
  });
  clock.advance(10);
  supervised.state = { ...supervised.state, since_ms: 2_020, pid: 8 };
  expect(await status.view()).toMatchObject({ state: 'starting', detail: null });
});

test('one whose store is away serves, and says what is wrong with it', async () => {
  const { status, service, change } = setUp();
  change(true);
  expect(await status.view()).toMatchObject({ store_problem: null });
  service.describe = async () => ({
    ...DESCRIPTION,
    store: 'redis',
    store_problem: 'Redis is not connected',
  });
  change(true);
  expect(await status.view()).toMatchObject({
    state: 'serving',
    detail: null,
    store: 'redis',
    store_problem: 'Redis is not connected',
  });
  change(false);
  expect(await status.view()).toMatchObject({ store_problem: null });
});

test('a sidecar of its own that nobody finds is down', async () => {
  const { status } = setUp({ isSupervised: false });
  expect(await status.view()).toMatchObject({
    state: 'down',
    detail: 'Nobody answers at LOOP_EMBEDDING_SIDECAR_UDS.',
  });
});

test('is asked at most once a second, and what it said last stands in for a moment of silence', async () => {
  const { status, clock, service, change } = setUp();
  change(true);
  await Promise.all([status.view(), status.view(), status.view()]);
  expect(service.describedCount).toBe(1);
  clock.advance(1_000);
  service.describe = () => Promise.reject(new Error('busy'));
  expect(await status.view()).toMatchObject({ state: 'serving', model_id: 'observatory-static-384' });
});
