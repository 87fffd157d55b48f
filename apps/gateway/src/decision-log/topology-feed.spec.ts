import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StoredStep, TopologyChange } from '#contracts';
import { buildDecisionLog, buildStepRow, FakeClock } from '#testing';
import { FEED_INTERVAL_MS } from '../realtime/live-hub.js';
import { TopologyFeed } from './topology-feed.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function build(watched: string[]) {
  const changes: Record<string, TopologyChange[]> = {};
  const live = {
    publish: (tenantId: string, _topic: unknown, change: TopologyChange) => {
      changes[tenantId] = [...(changes[tenantId] ?? []), change];
    },
    isWatched: (tenantId: string) => watched.includes(tenantId),
  };
  const clock = new FakeClock();
  const feed = new TopologyFeed(clock, live as never, () => {});
  const record = (tenant_id: string, session_id: string) => {
    const { body: _body, ...row } = buildStepRow({ tenant_id, session_id, received_at_ms: clock.nowMs() });
    feed.recordStep({ ...row, log: buildDecisionLog({}) } as never as StoredStep);
  };
  return { feed, record, changes };
}

test('changes leave with each frame where somebody watches, and once a second where nobody does', async () => {
  const { feed, record, changes } = build(['seen']);
  feed.start();
  for (let frame = 1; frame <= 10; frame += 1) {
    for (const tenant of ['seen', 'unseen']) record(tenant, 'a');
    await vi.advanceTimersByTimeAsync(FEED_INTERVAL_MS);
  }
  feed.stop();
  const counts = (tenant: string) => changes[tenant]?.map(({ nodes }) => nodes[0]?.step_count);
  expect(counts('seen')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(counts('unseen')).toEqual([10]);
});

test('where nobody watches a second of changes leaves whole, however many they are', async () => {
  const { feed, record, changes } = build([]);
  feed.start();
  for (let session = 0; session < 2_500; session += 1) record('unseen', `s-${session}`);
  await vi.advanceTimersByTimeAsync(10 * FEED_INTERVAL_MS);
  feed.stop();
  expect(changes.unseen?.map(({ nodes }) => nodes.length)).toEqual([1_000, 1_000, 500]);
});
