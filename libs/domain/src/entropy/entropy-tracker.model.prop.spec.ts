/**
 * The tracker against a plain model: windows are lists, sessions an array in order of use, weights are summed anew. What
 * lies in rows, is given back, moved and weighed incrementally must never be told from it, by any session of any tenant.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  ACTION_STATUSES,
  type EntropyTuple,
  RUNTIME_CONFIG_DEFAULTS,
  type SessionKey,
  type Severity,
  sessionKey,
} from '#contracts';
import { EntropyTracker, type EntropyTrackerOptions } from '#domain/entropy/writer';
import { scoreWindow } from './entropy-score.fixture.js';
import { decideSeverity, isSameTuple } from './entropy-score.js';

const KEYS = ['a', 'b'].flatMap((tenant) => ['1', '2'].map((session) => sessionKey(tenant, session)));
const LONG = 'x'.repeat(130);

type Bounds = Required<Pick<EntropyTrackerOptions, 'sessionCountMax' | 'sessionIdleMs' | 'textCharsMax'>>;

/** Half of them the same, so that sessions fall into trouble and recover. */
const tuple: fc.Arbitrary<EntropyTuple> = fc.oneof(
  fc.constant({ intent: 'again', tool_call: 'read', action_status: 'failure' as const }),
  fc.record({
    // Some alike but for a character that no digest sees.
    intent: fc.constantFrom(
      'a',
      'b',
      '',
      '\udc00',
      LONG,
      `${LONG.slice(0, 4)}y${LONG.slice(5)}`,
      LONG + LONG,
    ),
    tool_call: fc.constantFrom('', 'read'),
    action_status: fc.constantFrom(...ACTION_STATUSES),
  }),
);
const key = fc.constantFrom(...KEYS);
const agentId = fc.constantFrom('one', 'two\0', '\0', '');
const operation = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('step' as const), key, agentId, tuple }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('bind' as const), key, agentId }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('record' as const), key, tuple }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('restore' as const),
      key,
      agentId,
      tuples: fc.array(tuple, { maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('resize' as const), size: fc.constantFrom(1, 3, 5, 100) }),
  },
  {
    weight: 2,
    // Back, too: clocks are set.
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: -200_000, max: 300_000 }), fc.integer({ min: 0, max: 1_500 })),
    }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface ModelWindow {
  readonly key: SessionKey;
  tuples: EntropyTuple[];
  capacity: number;
  agentId: string;
  severity: Severity;
  flagged: string[];
  isRestored: boolean;
  /** When a use was last noted. */
  usedMs: number;
  usedPeriod: number;
}

class Model {
  /** Longest unused first. */
  windows: ModelWindow[] = [];
  readonly log: string[] = [];
  size = RUNTIME_CONFIG_DEFAULTS.entropy_window_size as number;

  constructor(
    readonly bounds: Bounds,
    public nowMs: number,
  ) {}

  find(key: SessionKey): ModelWindow | undefined {
    return this.windows.find((window) => window.key === key && !this.#isIdle(window));
  }

  has(key: SessionKey): boolean {
    const window = this.find(key);
    return window !== undefined && (window.tuples.length > 0 || window.isRestored);
  }

  bind(key: SessionKey, agentId: string): void {
    this.#open(key).agentId = agentId;
  }

  record(key: SessionKey, tuple: EntropyTuple): unknown {
    const window = this.#use(key);
    return window === undefined ? { ok: false, error: 'missing_agent_id' } : this.push(window, tuple);
  }

  push(window: ModelWindow, tuple: EntropyTuple): unknown {
    if (window.agentId === '') return { ok: false, error: 'missing_agent_id' };
    const { key, agentId } = window;
    this.#fill(window, [tuple]);
    const { score } = scoreWindow(window.tuples);
    const window_size = window.tuples.length;
    const before = window.severity;
    window.severity = severityOf(window.tuples);
    const { severity } = window;
    if (severity !== 'normal') {
      if (!window.flagged.includes(agentId)) window.flagged.push(agentId);
      if (severity === 'loop') this.log.push(`alert ${key} ${agentId} ${score} ${window_size}`);
      this.log.push(`${key} ${agentId} ${severity === 'loop' ? 'alert_entropy' : 'blocked'}`);
    } else if (before !== 'normal') {
      for (const one of window.flagged.length > 0 ? window.flagged : [agentId])
        this.log.push(`${key} ${one} active`);
      window.flagged = [];
    }
    return { ok: true, score, severity, window_size };
  }

  restore(key: SessionKey, agentId: string, tuples: readonly EntropyTuple[]): boolean {
    if (this.has(key)) return false;
    const window = this.#open(key);
    this.#fill(window, tuples);
    Object.assign(window, { agentId, isRestored: true });
    if (window.tuples.length > 0) window.severity = severityOf(window.tuples);
    if (window.severity !== 'normal' && agentId !== '') window.flagged = [agentId];
    return true;
  }

  forget(key: SessionKey): boolean {
    const isThere = this.find(key) !== undefined;
    if (isThere) this.windows = this.windows.filter((window) => window.key !== key);
    else this.#evict((window) => window.key === key, 'idle');
    return isThere;
  }

  #isIdle({ usedMs }: ModelWindow): boolean {
    return this.nowMs - usedMs > this.bounds.sessionIdleMs;
  }

