import { pino } from 'pino';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DecisionStore,
  type EntropyToolKey,
  ObservatoryError,
  RUNTIME_CONFIG_DEFAULTS,
  type SessionKey,
  type StepCommit,
  type StepRow,
  type StoredStep,
  sessionKey,
} from '#contracts';
import { tupleOf } from '#domain/entropy';
import { EntropyTracker } from '#domain/entropy/writer';
import { deferred } from '#kernel';
import { buildDecisionLog } from '#testing';
import type { ControlDesk } from '../hitl/control-desk.js';
import { IngestEvents } from './ingest-events.js';
import { SchemaInterceptor } from './schema-interceptor.js';
import { StepMemory } from './step-memory.js';
import type { StepPublisher } from './step-publisher.js';

const TENANT = 'default';

/** The interceptor with a real tracker and memory; everything else writes into `happened`, in order. */
function build(
  options: { trackerForgetsAgents?: boolean; stepsRemembered?: number; toolKey?: EntropyToolKey } = {},
) {
  const happened: string[] = [];
  const stored: (StepRow & { seq: number })[] = [];
  const published: StoredStep[] = [];
  const control = {
    holding: false,
    storeFails: false,
    pauseFails: false,
    hasRowLeft: false,
    onWindowRead: () => {},
    recall: (): Promise<void> | null => null,
    onHeldAsked: () => {},
    onHandedOver: () => {},
    committing: Promise.resolve(),
    introduced: Promise.resolve(),
  };
  const clock = { nowMs: () => 1_000, steadyMs: () => 1_000 };
  const settings = { ...RUNTIME_CONFIG_DEFAULTS, entropy_tool_key: options.toolKey ?? 'name' };
  const config = { get: (key: keyof typeof settings) => settings[key] };
  const tracker = new EntropyTracker({
    clock,
    config,
    warn: () => {},
    publisher: {
      publishAlert: () => happened.push('alert'),
      publishNodeState: () => {},
    },
  });
  const bindAgent = tracker.bindAgent.bind(tracker);
  if (options.trackerForgetsAgents) tracker.bindAgent = (key) => bindAgent(key, '');
  const asStored = ({ body, held, ...row }: StepRow & { seq: number }): StoredStep => ({
    ...row,
    held: held === 1,
    rewritten_by: null,
    log: JSON.parse(body),
    body_chars: body.length,
  });
  const store = {
    appendSteps: async (rows: StepRow[]): Promise<StepCommit[]> => {
      control.onHandedOver();
      await control.committing;
      if (control.storeFails) throw new ObservatoryError('store_busy');
      return rows.map((row) => {
        const first = stored.find(
          (each) => each.trace_id === row.trace_id && each.body_hash === row.body_hash,
        );
        if (first !== undefined) return { seq: first.seq, duplicate: true };
        happened.push(`store ${row.trace_id}${row.held ? ' held' : ''}`);
        stored.push({ ...row, seq: stored.length + 1 });
        return { seq: stored.length, duplicate: false };
      });
    },
    appendViolation: async () => {},
    stepByTrace: async (_tenant: string, traceId: string, bodyHash?: string) => {
      const row = stored.findLast(
        (each) => each.trace_id === traceId && (bodyHash === undefined || each.body_hash === bodyHash),
      );
      return row ? asStored(row) : null;
    },
    lastTuples: async (_tenant: string, sessionId: string, count: number, toolKey: EntropyToolKey) => {
      control.onWindowRead();
      const last = stored.filter((row) => row.session_id === sessionId).slice(-count);
      const agent_id = last.at(-1)?.agent_id;
      return agent_id === undefined
        ? null
        : { agent_id, tuples: last.map(({ body }) => tupleOf(JSON.parse(body), toolKey)) };
    },
  } as unknown as DecisionStore;
  const desk = {
    recall: () => control.recall(),
    isHolding: () => {
      control.onHeldAsked();
      return control.holding;
    },
    askForPerson: async () => {
      if (control.pauseFails) throw new ObservatoryError('store_busy');
      happened.push('pause');
      control.holding = true;
    },
    noteHeld: () => {},
    noteStep: () => {},
    answerFor: () => ({ state: 'active', directives: [] }),
  } as unknown as ControlDesk;
  const publisher = {
    publish: (_key: SessionKey, step: StoredStep) => {
      happened.push(`publish ${step.trace_id}`);
      published.push(step);
    },
    publishHeld: (_key: SessionKey, step: StoredStep) => {
      happened.push(`held ${step.trace_id}`);
      return control.introduced;
    },
    publishViolation: () => happened.push('violation'),
  } as unknown as StepPublisher;
  const gauges = { liveSessions: () => 0, windows: () => 0, storeQueue: () => 0 };
  const logged: Record<string, unknown>[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const metrics = new Registry();
  const events = new IngestEvents(clock, logger, metrics, gauges);
  const interceptor = new SchemaInterceptor({
    clock,
    config,
    tracker,
    memory: new StepMemory(options.stepsRemembered ?? 100),
    store,
    desk,
    publisher,
    events,
    rows: {
      mayBeStored: () => true,
      mayHaveLeft: () => control.hasRowLeft,
      bringBack: async () => {
        await Promise.resolve();
        happened.push('row');
        control.hasRowLeft = false;
      },
    },
  });
  const sendAs = (tenantId: string, ...logs: unknown[]) =>
    interceptor.intercept(
      tenantId,
      logs.map((value) => ({ value, text: null })),
    );
  const send = (...logs: unknown[]) => sendAs(TENANT, ...logs);
  return { interceptor, send, sendAs, happened, stored, published, logged, control, tracker, metrics };
}

const log = (trace_id: string, overrides = {}) =>
  buildDecisionLog({ meta: { trace_id, session_id: 's' }, ...overrides });

describe('SchemaInterceptor', () => {
  let gateway: ReturnType<typeof build>;
  beforeEach(() => {
    gateway = build();
  });

  test('[FR-9.9+] scores a valid message before it is stored, and stores it before it is published', async () => {
    await gateway.send(...['1', '2', '3', '4', '5'].map((id) => log(id)));
    expect(gateway.happened).toEqual([
      'alert',
      ...['1', '2', '3', '4', '5'].map((id) => `store ${id}`),
      ...['1', '2', '3', '4', '5'].map((id) => `publish ${id}`),
    ]);
  });

  test('[FR-9.9-] never scores a message that fails validation', async () => {
    const [answer] = await gateway.send({ ...log('1'), action: {} });
    expect(answer?.status).toBe('rejected');
    expect(gateway.happened).toEqual(['violation']);
    expect(gateway.tracker.snapshot(sessionKey(TENANT, 's'))).toEqual([]);
  });

  test('counts what it rejects by the reason that its sender reads', async () => {
    const sent = [log('1'), log('2', { identity: { agent_id: 'another' } }), { ...log('3'), action: {} }];
    const messages = [
      ...sent.map((value) => ({ value, text: null })),
      { line: Buffer.from('{"meta":'), lineNumber: 4 },
    ];
    const sender = { agent_ids: ['agent-1'] };
    const answers = await gateway.interceptor.intercept(TENANT, messages, sender);
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? answer.reason : []));
    expect(reasons).toEqual(['agent_refused', 'schema_violation', 'invalid_json']);
    const counted = gateway.metrics.getSingleMetric('observatory_decision_logs_rejected_total');
    const values = (await counted?.get())?.values.map(({ labels, value }) => [labels.reason, value]);
    expect(Object.fromEntries(values ?? [])).toEqual({
      agent_refused: 1,
      schema_violation: 1,
      invalid_json: 1,
    });
  });

  test('[FR-9.8+] overwrites what the agent reports about its own entropy', async () => {
    await gateway.send(
      log('1', { cognition: { intent: 'i', entropy_score: 0.9, entropy_severity: 'loop' } }),
    );
    expect(gateway.published[0]?.log.cognition).toMatchObject({
      entropy_score: 1,
      entropy_severity: 'normal',
    });
  });

  test('stores what the agent reported, also where a field of it is dropped, and its own score beside it', async () => {
    const reported = log('1', { cognition: { intent: 'i', entropy_score: 0.9 } });
    await gateway.send(reported, { ...log('2', { cognition: reported.cognition }), contol: true });
    for (const { body } of gateway.stored)
      expect(JSON.parse(body).cognition).toEqual({ intent: 'i', entropy_score: 0.9 });
    expect(gateway.stored.map(({ entropy_score }) => entropy_score)).toEqual([1, 0.5]);
  });

  test('[FR-9.8-] keeps the reported score when none can be computed, and logs that as the requirement names it', async () => {
    gateway = build({ trackerForgetsAgents: true });
    await gateway.send(log('1', { cognition: { intent: 'i', entropy_score: 0.9 } }));
    expect(gateway.published[0]?.log.cognition.entropy_score).toBe(0.9);
    expect(gateway.logged.filter(({ event }) => event === 'schema_violation')).toEqual([
      expect.objectContaining({ session_id: 's', reason: 'missing_agent_id' }),
    ]);
  });

  test('a step the store refused was never there: sent again it is scored as if for the first time', async () => {
    await gateway.send(log('1'));
    gateway.control.storeFails = true;
    await expect(gateway.send(log('2'))).rejects.toMatchObject({ code: 'store_busy' });
    gateway.control.storeFails = false;
    expect(await gateway.send(log('2'))).toMatchObject([{ entropy: { score: 0.5, window_size: 2 } }]);
  });

  test('a version is logged the first time it comes from a tenant, and no answer speaks of it', async () => {
    const of = (trace_id: string) =>
      log(trace_id, { identity: { agent_id: 'a', agent_type: 'trader', capability_version: '7.0.1' } });
    const answers = [
      ...(await gateway.send(of('1'), of('2'))),
      ...(await gateway.sendAs('other', of('1'), of('2'))),
    ];
    const line = {
      event: 'capability_version_unknown',
      agent_type: 'trader',
      capability_version: '7.0.1',
    };
    expect(gateway.logged).toMatchObject([line, line]);
    expect(answers.filter((answer) => 'warnings' in answer)).toEqual([]);
  });

  test('hitl_required pauses between what came before and the step itself', async () => {
    await gateway.send(log('1'), log('2', { control: { hitl_required: true } }), log('3'));
    expect(gateway.happened).toEqual([
      'store 1',
      'publish 1',
      'pause',
      'store 2 held',
      'held 2',
      'store 3 held',
      'held 3',
    ]);
  });

  test('a step that asks for a person is held, though its pause ends while the next one’s window is read', async () => {
    gateway.control.onWindowRead = () => {
      gateway.control.holding = false;
    };
    const elsewhere = log('2', { meta: { trace_id: '2', session_id: 's2' } });
    await gateway.send(log('1', { control: { hitl_required: true } }), elsewhere);
    expect(gateway.happened).toEqual(['pause', 'store 1 held', 'held 1', 'store 2', 'publish 2']);
  });

  test('a step whose pause was refused was never there, however often it is sent again', async () => {
    const asking = log('2', { control: { hitl_required: true } });
    gateway.control.pauseFails = true;
    await expect(gateway.send(log('1'), asking)).rejects.toMatchObject({ code: 'store_busy' });
    for (let tries = 0; tries < 5; tries += 1) {
      await expect(gateway.send(asking, log('3'))).rejects.toMatchObject({ code: 'store_busy' });
    }
    gateway.control.pauseFails = false;
    expect(await gateway.send(asking, log('3'))).toMatchObject([
      { trace_id: '2', entropy: { score: 0.5, window_size: 2 } },
      { trace_id: '3', entropy: { window_size: 3 } },
    ]);
    expect(gateway.stored.map((row) => row.trace_id)).toEqual(['1', '2', '3']);
  });

  test('answers for a held step only once its session has a row for an operator to act on', async () => {
    const row = deferred();
    gateway.control.introduced = row.promise;
    const answered = gateway
      .send(log('1', { control: { hitl_required: true } }))
      .then(() => gateway.happened.push('answer'));
    await new Promise(setImmediate);
    expect(gateway.happened).toEqual(['pause', 'store 1 held', 'held 1']);
    row.resolve();
    await answered;
    expect(gateway.happened.at(-1)).toBe('answer');
  });

  test('says of a step sent again what it said the first time, ignored fields included', async () => {
    await gateway.send(log('1'));
    const misspelt = { ...log('2'), contol: { hitl_required: true } };
    const [first] = await gateway.send(misspelt);
    expect(first).toMatchObject({ status: 'accepted', warnings: ['unknown field ignored: contol'] });
    expect(await gateway.send(misspelt)).toEqual([first]);
    expect(gateway.stored.at(-1)?.body).not.toContain('contol');
  });

  test('answers each body of a trace id that came twice as the first time', async () => {
    const bodies = ['one', 'other'].map((intent) => log('1', { cognition: { intent } }));
    const firstTime = await gateway.send(...bodies);
    expect(firstTime).toMatchObject([{ entropy: { window_size: 1 } }, { entropy: { window_size: 2 } }]);
    expect(await gateway.send(...bodies)).toMatchObject([
      { entropy: { window_size: 1 } },
      { entropy: { window_size: 2 } },
    ]);
  });

  test('answers a copy no sooner than its original is stored', async () => {
    const commit = deferred();
    gateway.control.committing = commit.promise;
    const original = gateway.send(log('1'));
    const copy = gateway.send(log('1')).finally(() => gateway.happened.push('answer'));
    await new Promise(setImmediate);
    commit.resolve();
    expect(await copy).toEqual(await original);
    expect(gateway.happened).toEqual(['store 1', 'publish 1', 'answer']);
  });

  test('refuses a copy whose original the store refuses, for its sender to send it again', async () => {
    const commit = deferred();
    gateway.control.committing = commit.promise;
    const both = Promise.allSettled([gateway.send(log('1')), gateway.send(log('1'))]);
    gateway.control.storeFails = true;
    commit.resolve();
    const refused = { status: 'rejected', reason: { code: 'store_busy' } };
    expect(await both).toMatchObject([refused, refused]);
  });

  test('a copy that only the store still knows counts once in its session’s window', async () => {
    gateway = build({ stepsRemembered: 1 });
    const [first] = await gateway.send(log('1'));
    await gateway.send(log('2'));
    expect(await gateway.send(log('1'))).toEqual([first]);
    expect(await gateway.send(log('3'))).toMatchObject([{ entropy: { score: 0.3333, window_size: 3 } }]);
  });

  test('asks whether a step is held in the very turn that hands it to the store', async () => {
    gateway.control.onHeldAsked = () => queueMicrotask(() => gateway.happened.push('turn over'));
    gateway.control.onHandedOver = () => gateway.happened.push('handed over');
    await gateway.send(log('1'));
    expect(gateway.happened.slice(0, 2)).toEqual(['handed over', 'turn over']);
  });

  test('stores and publishes in the order in which it scores, whatever a batch waits for between two of its steps', async () => {
    await gateway.send(log('1'));
    const elsewhere = log('3', { meta: { trace_id: '3', session_id: 'read first' } });
    const answers = await Promise.all([gateway.send(log('2'), elsewhere), gateway.send(log('4'))]);
    expect(answers.flat()).toMatchObject([
      { trace_id: '2', entropy: { window_size: 2 } },
      { trace_id: '3', entropy: { window_size: 1 } },
      { trace_id: '4', entropy: { window_size: 3 } },
    ]);
    const order = gateway.published.filter(({ session_id }) => session_id === 's');
    expect(order.map(({ trace_id }) => trace_id)).toEqual(['1', '2', '4']);
  });

  test('of a batch that waits between two of its steps none was there where the store refuses the first', async () => {
    await gateway.send(log('1'));
    gateway.control.storeFails = true;
    const batch = [log('2'), log('3', { meta: { trace_id: '3', session_id: 'read first' } })];
    await expect(gateway.send(...batch)).rejects.toThrow('The store cannot take more');
    gateway.control.storeFails = false;
    expect(await gateway.send(...batch)).toMatchObject([
      { entropy: { window_size: 2 } },
      { entropy: { window_size: 1 } },
    ]);
  });

  test('nor is such a batch answered where the store takes what comes behind', async () => {
    await gateway.send(log('1'));
    let pieceCount = 0;
    gateway.control.onHandedOver = () => {
      pieceCount += 1;
      gateway.control.storeFails = pieceCount === 1;
    };
    const batch = [log('2'), log('3', { meta: { trace_id: '3', session_id: 'read first' } })];
    await expect(gateway.send(...batch)).rejects.toThrow('The store cannot take more');
    expect(pieceCount).toBe(2);
    expect(await gateway.send(...batch)).toMatchObject([
      { trace_id: '2', entropy: { window_size: 2 } },
      { trace_id: '3', entropy: { window_size: 1 } },
    ]);
  });

  test('copies in two batches that wait for each other are both answered', async () => {
    const [a, b] = [log('a'), log('b')];
    const answers = await Promise.all([gateway.send(a, b), gateway.send(b, a)]);
    expect(answers.flat().map((answer) => answer.status)).toEqual(Array(4).fill('accepted'));
    expect(gateway.stored.map((row) => row.trace_id)).toEqual(['a', 'b']);
  });

  test('a restart rebuilds the window from the store before the next step is scored', async () => {
    await gateway.send(...['1', '2', '3', '4'].map((id) => log(id)));
    gateway.tracker.forget(sessionKey(TENANT, 's'));
    const answers = await Promise.all([gateway.send(log('5')), gateway.send(log('6'))]);
    expect(answers.flat()).toMatchObject([
      { entropy: { score: 0.2, severity: 'loop', window_size: 5 } },
      { entropy: { score: 0.2, window_size: 5 } },
    ]);
  });

  test.each([
    ['that was in memory', false],
    ['that had just been rebuilt', true],
  ])('rebuilds a window %s and left while the pause of its session was read', async (_, isGone) => {
    await gateway.send(log('1'), log('2'));
    const forget = () => gateway.tracker.forget(sessionKey(TENANT, 's'));
    if (isGone) forget();
    gateway.control.recall = async () => {
      await new Promise(setImmediate);
      expect(forget()).toBe(true);
    };
    expect(await gateway.send(log('3'))).toMatchObject([{ entropy: { window_size: 3 } }]);
  });

  test('rebuilds the window of a session that a step names by a stored parent alone', async () => {
    gateway = build({ stepsRemembered: 1 });
    await gateway.send(log('1'), log('2'), log('x', { meta: { trace_id: 'x', session_id: 's2' } }));
    gateway.tracker.forget(sessionKey(TENANT, 's'));
    const child = log('3', { meta: { trace_id: '3', session_id: '', parent_step_id: '1' } });
    expect(await gateway.send(child)).toMatchObject([
      { session_id: 's', entropy: { score: 0.3333, window_size: 3 } },
    ]);
  });

  test('rebuilds a window by the part of a tool call that counts as the tool', async () => {
    gateway = build({ toolKey: 'name+input' });
    const reading = (trace_id: string) => log(trace_id, { action: { tool_input: { page: trace_id } } });
    await gateway.send(reading('1'), reading('2'));
    gateway.tracker.forget(sessionKey(TENANT, 's'));
    expect(await gateway.send(reading('3'))).toMatchObject([{ entropy: { score: 1, window_size: 3 } }]);
  });

  test('holds a step of a session whose pause left memory and is read from the store first', async () => {
    await gateway.send(log('1'));
    gateway.control.recall = async () => {
      await new Promise(setImmediate);
      gateway.control.holding = true;
    };
    await gateway.send(log('2'));
    expect(gateway.happened.slice(2)).toEqual(['store 2 held', 'held 2']);
  });

  test('a row that left memory is back before the next step is published, though the window outlived it', async () => {
    await gateway.send(log('1'));
    gateway.control.hasRowLeft = true;
    const answers = await Promise.all([gateway.send(log('2')), gateway.send(log('3'))]);
    expect(gateway.happened.slice(2)).toEqual(['row', 'store 2', 'store 3', 'publish 2', 'publish 3']);
    expect(answers.flat()).toMatchObject([{ entropy: { window_size: 2 } }, { entropy: { window_size: 3 } }]);
  });

  test('a row that leaves memory while the window is read is back before the step is published', async () => {
    gateway.control.onWindowRead = () => {
      gateway.control.hasRowLeft = true;
    };
    await gateway.send(log('1'));
    expect(gateway.happened).toEqual(['row', 'store 1', 'publish 1']);
  });
});
