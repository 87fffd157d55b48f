import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Frame, type StoredStep, sessionTopic, TOPICS, type ViolationEvent } from '#contracts';
import { FEED_INTERVAL_MS, LiveHub, SEQUENCE_BLOCK, SNAPSHOT_TRIES_MAX } from './live-hub.js';

const violation = (reason: string): ViolationEvent => ({
  event_type: 'schema_violation',
  timestamp: '2026-01-01T00:00:00Z',
  agent_id: 'a',
  capability_version: '1',
  violation_reason: reason,
  raw_payload_hash: `sha256:${'0'.repeat(64)}`,
});

const alert = (session_id: string) => ({
  event_type: 'entropy_alert' as const,
  session_id,
  agent_id: 'a',
  entropy_score: 0.2,
  window_size: 5,
  repeated_pattern: { intent: 'i', tool_call: 't', action_status: 'failure' as const },
  occurrence_count: 5,
  at_ms: 1,
  alert_count: 1,
  first_at_ms: 1,
});

describe('LiveHub', () => {
  let sent: { tenantId: string; frame: Frame }[];
  let reserved: number;
  let isStoreFailing: boolean;
  let hub: LiveHub;

  const newHub = () =>
    new LiveHub({
      reserveSequences: async (count) => {
        if (isStoreFailing) throw new Error('busy');
        reserved += count;
        return reserved - count;
      },
      onReserveFailed: () => {},
      views: { [TOPICS.messages]: (step) => ({ ...(step as StoredStep), isView: true }) },
    });

  beforeEach(async () => {
    vi.useFakeTimers();
    sent = [];
    reserved = 0;
    isStoreFailing = false;
    hub = newHub();
    await hub.start((tenantId, frame) => sent.push({ tenantId, frame }));
  });

  afterEach(() => {
    hub.stop();
    vi.useRealTimers();
  });

  test('knows whether somebody of a tenant watches anything, until the last has left', async () => {
    expect(hub.isWatched('t')).toBe(false);
    await hub.subscribe('t', TOPICS.violations, undefined);
    await hub.subscribe('t', TOPICS.violations, undefined);
    await hub.subscribe('t', sessionTopic('s'), undefined);
    hub.release('t', TOPICS.violations);
    hub.release('t', TOPICS.violations);
    expect([hub.isWatched('t'), hub.isWatched('other')]).toEqual([true, false]);
    hub.release('t', sessionTopic('s'));
    expect(hub.isWatched('t')).toBe(false);
  });

  test('keeps nothing of a tenant of which nothing was told, once nobody watches it any more', async () => {
    const topics = [TOPICS.stats, TOPICS.violations] as const;
    for (const tenantId of ['named', 'real'])
      for (const topic of topics) await hub.subscribe(tenantId, topic, undefined);
    hub.publish('real', TOPICS.violations, violation('1'));
    const seqs = new Map<string, number>();
    for (const tenantId of ['named', 'real']) {
      hub.publish(tenantId, TOPICS.stats, {} as never);
      hub.flush();
      const frames = sent.filter((one) => one.tenantId === tenantId && one.frame.topic === TOPICS.stats);
      seqs.set(tenantId, frames.at(-1)?.frame.to_seq ?? 0);
      for (const topic of topics) hub.release(tenantId, topic);
    }
    const kinds: string[] = [];
    for (const [tenantId, seq] of seqs)
      kinds.push((await hub.subscribe(tenantId, TOPICS.stats, seq))?.ack.kind ?? '');
    expect(kinds).toEqual(['reset', 'deltas']);
  });

  test('knows whether somebody watches a session, of this tenant and of this name', async () => {
    await hub.subscribe('t', sessionTopic('s'), undefined);
    await hub.subscribe('other', TOPICS.violations, undefined);
    expect(hub.isSessionWatched('t', 's')).toBe(true);
    expect(hub.isSessionWatched('t', 's2')).toBe(false);
    expect(hub.isSessionWatched('other', 's')).toBe(false);
    hub.release('t', sessionTopic('s'));
    expect(hub.isSessionWatched('t', 's')).toBe(false);
  });

  test('of two who watch a session one leaves, and the other is told what comes', async () => {
    const topic = sessionTopic('s');
    for (let count = 0; count < 2; count += 1) await hub.subscribe('t', topic, undefined);
    hub.release('t', topic);
    hub.publish('t', topic, { kind: 'step', step: { trace_id: 'a' } } as never);
    hub.flush();
    expect(sent).toMatchObject([
      { tenantId: 't', frame: { topic, events: [{ payload: { step: { trace_id: 'a' } } }] } },
    ]);
  });

  test('who comes back to a session that nobody watched is not told that nothing happened in it', async () => {
    const { ack } = (await hub.subscribe('t', sessionTopic('s'), undefined)) ?? {};
    hub.release('t', sessionTopic('s'));
    // As a step of it is published, whose event for the session nobody would get.
    hub.publish('t', TOPICS.messages, { trace_id: 'step' } as StoredStep);
    expect(await hub.subscribe('t', sessionTopic('s'), ack?.seq)).toMatchObject({ ack: { kind: 'reset' } });
  });

  test('who watched a session that was deleted has no part of the one that comes under its id', async () => {
    const topic = sessionTopic('s');
    const snapshots = ['old', 'new'];
    hub.provideSnapshot('session:', () => snapshots.shift());
    const step = (trace_id: string) => ({ kind: 'step', step: { trace_id } }) as never;
    await hub.subscribe('t', topic, undefined);
    hub.publish('t', topic, step('old'));
    hub.publish('t', topic, { kind: 'deleted' });
    hub.publish('t', topic, step('new'));
    hub.flush();
    const [ofOld, ofNew] = sent.map(({ frame }) => frame) as [Frame, Frame];
    expect(ofOld.events.map(({ payload }) => (payload as { kind: string }).kind)).toEqual([
      'step',
      'deleted',
    ]);
    // Frames that do not meet: the page asks again, and does not get the rest of a story whose beginning is gone.
    expect(ofNew.from_seq).toBeGreaterThan(ofOld.to_seq + 1);
    for (const seq of [ofOld.from_seq - 1, ofOld.from_seq, ofOld.to_seq]) {
      snapshots.push('new');
      expect(await hub.subscribe('t', topic, seq)).toMatchObject({ ack: { kind: 'reset' } });
    }
    expect(await hub.subscribe('t', topic, ofNew.from_seq)).toMatchObject({
      ack: { kind: 'deltas', events: [] },
    });
  });

  test('makes views of what it has, for those who come, who come back, and who are there', async () => {
    const view = (trace_id: string) => ({ trace_id, isView: true });
    hub.publish('t', TOPICS.messages, { trace_id: 'a' } as StoredStep);
    expect(hub.newest('t', TOPICS.messages, 5)).toEqual([view('a')]);
    const { ack } = (await hub.subscribe('t', TOPICS.messages, undefined)) ?? {};
    hub.publish('t', TOPICS.messages, { trace_id: 'b' } as StoredStep);
    hub.flush();
    expect(sent.at(-1)?.frame.events.map(({ payload }) => payload)).toEqual([view('b')]);
    expect(await hub.subscribe('t', TOPICS.messages, ack?.seq)).toMatchObject({
      ack: { kind: 'deltas', events: [{ payload: view('b') }] },
    });
  });

  test('sends a feed in one frame every 100 ms', async () => {
    await hub.subscribe('t', TOPICS.violations, undefined);
    hub.publish('t', TOPICS.violations, violation('one'));
    hub.publish('t', TOPICS.violations, violation('two'));
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(FEED_INTERVAL_MS);
    expect(sent.map(({ frame }) => frame.events.length)).toEqual([2]);
  });

  test('sends an alert at once', async () => {
    await hub.subscribe('t', TOPICS.entropyAlerts, undefined);
    hub.publish('t', TOPICS.entropyAlerts, alert('s'));
    expect(sent.map(({ frame }) => frame.topic)).toEqual([TOPICS.entropyAlerts]);
  });

  test('sends nothing where nobody watches, and keeps it for who comes back', async () => {
    const first = await hub.subscribe('t', TOPICS.violations, undefined);
    hub.publish('t', TOPICS.violations, violation('waits for its frame'));
    hub.release('t', TOPICS.violations);
    hub.publish('t', TOPICS.violations, violation('unseen'));
    hub.flush();
    expect(sent).toEqual([]);
    const again = await hub.subscribe('t', TOPICS.violations, first?.ack.seq);
    expect(again?.ack).toMatchObject({ kind: 'deltas', events: [{}, {}] });
    hub.publish('t', TOPICS.violations, violation('seen'));
    hub.flush();
    expect(sent.map(({ frame }) => frame.from_seq)).toEqual([(again?.ack.seq ?? 0) + 1]);
  });

  test('keeps tenants apart, each with its own numbers', async () => {
    await hub.subscribe('red', TOPICS.violations, undefined);
    hub.publish('red', TOPICS.violations, violation('red only'));
    const blue = await hub.subscribe('blue', TOPICS.violations, undefined);
    expect(blue?.ack).toMatchObject({ kind: 'snapshot', snapshot: [] });
    hub.flush();
    expect(sent.map(({ tenantId }) => tenantId)).toEqual(['red']);
  });

  test('answers a reconnect with what it missed, and with a reset when that is gone', async () => {
    hub.publish('t', TOPICS.violations, violation('seen'));
    const first = await hub.subscribe('t', TOPICS.violations, undefined);
    hub.publish('t', TOPICS.violations, violation('missed'));
    const again = await hub.subscribe('t', TOPICS.violations, first?.ack.seq);
    expect(again?.ack).toMatchObject({
      kind: 'deltas',
      events: [{ payload: { violation_reason: 'missed' } }],
    });
    for (let count = 0; count < 501; count += 1) hub.publish('t', TOPICS.violations, violation('flood'));
    expect((await hub.subscribe('t', TOPICS.violations, first?.ack.seq))?.ack.kind).toBe('reset');
  });

  test('sends who comes back nothing twice: what it is told as missed has left with a frame before', async () => {
    const first = await hub.subscribe('t', TOPICS.violations, undefined);
    hub.publish('t', TOPICS.violations, violation('missed'));
    const again = await hub.subscribe('t', TOPICS.violations, first?.ack.seq);
    expect(again?.ack).toMatchObject({ kind: 'deltas', events: [{}] });
    expect(sent.map(({ frame }) => frame.to_seq)).toEqual([again?.ack.seq]);
    hub.flush();
    expect(sent).toHaveLength(1);
  });

  test('delivers what happened while a snapshot was being read', async () => {
    let answer: ((snapshot: unknown) => void) | undefined;
    hub.provideSnapshot(TOPICS.violations, () => new Promise((resolve) => (answer = resolve)));
    const subscribing = hub.subscribe('t', TOPICS.violations, undefined);
    while (answer === undefined) await setImmediate();
    hub.publish('t', TOPICS.violations, violation('meanwhile'));
    answer(['state before']);
    const subscription = await subscribing;
    expect(subscription?.ack).toMatchObject({ kind: 'snapshot', snapshot: ['state before'] });
    expect(subscription?.rest).toMatchObject({
      from_seq: (subscription?.ack.seq ?? 0) + 1,
      events: [{ payload: { violation_reason: 'meanwhile' } }],
    });
    // Who subscribed has it: it left before, with a frame to all others.
    expect(sent.map(({ frame }) => frame.to_seq)).toEqual([subscription?.rest?.to_seq]);
    hub.flush();
    expect(sent).toHaveLength(1);
  });

  test('reads each snapshot in a turn of its own', async () => {
    let readCount = 0;
    hub.provideSnapshot(TOPICS.violations, () => {
      readCount += 1;
      return [];
    });
    const asked = ['one', 'two', 'three'].map((tenantId) =>
      hub.subscribe(tenantId, TOPICS.violations, undefined),
    );
    const readAfter: number[] = [];
    while (readCount < asked.length) {
      await setImmediate();
      readAfter.push(readCount);
    }
    expect(readAfter.filter((count) => count > 0)).toEqual([1, 2, 3]);
    await Promise.all(asked);
  });

  test('reads a snapshot anew that is too old to build on, and gives up where each one is', async () => {
    let busyTimes = 2;
    const flood = () => {
      busyTimes -= 1;
      for (let count = 0; busyTimes >= 0 && count < 501; count += 1)
        hub.publish('t', TOPICS.violations, violation('flood'));
      return [`snapshot ${busyTimes}`];
    };
    hub.provideSnapshot(TOPICS.violations, flood);
    const subscription = await hub.subscribe('t', TOPICS.violations, undefined);
    expect(subscription).toMatchObject({ ack: { snapshot: ['snapshot -1'] }, rest: null });
    busyTimes = SNAPSHOT_TRIES_MAX;
    await expect(hub.subscribe('t', TOPICS.violations, undefined)).rejects.toThrow('too old');
    expect(busyTimes).toBe(0);
  });

  test('keeps no log of a session nobody looks at, and never reuses its numbers', async () => {
    const topic = sessionTopic('s');
    hub.provideSnapshot('session:', () => ({}));
    const released = { kind: 'released' as const, trace_ids: [] };
    const first = await hub.subscribe('t', topic, undefined);
    hub.publish('t', topic, released);
    const lastSeq = sent.at(-1)?.frame.to_seq ?? 0;
    expect(lastSeq).toBe((first?.ack.seq ?? 0) + 1);
    hub.release('t', topic);
    hub.publish('t', topic, released);
    expect(sent).toHaveLength(1);
    const second = await hub.subscribe('t', topic, lastSeq - 1);
    expect(second?.ack.kind).toBe('reset');
    expect(second?.ack.seq).toBeGreaterThanOrEqual(lastSeq);
  });

  test('tells who comes back to a session that it missed what happened while nobody watched', async () => {
    const topic = sessionTopic('s');
    hub.provideSnapshot('session:', () => ({}));
    const first = await hub.subscribe('t', topic, undefined);
    hub.release('t', topic);
    hub.publish('t', topic, { kind: 'released' as const, trace_ids: [] });
    const back = await hub.subscribe('t', topic, first?.ack.seq);
    expect(back?.ack).toMatchObject({ kind: 'reset', snapshot: {} });
    hub.release('t', topic);
    // Nothing since: nothing is sent again.
    const again = await hub.subscribe('t', topic, back?.ack.seq);
    expect(again?.ack).toMatchObject({ kind: 'deltas', events: [] });
  });

  test('says null for a session that does not exist', async () => {
    hub.provideSnapshot('session:', () => null);
    expect(await hub.subscribe('t', sessionTopic('nobody'), undefined)).toBeNull();
  });

  test('numbers go on after a restart, never back', async () => {
    await hub.subscribe('t', TOPICS.entropyAlerts, undefined);
    hub.publish('t', TOPICS.entropyAlerts, alert('s'));
    const before = sent.at(-1)?.frame.to_seq ?? 0;
    const restarted = newHub();
    await restarted.start((tenantId, frame) => sent.push({ tenantId, frame }));
    await restarted.subscribe('t', TOPICS.entropyAlerts, undefined);
    restarted.publish('t', TOPICS.entropyAlerts, alert('s'));
    expect(sent.at(-1)?.frame.to_seq).toBeGreaterThan(before);
    restarted.stop();
  });

  test('reserves the next block before the current one ends', async () => {
    for (let count = 0; count <= SEQUENCE_BLOCK / 2; count += 1)
      hub.publish('t', TOPICS.violations, violation('x'));
    await vi.advanceTimersByTimeAsync(0);
    expect(reserved).toBe(2 * SEQUENCE_BLOCK);
  });

  test('reserves each further block as soon, after one that could not be reserved too', async () => {
    const publishHalf = async () => {
      // Nobody watches this session: counted, and nothing else.
      const event = { kind: 'released' as const, trace_ids: [] };
      for (let count = 0; count < SEQUENCE_BLOCK / 2; count += 1) hub.publish('t', sessionTopic('s'), event);
      await vi.advanceTimersByTimeAsync(0);
    };
    await publishHalf();
    expect(reserved).toBe(2 * SEQUENCE_BLOCK);
    await publishHalf();
    expect(reserved).toBe(2 * SEQUENCE_BLOCK);
    isStoreFailing = true;
    await publishHalf();
    expect(reserved).toBe(2 * SEQUENCE_BLOCK);
    isStoreFailing = false;
    hub.publish('t', TOPICS.entropyAlerts, alert('s'));
    await vi.advanceTimersByTimeAsync(0);
    expect(reserved).toBe(3 * SEQUENCE_BLOCK);
    await publishHalf();
    expect(reserved).toBe(3 * SEQUENCE_BLOCK);
  });
});
