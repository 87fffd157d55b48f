import { beforeEach, describe, expect, it } from 'vitest';
import {
  type EntropyAlertEvent,
  type EntropyTuple,
  entropyAlertEventSchema,
  NODE_COLOURS,
  type RuntimeConfigKey,
  sessionKey,
} from '#contracts';
import { EntropyTracker, type EntropyTrackerOptions } from '#domain/entropy/writer';
import { FakeClock } from '#testing';
import { FLAGGED_AGENTS_MAX } from './entropy-window.js';
import { type EntropyPublisher, findMissingAlertField } from './index.js';

const KEY = sessionKey('default', 'sess-abc');
const AGENT = 'agent-7';

const tuple = (intent: string, rest: Partial<EntropyTuple> = {}): EntropyTuple => ({
  intent,
  tool_call: 'read_file',
  action_status: 'failure',
  ...rest,
});

describe('EntropyTracker', () => {
  let clock: FakeClock;
  let settings: Map<RuntimeConfigKey, unknown>;
  let published: { alerts: EntropyAlertEvent[]; states: string[] };
  let warnings: string[];
  let evicted: string[];
  let tracker: EntropyTracker;

  const publisher: EntropyPublisher = {
    publishAlert: (_key, event) => published.alerts.push(event),
    publishNodeState: (_key, agentId, state) => published.states.push(`${agentId} ${state}`),
  };
  const create = (options: Partial<EntropyTrackerOptions> = {}) =>
    new EntropyTracker({
      clock,
      config: { get: (key) => settings.get(key) },
      publisher,
      warn: (message) => warnings.push(message),
      onEvicted: (key, reason) => evicted.push(`${key.split('\0')[1]} ${reason}`),
      ...options,
    });
  /** Records one tuple per word, each with that intent. */
  const feed = (intents: string, key = KEY) =>
    intents.split(' ').map((intent) => tracker.recordAndScore(key, tuple(intent)));
  const last = (intents: string) => feed(intents).at(-1);
  const forgetPublished = () => {
    published = { alerts: [], states: [] };
  };

  beforeEach(() => {
    clock = new FakeClock();
    settings = new Map();
    warnings = [];
    evicted = [];
    forgetPublished();
    tracker = create();
    tracker.bindAgent(KEY, AGENT);
  });

  describe('window', () => {
    it('[FR-9.1+] records the tuple in the window of the session and returns the score', () => {
      expect(tracker.recordAndScore(KEY, tuple('search'))).toEqual({
        ok: true,
        score: 1,
        severity: 'normal',
        window_size: 1,
      });
      expect(tracker.snapshot(KEY)).toEqual([tuple('search')]);
    });

    it('[FR-9.1-] lets nobody reach a window: what it hands out are copies, what it is given it copies', () => {
      const given = { intent: 'a', tool_call: 'read_file', action_status: 'failure' as const };
      tracker.recordAndScore(KEY, given);
      given.intent = 'changed';
      for (const held of tracker.snapshot(KEY)) Object.assign(held, { intent: 'changed' });
      expect(tracker.snapshot(KEY)).toEqual([tuple('a')]);
      expect(Object.keys(tracker)).toEqual([]);
      expect(JSON.stringify(tracker)).toBe('{}');
    });

    it('is itself again after a publisher that looks around, records elsewhere and makes it move', () => {
      const other = sessionKey('default', 'sess-xyz');
      const around: string[] = [];
      const look = () => {
        if (around.length > 2) return;
        around.push(tracker.snapshot(KEY).length.toString());
        tracker.bindAgent(other, 'agent-8');
        feed('x y', other);
        settings.set('entropy_window_size', 5 + around.length);
      };
      tracker = create({
        publisher: {
          publishAlert: (key, event) => {
            publisher.publishAlert(key, event);
            look();
          },
          publishNodeState: (key, agentId, state) => {
            if (key === KEY) publisher.publishNodeState(key, agentId, state);
            look();
          },
        },
      });
      tracker.bindAgent(KEY, AGENT);
      expect(last('a a a a a')).toMatchObject({ score: 0.2, severity: 'loop', window_size: 5 });
      expect(around).toEqual(['3', '4', '5']);
      expect(published.states).toEqual([`${AGENT} blocked`, `${AGENT} blocked`, `${AGENT} alert_entropy`]);
      expect(last('b c d e f g h')).toMatchObject({ severity: 'normal', window_size: 8 });
      expect(published.states.at(-1)).toBe(`${AGENT} active`);
      expect(feed('x', other)).toMatchObject([{ score: 0.2857, window_size: 7 }]);
    });

    it('tells apart what differs in a single character anywhere, and puts together what was written apart', () => {
      const text = 'x'.repeat(200);
      const variants = Array.from(text, (_, at) => `${text.slice(0, at)}y${text.slice(at + 1)}`);
      for (const variant of variants) {
        tracker.forget(KEY);
        const window = tracker.bindAgent(KEY, AGENT);
        tracker.recordAndScore(window, tuple(text));
        expect(tracker.recordAndScore(window, tuple(variant))).toMatchObject({ score: 1 });
        tracker.recordAndScore(window, tuple(text, { tool_call: variant }));
        expect(tracker.recordAndScore(window, tuple([...text].join('')))).toMatchObject({ score: 0.75 });
      }
    });

    it('[FR-9.2+] evicts the oldest tuple when a sixth arrives, and scores what is left', () => {
      expect(last('1 2 3 4 5')).toMatchObject({ score: 1, window_size: 5 });
      expect(last('2')).toMatchObject({ score: 0.8, window_size: 5 });
      expect(tracker.snapshot(KEY).map(({ intent }) => intent)).toEqual(['2', '3', '4', '5', '2']);
    });

    it('[FR-9.2-] scores the tuples there are while the window is not full', () => {
      expect(feed('a a a a a').map((result) => result.ok && [result.score, result.window_size])).toEqual([
        [1, 1],
        [0.5, 2],
        [0.3333, 3],
        [0.25, 4],
        [0.2, 5],
      ]);
    });

    it('keeps the windows of sessions and tenants apart', () => {
      const other = sessionKey('default', 'sess-xyz');
      const stranger = sessionKey('tenant-2', 'sess-abc');
      for (const key of [other, stranger]) tracker.bindAgent(key, AGENT);
      feed('a a a a');
      expect(feed('a', other)).toMatchObject([{ score: 1 }]);
      expect(feed('a', stranger)).toMatchObject([{ score: 1 }]);
      expect(feed('a')).toMatchObject([{ score: 0.2, severity: 'loop' }]);
    });
  });

  describe('score', () => {
    it('[FR-9.3+] is 0.2 for five identical tuples', () => {
      expect(last('search search search search search')).toMatchObject({ score: 0.2 });
    });

    it('[FR-9.3-] is 1 for five different tuples, and nothing is published', () => {
      expect(last('a b c d e')).toMatchObject({ score: 1, severity: 'normal' });
      expect(published).toEqual({ alerts: [], states: [] });
    });

    it('[FR-9.3+] tells tuples apart by each of their three parts, exactly', () => {
      const results = [
        tuple('search'),
        tuple('Search'),
        tuple('search '),
        tuple('search', { tool_call: 'write_file' }),
        tuple('search', { action_status: 'success' }),
      ].map((one) => tracker.recordAndScore(KEY, one));
      expect(results.at(-1)).toMatchObject({ score: 1 });
    });

    it('[FR-9.3+] does not confuse texts that differ in one character anywhere', () => {
      settings.set('entropy_window_size', 100);
      const text = 'inspect the module that fails and say why';
      for (let index = 0; index < text.length; index += 1) {
        tracker.recordAndScore(KEY, tuple(`${text.slice(0, index)}#${text.slice(index + 1)}`));
      }
      expect(last(text.replaceAll(' ', '_'))).toMatchObject({ score: 1, window_size: text.length + 1 });
    });

    it('[FR-9.3+] is rounded to 4 decimals', () => {
      settings.set('entropy_window_size', 7);
      expect(last('a b c c c c c')).toMatchObject({ score: 0.4286 });
    });

    it('[FR-9.9+] is returned by the very call that recorded the tuple', () => {
      const result = tracker.recordAndScore(
        KEY,
        tuple('plan', { tool_call: 'write_file', action_status: 'success' }),
      );
      expect(result).not.toBeInstanceOf(Promise);
      expect(result).toMatchObject({ ok: true, score: 1, severity: 'normal' });
    });
  });

  describe('loop', () => {
    it('[FR-9.4+] alerts, colours the node and returns loop below 0.25', () => {
      expect(last('a a a a')).toMatchObject({ severity: 'warning' });
      forgetPublished();
      expect(last('a')).toEqual({ ok: true, score: 0.2, severity: 'loop', window_size: 5 });
      expect(published.alerts).toHaveLength(1);
      expect(published.states).toEqual([`${AGENT} alert_entropy`]);
    });

    it('[FR-9.4-] stays silent at exactly 0.25', () => {
      expect(last('a a a a')).toEqual({ ok: true, score: 0.25, severity: 'warning', window_size: 4 });
      expect(published.alerts).toEqual([]);
    });

    it('[FR-9.4+] alerts again with every step that is still in the loop', () => {
      feed('a a a a a a a');
      expect(published.alerts).toHaveLength(3);
    });

    it('[FR-9.4+] publishes before it returns, the alert first', () => {
      const order: string[] = [];
      tracker = create({
        publisher: {
          publishAlert: () => order.push('alert'),
          publishNodeState: (_key, _agentId, state) => order.push(state),
        },
      });
      tracker.bindAgent(KEY, AGENT);
      feed('a a a a');
      order.length = 0;
      feed('a');
      expect(order).toEqual(['alert', 'alert_entropy']);
    });
  });

  describe('warning', () => {
    it('[FR-9.5+] turns the node amber at 0.4 and sends no alert', () => {
      expect(last('a a a b b')).toMatchObject({ score: 0.4, severity: 'warning' });
      expect(published.states.at(-1)).toBe(`${AGENT} blocked`);
      expect(NODE_COLOURS.blocked).toBe('#f59e0b');
      expect(published.alerts).toEqual([]);
    });

    it('[FR-9.5-] does not mute the alert when a warning becomes a loop', () => {
      expect(last('b a a a a')).toMatchObject({ score: 0.4, severity: 'warning' });
      expect(last('a')).toMatchObject({ score: 0.2, severity: 'loop' });
      expect(published.alerts).toHaveLength(1);
      expect(published.states.at(-1)).toBe(`${AGENT} alert_entropy`);
    });
  });

  describe('normal', () => {
    it('[FR-9.6+] sets the node back to active once when the score recovers', () => {
      feed('a a a a a');
      forgetPublished();
      expect(last('b')).toMatchObject({ severity: 'warning' });
      expect(last('c d')).toMatchObject({ score: 0.8, severity: 'normal' });
      expect(published.alerts).toEqual([]);
      expect(published.states).toEqual([`${AGENT} blocked`, `${AGENT} active`]);
    });

    it('[FR-9.6-] counts exactly 0.50 as normal', () => {
      expect(last('a a')).toEqual({ ok: true, score: 0.5, severity: 'normal', window_size: 2 });
      expect(published).toEqual({ alerts: [], states: [] });
    });

    it('[FR-9.6-] broadcasts nothing while there is nothing to recover from', () => {
      feed('a b c d e f g');
      expect(published.states).toEqual([]);
    });

    it('[FR-9.6+] sets back every agent that was coloured, also when another one ends the trouble', () => {
      feed('a a a a a');
      tracker.bindAgent(KEY, 'agent-8');
      feed('b');
      forgetPublished();
      feed('c d');
      expect(published.states).toEqual([`${AGENT} active`, 'agent-8 active']);
      forgetPublished();
      feed('e f');
      expect(published.states).toEqual([]);
      feed('f f f g h i');
      expect(published.states).not.toContain(`${AGENT} active`);
      expect(published.states.at(-1)).toBe('agent-8 active');
    });
  });

  it('leaves no node coloured of more agents than one session may have flagged', () => {
    feed('a a a a a');
    for (let agent = 0; agent < 2 * FLAGGED_AGENTS_MAX; agent += 1) {
      tracker.bindAgent(KEY, `${agent}`);
      feed('a');
    }
    expect(published.states.filter((state) => state.endsWith(' active'))).toHaveLength(
      FLAGGED_AGENTS_MAX + 1,
    );
    feed('b c d');
    const latest = new Map(published.states.map((state) => state.split(' ') as [string, string]));
    expect(latest.size).toBe(2 * FLAGGED_AGENTS_MAX + 1);
    expect(new Set(latest.values())).toEqual(new Set(['active']));
  });

  describe('alert event', () => {
    it('[FR-9.7+] carries every field, with the most frequent tuple and how often it occurs', () => {
      settings.set('entropy_loop_threshold', 0.5);
      feed('x x x y x');
      expect(published.alerts.at(-1)).toEqual({
        event_type: 'entropy_alert',
        session_id: 'sess-abc',
        agent_id: AGENT,
        entropy_score: 0.4,
        window_size: 5,
        repeated_pattern: { intent: 'x', tool_call: 'read_file', action_status: 'failure' },
        occurrence_count: 4,
        at_ms: clock.nowMs(),
      });
      expect(entropyAlertEventSchema.parse(published.alerts.at(-1))).toEqual(published.alerts.at(-1));
    });

    it('[FR-9.7+] names the actual window size while the window is not full', () => {
      settings.set('entropy_loop_threshold', 0.6);
      feed('a a a');
      expect(published.alerts.at(-1)).toMatchObject({ window_size: 3, occurrence_count: 3 });
    });

    it('[FR-9.7+] prefers the most recent of equally frequent tuples', () => {
      settings.set('entropy_loop_threshold', 0.9);
      feed('c a a b b');
      expect(published.alerts.at(-1)?.repeated_pattern.intent).toBe('b');
    });

    it('[FR-9.7-] is not sent for a session without a known agent: a warning, an error, nothing recorded', () => {
      const key = sessionKey('default', 'nobody');
      for (let step = 0; step < 6; step += 1) {
        expect(tracker.recordAndScore(key, tuple('a'))).toEqual({ ok: false, error: 'missing_agent_id' });
      }
      expect(published).toEqual({ alerts: [], states: [] });
      expect(warnings[0]).toBe('entropy not computed, no agent_id known for session nobody');
      expect(tracker.snapshot(key)).toEqual([]);
      expect(tracker.has(key)).toBe(false);
      tracker.bindAgent(key, '');
      expect(tracker.recordAndScore(key, tuple('a'))).toMatchObject({ ok: false });
    });

    it('[FR-9.7-] is rejected before publishing when a field is missing', () => {
      const broken = { ...tuple('a'), action_status: 'crashed' } as unknown as EntropyTuple;
      for (let step = 0; step < 5; step += 1) tracker.recordAndScore(KEY, broken);
      expect(published.alerts).toEqual([]);
      expect(warnings).toEqual([
        'entropy alert of session sess-abc not published, it lacks repeated_pattern.action_status',
      ]);
    });

    it('[FR-9.7-] lacks something whichever field is taken away', () => {
      feed('a a a a a');
      const event = published.alerts[0] as EntropyAlertEvent;
      expect(findMissingAlertField(event)).toBeNull();
      for (const field of Object.keys(event)) {
        expect(findMissingAlertField({ ...event, [field]: undefined })).toBe(field);
      }
      for (const part of Object.keys(event.repeated_pattern)) {
        const repeated_pattern = { ...event.repeated_pattern, [part]: undefined } as unknown as EntropyTuple;
        expect(findMissingAlertField({ ...event, repeated_pattern })).toBe(`repeated_pattern.${part}`);
      }
    });

    it('[FR-9.10+] goes out with every alert, also twice within 5 s: folding them is for the panel', () => {
      feed('a a a a a');
      clock.advance(2_000);
      feed('a');
      expect(published.alerts.map(({ session_id }) => session_id)).toEqual(['sess-abc', 'sess-abc']);
      expect((published.alerts[1]?.at_ms ?? 0) - (published.alerts[0]?.at_ms ?? 0)).toBe(2_000);
    });
  });

  describe('configuration', () => {
    it('[FR-9.11+] takes a new loop threshold with the next step', () => {
      expect(last('a a a a')).toMatchObject({ score: 0.25, severity: 'warning' });
      settings.set('entropy_window_size', 4);
      settings.set('entropy_loop_threshold', 0.3);
      expect(last('a')).toMatchObject({ score: 0.25, severity: 'loop' });
    });

    it('[FR-9.11+] takes a new warning threshold with the next step', () => {
      settings.set('entropy_warning_threshold', 0.7);
      expect(last('a b c c c')).toMatchObject({ score: 0.6, severity: 'warning' });
    });

    it('[FR-9.11+] takes a smaller window with the next step, keeping the newest tuples', () => {
      feed('1 2 3 4 5');
      settings.set('entropy_window_size', 3);
      expect(last('5')).toMatchObject({ score: 0.6667, window_size: 3 });
      expect(tracker.snapshot(KEY).map(({ intent }) => intent)).toEqual(['4', '5', '5']);
    });

    it('[FR-9.11+] takes a larger window with the next step, losing nothing', () => {
      feed('1 2 3 4 5 6');
      settings.set('entropy_window_size', 8);
      expect(last('6')).toMatchObject({ score: 0.8333, window_size: 6 });
    });

    it.each([
      ['entropy_loop_threshold', 'high', '"high"'],
      ['entropy_loop_threshold', -0.1, '-0.1'],
      ['entropy_loop_threshold', Number.NaN, 'NaN'],
      ['entropy_loop_threshold', 'x'.repeat(41), `"${'x'.repeat(40)}"`],
      ['entropy_loop_threshold', true, 'true'],
      ['entropy_warning_threshold', null, 'null'],
      ['entropy_warning_threshold', 1.01, '1.01'],
      ['entropy_window_size', 0, '0'],
      ['entropy_window_size', 2.5, '2.5'],
      ['entropy_window_size', 101, '101'],
      ['entropy_window_size', { size: 5 }, 'of type object'],
      ['entropy_window_size', ['5'], 'an array'],
      ['entropy_window_size', Symbol('5'), 'of type symbol'],
    ] as const)('[FR-9.11-] warns and goes on with the default when %s is %o', (key, value, shown) => {
      settings.set(key, value);
      expect(feed('a a a a a').map((result) => result.ok && result.severity)).toEqual([
        'normal',
        'normal',
        'warning',
        'warning',
        'loop',
      ]);
      expect(warnings).toEqual([expect.stringContaining(`${key} is ${shown}, expected `)]);
    });

    it('[FR-9.11-] says which value is unusable, what is expected and what is in force', () => {
      settings.set('entropy_loop_threshold', 'high');
      feed('a');
      expect(warnings).toEqual([
        'entropy_loop_threshold is "high", expected a number from 0 to 1; using the default 0.25',
      ]);
    });

    it('[FR-9.11-] warns once per distinct bad value', () => {
      for (const value of ['high', 'high', 'low', 'high']) {
        settings.set('entropy_loop_threshold', value);
        feed('a b');
      }
      expect(warnings).toHaveLength(2);
    });

    it('says nothing about settings that are simply not set', () => {
      feed('a a a a a');
      expect(warnings).toEqual([]);
    });

    it('decides on the unrounded ratio', () => {
      settings.set('entropy_window_size', 3);
      settings.set('entropy_warning_threshold', 0.6667);
      expect(last('a b b')).toMatchObject({ score: 0.6667, severity: 'warning' });
    });

    it('lets the loop threshold win when it is above the other', () => {
      settings.set('entropy_loop_threshold', 0.9);
      expect(last('a a')).toMatchObject({ score: 0.5, severity: 'loop' });
    });
  });

  describe('restore', () => {
    const tuples = 'a a a a'.split(' ').map((intent) => tuple(intent));

    it('goes on where the session was, and publishes nothing by itself', () => {
      const key = sessionKey('default', 'old');
      expect(tracker.has(key)).toBe(false);
      expect(tracker.restore(key, AGENT, tuples)).toBe(true);
      expect(tracker.has(key)).toBe(true);
      expect(published).toEqual({ alerts: [], states: [] });
      expect(feed('a', key)).toMatchObject([{ score: 0.2, severity: 'loop' }]);
      expect(published.alerts).toHaveLength(1);
    });

    it('knows that there was something to recover from, and of whom', () => {
      for (const agentId of [AGENT, '']) {
        const key = sessionKey('default', `old ${agentId}`);
        tracker.restore(
          key,
          agentId,
          'a a a a b'.split(' ').map((intent) => tuple(intent)),
        );
        tracker.bindAgent(key, 'late');
        feed('c', key);
      }
      expect(published.states).toEqual([`${AGENT} active`, 'late active']);
    });

    it('fills a window that was made when windows were smaller', () => {
      settings.set('entropy_window_size', 7);
      const seven = 'a b c d e f g'.split(' ').map((intent) => tuple(intent));
      tracker.restore(KEY, AGENT, seven);
      expect(tracker.snapshot(KEY)).toEqual(seven);
    });

    it('does not touch what is live', () => {
      feed('x');
      expect(tracker.restore(KEY, AGENT, tuples)).toBe(false);
      expect(tracker.snapshot(KEY)).toEqual([tuple('x')]);
    });

    it('fills a window that was only bound to an agent', () => {
      expect(tracker.has(KEY)).toBe(false);
      expect(tracker.restore(KEY, AGENT, tuples)).toBe(true);
      expect(tracker.snapshot(KEY)).toEqual(tuples);
    });

    it('remembers that there was nothing to restore', () => {
      const key = sessionKey('default', 'new');
      tracker.restore(key, AGENT, []);
      expect(tracker.has(key)).toBe(true);
      expect(feed('a', key)).toMatchObject([{ score: 1 }]);
    });
  });

  describe('bounds', () => {
    it('evicts the session longest unused when there are too many, and says so', () => {
      tracker = create({ sessionCountMax: 2 });
      const [one, two, three] = ['one', 'two', 'three'].map((id) => sessionKey('default', id));
      for (const key of [one, two]) {
        if (!key) continue;
        tracker.bindAgent(key, AGENT);
        feed('a', key);
      }
      clock.advance(60_000);
      feed('a', one);
      tracker.bindAgent(three ?? KEY, AGENT);
      expect(evicted).toEqual(['two capacity']);
      expect(tracker.size).toBe(2);
    });

    it('evicts sessions longest unused when all texts together are too long, but not the one in use', () => {
      const line = 'x'.repeat(100);
      tracker = create({ textCharsMax: 1_000 });
      const keys = ['one', 'two', 'three'].map((id) => sessionKey('default', id));
      for (const key of keys) {
        clock.advance(60_000);
        tracker.bindAgent(key, AGENT);
        // Equal ones share their text, and what has left the window weighs nothing.
        feed(`${line} ${line} ${line} ${line}`, key);
        feed('a a a a a', key);
        feed(`${line}${line}${line}`, key);
      }
      expect(evicted).toEqual([]);
      feed(`${line}1 ${line}2 ${line}3`, keys[0]);
      expect(evicted).toEqual(['two memory']);
      expect(tracker.snapshot(keys[0] ?? KEY)).toHaveLength(5);
    });

    it('weighs what it restores, and what is left when a window gets smaller', () => {
      const line = 'x'.repeat(100);
      tracker = create({ textCharsMax: 1_000 });
      const [one, two, three] = ['one', 'two', 'three'].map((id) => sessionKey('default', id));
      const five = [1, 2, 3, 4, 5].map((index) => tuple(`${line}${index}`, { tool_call: '' }));
      tracker.restore(one ?? KEY, AGENT, five);
      settings.set('entropy_window_size', 2);
      feed('a', one);
      tracker.restore(two ?? KEY, AGENT, five);
      settings.set('entropy_window_size', 5);
      expect(evicted).toEqual([]);
      tracker.restore(three ?? KEY, AGENT, five);
      expect(evicted).toEqual([]);
      feed(`${line}${line}`, two);
      expect(evicted).toEqual(['one memory']);
    });

    it('forgets a session idle for six hours, and counts it', () => {
      feed('a a a');
      clock.advance(6 * 3_600_000 + 1);
      expect(tracker.has(KEY)).toBe(false);
      expect(tracker.recordAndScore(KEY, tuple('a'))).toMatchObject({ ok: false });
      tracker.bindAgent(KEY, AGENT);
      expect(evicted).toEqual(['sess-abc idle']);
      expect(feed('a')).toMatchObject([{ score: 1 }]);
    });

    it('keeps a session that is used now and then', () => {
      feed('a a a');
      for (let hour = 0; hour < 12; hour += 1) {
        clock.advance(3_600_000);
        feed('a');
      }
      expect(evicted).toEqual([]);
    });

    it('keeps a session that is used now and then, also where the idle time is shorter than a minute', () => {
      tracker = create({ sessionIdleMs: 1_000 });
      tracker.bindAgent(KEY, AGENT);
      for (let step = 1; step <= 120; step += 1) {
        clock.advance(900);
        expect(feed(`${step}`)).toMatchObject([{ window_size: Math.min(5, step) }]);
      }
      expect(evicted).toEqual([]);
    });

    it('gives the place of a session that left to another, with nothing in it', () => {
      settings.set('entropy_window_size', 2);
      tracker = create({ sessionCountMax: 3 });
      const keyOf = (at: number) => sessionKey(`tenant-${at % 2}`, `sess-${at}`);
      for (let at = 0; at < 5_000; at += 1) {
        const slot = tracker.bindAgent(keyOf(at), AGENT);
        expect(tracker.keyOf(slot)).toBe(keyOf(at));
        expect(tracker.snapshot(slot)).toEqual([]);
        expect(tracker.recordAndScore(slot, tuple('a'))).toMatchObject({ score: 1, window_size: 1 });
        tracker.recordAndScore(slot, tuple('a'));
        if (at % 3 === 0) expect(tracker.forget(keyOf(at))).toBe(true);
      }
      expect(tracker.snapshot(keyOf(4_999))).toHaveLength(2);
      expect(published.states).not.toContain(`${AGENT} active`);
    });

    it('forgets on demand', () => {
      feed('a a a');
      expect(tracker.forget(KEY)).toBe(true);
      expect(tracker.forget(KEY)).toBe(false);
      expect(tracker.snapshot(KEY)).toEqual([]);
      expect(evicted).toEqual([]);
    });
  });
});
