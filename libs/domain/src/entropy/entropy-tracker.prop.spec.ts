import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_STATUSES, type EntropyTuple, type RuntimeConfigKey, sessionKey } from '#contracts';
import { EntropyTracker } from '#domain/entropy/writer';
import { FakeClock } from '#testing';
import { scoreWindow } from './entropy-score.fixture.js';
import { decideSeverity, mostFrequent } from './index.js';

const KEY = sessionKey('default', 's');

/** Few values, so that repeats are common; some texts alike in length and ends, to challenge the fingerprints. */
const text = fc.constantFrom(
  '',
  'a',
  'b',
  'read module 17 again',
  'read module 18 again',
  'reed module 17 again',
  '\ud800',
  'é',
);
const tuple: fc.Arbitrary<EntropyTuple> = fc.record({
  intent: text,
  tool_call: text,
  action_status: fc.constantFrom(...ACTION_STATUSES),
});
/** So few that most windows of them are in trouble, and recover. */
const repetitive = tuple.map((one) => ({ ...one, intent: one.intent === 'a' ? 'a' : 'b', tool_call: '' }));
const windowSize = fc.integer({ min: 1, max: 12 });
const threshold = fc.double({ min: 0, max: 1, noNaN: true });

function create(config: Partial<Record<RuntimeConfigKey, unknown>>) {
  const log: string[] = [];
  const tracker = new EntropyTracker({
    clock: new FakeClock(),
    config: { get: (key) => config[key] },
    publisher: {
      publishAlert: (_key, event) => log.push(JSON.stringify(event)),
      publishNodeState: (_key, agentId, state) => log.push(`${agentId} ${state}`),
    },
    warn: (message) => log.push(message),
  });
  tracker.bindAgent(KEY, 'agent');
  return { tracker, log };
}

describe('EntropyTracker', () => {
  it('scores like a plain list cut to its last N, at any window size and thresholds, changed at any time', () => {
    const step = fc.record({ tuple, resize: fc.option(windowSize, { freq: 8 }) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 80, size: 'max' }),
        windowSize,
        threshold,
        threshold,
        (steps, size, loop, warning) => {
          const config = {
            entropy_window_size: size,
            entropy_loop_threshold: loop,
            entropy_warning_threshold: warning,
          };
          const { tracker, log } = create(config);
          let model: EntropyTuple[] = [];
          for (const { tuple, resize } of steps) {
            if (resize !== null) config.entropy_window_size = resize;
            model = [...model.slice(-config.entropy_window_size), tuple].slice(-config.entropy_window_size);
            const expected = scoreWindow(model);
            const severity = decideSeverity(expected.ratio, loop, warning);
            log.length = 0;
            expect(tracker.recordAndScore(KEY, tuple)).toEqual({
              ok: true,
              score: expected.score,
              severity,
              window_size: model.length,
            });
            expect(tracker.snapshot(KEY)).toEqual(model);
            expect(expected.score).toBeGreaterThan(0);
            expect(expected.score).toBeLessThanOrEqual(1);
            const repeated = mostFrequent(model);
            if (severity === 'loop') {
              expect(JSON.parse(log[0] ?? '')).toMatchObject({
                repeated_pattern: JSON.parse(JSON.stringify(repeated?.tuple)),
                occurrence_count: repeated?.count,
              });
            }
            expect(log.length).toBeLessThanOrEqual(2);
          }
        },
      ),
    );
  });

  it('is the same after a restore as after the steps themselves', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(tuple, repetitive), { minLength: 1, maxLength: 30, size: 'max' }),
        fc.array(fc.oneof(tuple, repetitive), { maxLength: 10 }),
        windowSize,
        (past, future, size) => {
          const replayed = create({ entropy_window_size: size });
          for (const one of past) replayed.tracker.recordAndScore(KEY, one);
          const restored = create({ entropy_window_size: size });
          restored.tracker.restore(KEY, 'agent', past);
          expect(restored.log).toEqual([]);
          expect(restored.tracker.snapshot(KEY)).toEqual(replayed.tracker.snapshot(KEY));
          replayed.log.length = 0;
          for (const one of future) {
            expect(restored.tracker.recordAndScore(KEY, one)).toEqual(
              replayed.tracker.recordAndScore(KEY, one),
            );
          }
          expect(restored.log).toEqual(replayed.log);
        },
      ),
    );
  });

  it('never holds more sessions than it may', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 100, size: 'max' }),
        fc.integer({ min: 1, max: 8 }),
        (ids, max) => {
          const evicted: string[] = [];
          const tracker = new EntropyTracker({
            clock: new FakeClock(),
            config: { get: () => undefined },
            publisher: { publishAlert: () => undefined, publishNodeState: () => undefined },
            warn: () => undefined,
            onEvicted: (key) => evicted.push(key),
            sessionCountMax: max,
          });
          let created = 0;
          for (const id of ids) {
            const key = sessionKey('default', `s${id}`);
            if (!tracker.has(key)) created += 1;
            tracker.bindAgent(key, 'agent');
            expect(
              tracker.recordAndScore(key, { intent: 'a', tool_call: '', action_status: 'success' }).ok,
            ).toBe(true);
            expect(tracker.size).toBeLessThanOrEqual(max);
          }
          expect(created - evicted.length).toBe(tracker.size);
        },
      ),
    );
  });
});
