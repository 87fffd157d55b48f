import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type LoopSimilarity,
  ObservatoryError,
  type SemanticLoopEvent,
  sessionKey,
  sessionTopic,
  TOPICS,
} from '#contracts';
import type { AlertEvent } from '#domain/alerts';
import { LADDER_IDLE_MS, LoopLadder } from '#domain/semantic-loop';
import { deferred } from '#kernel';
import { buildLoopAnswer, countingIds, FakeTime } from '#testing';
import { WRITE_AGAIN_MS } from '../unsaved-writes.js';
import { LoopDesk, PAUSE_WAIT_MS, UNSAVED_LOOPS_MAX } from './loop-desk.js';

const ANSWER = buildLoopAnswer({
  max_similarity: 0.9731 as LoopSimilarity,
  similar_prompt: 'Where has my parcel got to? I am jo@example.org',
  similar_request_id: 'call-0',
});
const call = (changes: object = {}) => ({
  callId: 'call-1',
  tenantId: 'default',
  agentId: 'agent-1',
  sessionId: 's1',
  sessionKey: sessionKey('default', 's1'),
  atMs: 5,
  prompt: 'Where is my parcel? My key is sk-abcdefghijklmnop',
  isHinted: true,
  ...changes,
});

describe('LoopDesk', () => {
  let kept: SemanticLoopEvent[];
  let published: { topic: string; payload: unknown }[];
  let alerts: AlertEvent[];
  let pauses: { key: string; reason: string }[];
  let introduced: string[];
  let failures: string[];
  let append: (event: SemanticLoopEvent) => Promise<number>;
  /** Of sessions, newest first: what the store has of them. */
  let stored: () => Promise<Pick<SemanticLoopEvent, 'at_ms' | 'occurrence'>[]>;
  let pause: () => Promise<boolean>;
  let found: SemanticLoopEvent[];
  let time: FakeTime;
  let desk: LoopDesk;

  beforeEach(() => {
    time = new FakeTime();
    kept = [];
    published = [];
    alerts = [];
    pauses = [];
    introduced = [];
    failures = [];
    append = async (event) => kept.push(event);
    stored = async () => [];
    pause = async () => true;
    found = [];
    desk = new LoopDesk({
      ladder: new LoopLadder({ clock: time }),
      store: {
        appendSemanticLoop: (_tenantId, event) => append(event),
        semanticLoops: async (query) => {
          expect(query).toEqual({ tenant_id: 'default', session_id: 's1', limit: 1 });
          return { items: (await stored()) as SemanticLoopEvent[], next_cursor: null };
        },
      },
      board: { raise: () => {} },
      live: { publish: (_tenantId, topic, payload) => published.push({ topic, payload }) },
      alerts: { note: (event) => alerts.push(event) },
      desk: {
        pauseBySystem: (key, reason) => {
          pauses.push({ key, reason });
          return pause();
        },
      },
      sessions: { introduceLoop: async (key) => void introduced.push(key) },
      ids: countingIds(),
      timer: time,
      events: {
        found: (_tenantId, event) => found.push(event),
        failedOpen: (reason) => failures.push(reason),
      },
    });
  });

  it('keeps and shows a first loop, with both prompts redacted, and disturbs nobody', async () => {
    const event = desk.note(call(), 'pause', ANSWER);
    expect(event).toMatchObject({ action: 'hinted', occurrence: 1, similarity: 0.9731, threshold: 0.95 });
    await desk.settled();
    expect(kept).toEqual([event]);
    expect(event.prompt).toBe('Where is my parcel? My key is [key]');
    expect(event.similar_prompt).toBe('Where has my parcel got to? I am [e-mail]');
    expect(event.similar_call_id).toBe('call-0');
    const stored = { ...event, seq: 1 };
    expect(published).toEqual([
      { topic: TOPICS.semanticLoops, payload: stored },
      { topic: sessionTopic('s1'), payload: { kind: 'semantic_loop', event: stored } },
    ]);
    expect([alerts, pauses, introduced, failures]).toEqual([[], [], [], []]);
  });

  it('calls no loop hinted whose request had no place for the hint, and goes on up the ladder', async () => {
    const events = [1, 2, 3].map(() => desk.note(call({ isHinted: false }), 'pause', ANSWER));
    expect(events.map(({ action }) => action)).toEqual(['noted', 'alerted', 'paused']);
    expect(events.map(({ is_hinted }) => is_hinted)).toEqual([false, false, false]);
    await desk.settled();
    expect(alerts).toMatchObject([{ occurrence: 2 }, { occurrence: 3 }]);
  });

  it('alerts at the second loop of a session and pauses it at the third, where its policy says so', async () => {
    const actions = [1, 2, 3].map(() => desk.note(call(), 'pause', ANSWER).action);
    expect(actions).toEqual(['hinted', 'alerted', 'paused']);
    await desk.settled();
    expect(alerts).toMatchObject([
      { kind: 'semantic_loop', occurrence: 2, paused: false },
      { kind: 'semantic_loop', occurrence: 3, paused: true },
    ]);
    expect(introduced).toEqual([sessionKey('default', 's1'), sessionKey('default', 's1')]);
    expect(pauses).toEqual([
      { key: sessionKey('default', 's1'), reason: 'semantic loop 3 of this session: similarity 0.973' },
    ]);
  });

  it('goes on from the last loop that the store has of a session, unless that was more than an hour ago', async () => {
    stored = async () => [{ at_ms: 0, occurrence: 2 }];
    await desk.recall(call({ atMs: LADDER_IDLE_MS + 1 }));
    expect(desk.note(call(), 'pause', ANSWER)).toMatchObject({ action: 'hinted', occurrence: 1 });
    stored = () => Promise.reject(new Error('it knows already'));
    await desk.recall(call());
    expect(failures).toEqual([]);
  });

  it('has the third loop of a session for its third after a restart', async () => {
    stored = async () => [{ at_ms: 0, occurrence: 2 }];
    await desk.recall(call({ atMs: LADDER_IDLE_MS }));
    expect(desk.note(call(), 'pause', ANSWER)).toMatchObject({ action: 'paused', occurrence: 3 });
  });

  it.each<[string, () => Promise<never>]>([
    ['refuses', () => Promise.reject(new Error('busy'))],
    ['hangs', () => new Promise(() => {})],
  ])(
    'fails open when a store that %s cannot say what went before: the session begins anew',
    async (_, reads) => {
      stored = reads;
      await desk.recall(call());
      expect(failures).toEqual(['storage']);
      expect(desk.note(call(), 'pause', ANSWER)).toMatchObject({ action: 'hinted', occurrence: 1 });
    },
  );

  it('counts sessions apart, and goes no further than the policy', () => {
    for (let at = 0; at < 4; at += 1) desk.note(call(), 'hint', ANSWER);
    expect(alerts).toEqual([]);
    const other = call({ sessionKey: sessionKey('other', 's1'), tenantId: 'other' });
    expect(desk.note(other, 'pause', ANSWER)).toMatchObject({ action: 'hinted', occurrence: 1 });
  });

  it('cuts prompts of any length, in the middle of no character', () => {
    const { prompt } = desk.note(call({ prompt: `a${'🙂'.repeat(5_000)}` }), 'hint', ANSWER);
    expect(prompt.length).toBeLessThanOrEqual(1_000);
    expect(prompt).not.toMatch(/[\ud800-\udbff]$/);
  });

  it('shows no part of a secret that lies across the cut', () => {
    for (const secret of ['4111 1111 1111 1111', 'canary.person@example.org', 'sk-canary0123456789']) {
      const prompt = `${'a '.repeat(496)}${secret} and so on`;
      const shown = desk.note(call({ prompt }), 'hint', ANSWER).prompt;
      expect(shown).not.toMatch(/4111|canary|sk-/);
    }
  });

  it('fails open when the store refuses: the loop is shown all the same', async () => {
    append = () => Promise.reject(new Error('disk full'));
    const event = desk.note(call(), 'alert', ANSWER);
    await desk.settled();
    expect(failures).toEqual(['storage']);
    expect(published[0]).toEqual({ topic: TOPICS.semanticLoops, payload: event });
  });

  const refuse = (code: 'store_busy' | 'store_full') => () => Promise.reject(new ObservatoryError(code));

  it.each(['store_busy', 'store_full'] as const)(
    'keeps a loop that the store refused with %s once it has room, and shows it as kept',
    async (code) => {
      append = refuse(code);
      const event = desk.note(call(), 'alert', ANSWER);
      await desk.settled();
      expect(failures).toEqual(['storage']);
      append = async (again) => kept.push(again);
      await time.pass(WRITE_AGAIN_MS);
      expect(kept).toEqual([event]);
      expect(published.slice(2)).toEqual([
        { topic: TOPICS.semanticLoops, payload: { ...event, seq: 1 } },
        { topic: sessionTopic('s1'), payload: { kind: 'semantic_loop', event: { ...event, seq: 1 } } },
      ]);
      await time.pass(10 * WRITE_AGAIN_MS);
      expect(kept).toHaveLength(1);
    },
  );

  it('tries at the end of the process once more what the store refused', async () => {
    append = refuse('store_full');
    desk.note(call(), 'alert', ANSWER);
    await desk.settled();
    append = async (event) => kept.push(event);
    await desk.stop();
    expect(kept).toHaveLength(1);
  });

  it('has room for what is refused, half of it for one tenant, and again once it is kept', async () => {
    append = refuse('store_full');
    const noteMany = async (tenantId: string) => {
      for (let at = 0; at < UNSAVED_LOOPS_MAX; at += 1) {
        desk.note(call({ tenantId, sessionKey: sessionKey(tenantId, 's1') }), 'hint', ANSWER);
        await desk.settled();
      }
    };
    await noteMany('noisy');
    await noteMany('quiet');
    append = async (event) => kept.push(event);
    await time.pass(WRITE_AGAIN_MS);
    expect(kept).toHaveLength(UNSAVED_LOOPS_MAX);
    append = refuse('store_full');
    await noteMany('noisy');
    append = async (event) => kept.push(event);
    await time.pass(WRITE_AGAIN_MS);
    expect(kept).toHaveLength(1.5 * UNSAVED_LOOPS_MAX);
  });

  it.each<[string, () => Promise<boolean>, string[]]>([
    ['cannot be paused', () => Promise.reject(new Error('busy')), ['pause']],
    ['is over', async () => false, []],
    ['has not been paused in time', () => new Promise(() => {}), ['pause']],
  ])('tells of a session that %s as alerted, not as paused', async (_, pauses, failed) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    pause = pauses;
    for (let at = 0; at < 3; at += 1) desk.note(call(), 'pause', ANSWER);
    await vi.advanceTimersByTimeAsync(PAUSE_WAIT_MS + 1);
    await desk.settled();
    expect(failures).toEqual(failed);
    const told = { action: 'alerted', occurrence: 3 };
    expect(kept[2]).toMatchObject(told);
    expect(found[2]).toMatchObject(told);
    expect(published[4]?.payload).toMatchObject(told);
    expect(alerts[1]).toMatchObject({ occurrence: 3, paused: false });
  });

  it('settles though the next loop is found while one is kept', async () => {
    const { promise: never } = deferred<number>();
    append = async () => {
      append = () => never;
      await Promise.resolve();
      desk.note(call(), 'hint', ANSWER);
      return 1;
    };
    desk.note(call(), 'hint', ANSWER);
    await desk.settled();
    expect(published.map(({ payload }) => payload)).toMatchObject([{ seq: 1 }, { event: { seq: 1 } }]);
  });

  it('does not pile up behind a store that hangs', async () => {
    const hanging = deferred();
    append = () => hanging.promise.then(() => 1);
    for (let at = 0; at < 1_010; at += 1) desk.note(call(), 'hint', ANSWER);
    expect(failures).toHaveLength(10);
    expect(published).toHaveLength(20);
    hanging.resolve();
    await desk.settled();
    expect(published).toHaveLength(2 * 1_010);
  });
});