  #evict(which: (window: ModelWindow) => boolean, reason: string): boolean {
    const window = this.windows.find(which);
    if (window === undefined) return false;
    this.windows = this.windows.filter((other) => other !== window);
    this.log.push(`${window.key} gone: ${reason}`);
    return true;
  }

  #use(key: SessionKey): ModelWindow | undefined {
    const window = this.find(key);
    if (window === undefined) return undefined;
    if (window.usedPeriod !== this.#period() || window.capacity !== this.size) this.#touch(window);
    window.usedPeriod = this.#period();
    window.capacity = this.size;
    this.#fill(window, []);
    return window;
  }

  #open(key: SessionKey): ModelWindow {
    const existing = this.#use(key);
    if (existing !== undefined) return existing;
    this.#evict((window) => window.key === key, 'idle');
    for (let count = 0; count < 2; count += 1) {
      const oldest = this.windows[0];
      if (oldest !== undefined && this.#isIdle(oldest)) this.#evict((window) => window === oldest, 'idle');
    }
    if (this.windows.length >= this.bounds.sessionCountMax) this.#evict(() => true, 'capacity');
    const window: ModelWindow = {
      key,
      tuples: [],
      capacity: this.size,
      agentId: '',
      severity: 'normal',
      flagged: [],
      isRestored: false,
      usedMs: this.nowMs,
      usedPeriod: this.#period(),
    };
    this.windows.push(window);
    this.#fill(window, []);
    return window;
  }

  #period(): number {
    return Math.floor(this.nowMs / Math.min(60_000, this.bounds.sessionIdleMs / 60));
  }

  #touch(window: ModelWindow): void {
    window.usedMs = this.nowMs;
    this.windows = [...this.windows.filter((other) => other !== window), window];
  }

  #fill(window: ModelWindow, tuples: readonly EntropyTuple[]): void {
    window.tuples = [...window.tuples, ...tuples].slice(-window.capacity);
    const isTooMuch = () =>
      this.windows.reduce((sum, one) => sum + charsOf(one), 0) > this.bounds.textCharsMax;
    while (isTooMuch() && this.#evict((other) => other !== window, 'memory'));
  }
}

const severityOf = (tuples: readonly EntropyTuple[]): Severity =>
  decideSeverity(
    scoreWindow(tuples).ratio,
    RUNTIME_CONFIG_DEFAULTS.entropy_loop_threshold,
    RUNTIME_CONFIG_DEFAULTS.entropy_warning_threshold,
  );

const charsOf = ({ tuples }: ModelWindow): number =>
  tuples
    .filter((one, at) => tuples.findIndex((other) => isSameTuple(one, other)) === at)
    .reduce((sum, { intent, tool_call }) => sum + intent.length + tool_call.length, 0);

it('is never told from lists, whatever is bound, recorded, restored, forgotten, resized, and pushed out by a bound', () => {
  const bounds = fc.record({
    sessionCountMax: fc.integer({ min: 1, max: 4 }),
    sessionIdleMs: fc.constantFrom(1_000, 180_000, Number.POSITIVE_INFINITY),
    textCharsMax: fc.constantFrom(300, 1_000, 1_000_000),
  });
  // The first minute of 1970 and what is around it, and a time that no 32 bits hold.
  const startMs = fc.constantFrom(0, -1, 1_700_000_000_000, 2 ** 31 * 60_000);
  const operations = fc.array(operation, { maxLength: 120, size: 'max' });
  fc.assert(
    fc.property(bounds, startMs, operations, (bounds, startMs, operations) => {
      const model = new Model(bounds, startMs);
      const log: string[] = [];
      const tracker = new EntropyTracker({
        ...bounds,
        clock: { nowMs: () => model.nowMs, steadyMs: () => model.nowMs },
        config: { get: (name) => (name === 'entropy_window_size' ? model.size : undefined) },
        publisher: {
          publishAlert: (key, { agent_id, entropy_score, window_size }) =>
            log.push(`alert ${key} ${agent_id} ${entropy_score} ${window_size}`),
          publishNodeState: (key, agentId, state) => log.push(`${key} ${agentId} ${state}`),
        },
        warn: () => undefined,
        onEvicted: (key, reason) => log.push(`${key} gone: ${reason}`),
      });
      for (const operation of operations) {
        apply(operation, tracker, model);
        expect(log).toEqual(model.log);
        expect(tracker.size).toBe(model.windows.length);
        for (const key of KEYS) {
          expect(tracker.has(key)).toBe(model.has(key));
          expect(tracker.snapshot(key)).toEqual(model.find(key)?.tuples ?? []);
        }
      }
    }),
    { numRuns: 200 },
  );
});

/** To both, with what they answer compared. */
function apply(operation: Operation, tracker: EntropyTracker, model: Model): void {
  if (operation.do === 'resize') model.size = operation.size;
  else if (operation.do === 'wait') model.nowMs += operation.ms;
  else if (operation.do === 'forget') expect(tracker.forget(operation.key)).toBe(model.forget(operation.key));
  else if (operation.do === 'record')
    expect(tracker.recordAndScore(operation.key, operation.tuple)).toEqual(
      model.record(operation.key, operation.tuple),
    );
  else if (operation.do === 'restore') {
    const { key, agentId, tuples } = operation;
    expect(tracker.restore(key, agentId, tuples)).toBe(model.restore(key, agentId, tuples));
  } else {
    const slot = tracker.bindAgent(operation.key, operation.agentId);
    model.bind(operation.key, operation.agentId);
    expect(tracker.keyOf(slot)).toBe(operation.key);
    if (operation.do === 'bind') return;
    const window = model.find(operation.key) as ModelWindow;
    expect(tracker.recordAndScore(slot, operation.tuple)).toEqual(model.push(window, operation.tuple));
    expect(tracker.snapshot(slot)).toEqual(window.tuples);
  }
}
