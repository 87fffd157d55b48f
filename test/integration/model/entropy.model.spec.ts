/**
 * Whatever agents report, one by one, together or again, whatever operators set, pause and resume, and however often the gateway goes
 * down: each step is scored by the latest ones of its session, each loop is told once, and a session's row is the sum of its steps that
 * are published.
 *
 * A setting counts from the next step on. What is in memory was compared by the settings of its time, and what is read again by those of
 * now; which of both it is after a change, nobody promises.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway } from '../start-one-gateway.js';
import { comparing, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { LiveThings, TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

const AGENTS = ['one', 'two'] as const;
/** A session of `red` has the name of one of `blue`'s. */
const PLACES = [
  { of: 'red', name: 'a' },
  { of: 'red', name: 'b' },
  { of: 'blue', name: 'b' },
  { of: 'blue', name: 'c' },
] as const;
/** Fewer than there are sessions, so that some are read again. */
const WINDOWS_MAX = 3;

interface Settings {
  entropy_window_size: number;
  entropy_loop_threshold: number;
  entropy_warning_threshold: number;
  entropy_tool_key: 'name' | 'name+input';
}
const DEFAULTS: Settings = {
  entropy_window_size: 5,
  entropy_loop_threshold: 0.25,
  entropy_warning_threshold: 0.5,
  entropy_tool_key: 'name',
};

interface Act {
  intent: string;
  tool: string | null;
  input: string | null;
  status: 'success' | 'failure';
}
interface Said extends Act {
  agent: (typeof AGENTS)[number];
  tokens: number;
  costUsd: number | null;
  isLast: boolean;
}
interface Step extends Said {
  trace: string;
  isHeld: boolean;
  entropy: { score: number; severity: string; window_size: number };
  /** What it may have been compared with, itself included; by the settings of this version. */
  windows: Compared[][];
  version: number;
}
/** As it is compared, and as it is shown. */
interface Compared {
  tuple: string;
  shown: string;
}

class Session {
  state: 'active' | 'paused' = 'active';
  /** As they came. */
  steps: Step[] = [];
  /** What its agents posted, by trace. */
  readonly sent = new Map<string, object>();
  /** That may be in memory. */
  windows: Compared[][] = [];
  ended = false;

  constructor(
    readonly of: TenantName,
    readonly name: string,
  ) {}

  get published(): Step[] {
    return this.steps.filter(({ isHeld }) => !isHeld);
  }

  get loops(): Step[] {
    return this.steps.filter(({ entropy }) => entropy.severity === 'loop');
  }

  publish(step: Step): void {
    step.isHeld = false;
    this.ended = step.isLast || (this.ended && step.entropy.severity !== 'loop');
  }
}
class Model {
  settings = { ...DEFAULTS };
  version = 0;
  readonly sessions = PLACES.map(({ of, name }) => new Session(of, name));
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  compared({ intent, tool, input, status }: Act): Compared {
    const by = this.settings.entropy_tool_key === 'name' ? null : input;
    return { tuple: JSON.stringify([intent, tool, by, status]), shown: `${intent} ${status}` };
  }

  readAgain({ steps }: Session): Compared[] {
    return steps.map((step) => this.compared(step)).slice(-this.settings.entropy_window_size);
  }

  /** @param entropy as it was answered: of what may have been in memory, or was read again, something comes to that */
  take(s: Session, said: Said, trace: string, entropy: Step['entropy']): void {
    const { entropy_window_size: size, entropy_loop_threshold, entropy_warning_threshold } = this.settings;
    const windows = [...s.windows, this.readAgain(s)]
      .map((window) => [...window, this.compared(said)].slice(-size))
      .filter(
        (window, at, all) => all.findIndex((one) => JSON.stringify(one) === JSON.stringify(window)) === at,
      );
    const answers = windows.map((window) => {
      const ratio = new Set(window.map(({ tuple }) => tuple)).size / window.length;
      const severity =
        ratio < entropy_loop_threshold ? 'loop' : ratio < entropy_warning_threshold ? 'warning' : 'normal';
      return { score: Math.round(ratio * 10_000) / 10_000, severity, window_size: window.length };
    });
    expect(answers).toContainEqual(entropy);
    s.windows = windows.filter((_, at) => JSON.stringify(answers[at]) === JSON.stringify(entropy));
    const isHeld = s.state === 'paused';
    const step = { ...said, trace, entropy, isHeld, windows: s.windows, version: this.version };
    s.steps.push(step);
    if (!isHeld) s.publish(step);
  }
}

class Real {
  readonly keys = {} as Record<TenantName, string>;
  readonly live = new LiveThings('gateway:sessions', ({ session_id }) => session_id);
  readonly board = new LiveThings('gateway:entropy_alerts', ({ session_id }) => session_id);

  constructor(readonly run: number) {}

  tenant = (of: TenantName) => `${of}-${this.run}`;

  as = (of: TenantName): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, 'ada', this.tenant(of));

  async look(of: TenantName, path: string): Promise<Json> {
    const { status, body } = await this.as(of)('GET', path);
    expect(status).toBe(200);
    return body;
  }

  async post(of: TenantName, body: unknown): Promise<Json> {
    const response = await gateway.ingest(body, { authorization: `Bearer ${this.keys[of]}` });
    expect(response.status).toBe(202);
    return (await response.json()) as Json;
  }

  watch(): void {
    for (const things of [this.live, this.board]) things.watch(gateway.url, this.tenant);
  }
}

const rowOf = ({ session_id: name, control, window, ...row }: Json): Json => ({
  name,
  agent: row.agent_id,
  shown:
    row.step_count === 0
      ? null
      : `${row.last_intent} ${row.last_tool} ${row.last_status} ${row.last_trace_id}`,
  entropy: `${row.severity} ${row.entropy_score}`,
  counts: [row.step_count, row.failure_count, row.tokens, control.held_count],
  cost: [row.cost_usd, row.cost_unknown],
  state: [row.ended, row.ended ? 'dead' : row.state],
  window: window.map(({ intent, action_status }: Json) => `${intent} ${action_status}`).join(),
});

const NODE_STATES: Record<string, string> = { normal: 'active', warning: 'blocked', loop: 'alert_entropy' };

function modelledRow(model: Model, s: Session): Json {
  const { published, steps, ended } = s;
  const latest = published.at(-1);
  const costs = published.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const lastTold = published.findLastIndex(({ costUsd }) => costUsd !== null);
  const isUnknown = lastTold < 0 || published.slice(lastTold + 1).some(({ tokens }) => tokens > 0);
  const isSure = latest !== undefined && latest.version === model.version;
  return {
    name: s.name,
    // Of one that only holds, whose step is first.
    agent: (latest ?? (steps[0] as Step)).agent,
    shown: latest ? `${latest.intent} ${latest.tool ?? ''} ${latest.status} ${latest.trace}` : null,
    entropy: latest ? `${latest.entropy.severity} ${latest.entropy.score}` : expect.any(String),
    counts: [
      published.length,
      published.filter(({ status }) => status === 'failure').length,
      published.reduce((sum, { tokens }) => sum + tokens, 0),
      steps.length - published.length,
    ],
    cost: [Math.max(0, ...costs), isUnknown],
    state: [ended, ended ? 'dead' : (NODE_STATES[latest?.entropy.severity ?? 'normal'] as string)],
    window: isSure
      ? expect.toBeOneOf(latest.windows.map((window) => window.map(({ shown }) => shown).join()))
      : expect.any(String),
  };
}

/** Of what is repeated most, the latest. */
function repeatedIn(window: readonly Compared[]): string {
  const countOf = ({ tuple }: Compared) => window.filter((one) => one.tuple === tuple).length;
  const most = Math.max(...window.map(countOf));
  return (window.findLast((one) => countOf(one) === most) as Compared).shown;
}

async function shown(real: Real, s: Session): Promise<Json> {
  const [list, page, alerts] = await Promise.all([
    real.look(s.of, '/v1/sessions?limit=500'),
    real.look(s.of, `/v1/sessions/${s.name}`),
    real.look(s.of, `/v1/alerts?limit=500&session_id=${s.name}`),
  ]);
  const board = real.board[s.of].get(s.name);
  return {
    rows: [
      list.items.find(({ session_id }: Json) => session_id === s.name),
      page,
      real.live[s.of].get(s.name),
    ].map((row) => row && rowOf(row)),
    alertCount: page.alert?.alert_count ?? 0,
    alerts: alerts.items.toReversed().map((event: Json) => ({
      entropy: [event.agent_id, event.entropy_score, event.window_size],
      repeated: `${event.repeated_pattern.intent} ${event.repeated_pattern.action_status}`,
    })),
    board: (board?.latest ?? board)?.entropy_score ?? null,
  };
}

function modelled(model: Model, s: Session): Json {
  const row = modelledRow(model, s);
  const told = s.loops.at(-1)?.entropy.score ?? null;
  const isLooping = s.published.at(-1)?.entropy.severity === 'loop' && !s.ended;
  return {
    rows: [row, row, row],
    alertCount: s.loops.length,
    alerts: s.loops.map(({ agent, entropy, windows }) => ({
      entropy: [agent, entropy.score, entropy.window_size],
      repeated: expect.toBeOneOf(windows.map(repeatedIn)),
    })),
    // Once it is over it may still be shown, as it was.
    board: isLooping ? told : expect.toBeOneOf([null, told]),
  };
}

async function agree(model: Model, real: Real): Promise<void> {
  for (const s of model.sessions)
    if (s.steps.length > 0) await soon(() => shown(real, s)).toEqual(modelled(model, s));
    else expect((await real.as(s.of)('GET', `/v1/sessions/${s.name}`)).status).toBe(404);
}

const record: typeof fc.record = (model: any, constraints: any = {}) =>
  fc.record(model, { ...constraints, noNullPrototype: true }) as any;
const at = fc.nat({ max: PLACES.length - 1 });
const sessionAt = (model: Readonly<Model>, at: number) => model.sessions[at] as Session;
/** Mostly of the same. */
const mostly = <T>(first: T, ...others: T[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(first) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
const said: fc.Arbitrary<Said> = record({
  intent: mostly('look', 'think', 'Look'),
  tool: mostly<string | null>('read', 'write', null),
  input: fc.constantFrom('x', 'y', null),
  status: mostly<Act['status']>('success', 'failure'),
  agent: mostly<Said['agent']>('one', 'two'),
  tokens: fc.constantFrom(0, 0, 7),
  costUsd: fc.constantFrom(null, null, 0.25, 0.5),
  isLast: mostly(false, false, false, true),
});

const bodyOf = (
  s: Session,
  trace: string,
  { agent, intent, tool, input, status, tokens, costUsd, isLast }: Said,
) =>
  buildDecisionLog({
    meta: { trace_id: trace, session_id: s.name },
    identity: { agent_id: agent },
    cognition: { intent },
    action: {
      status,
      ...(tool === null ? { tool_call: null } : { tool_call: tool }),
      ...(input !== null && { tool_input: { path: input } }),
    },
    state_delta: {
      ...(tokens > 0 && { tokens_consumed: tokens }),
      ...(costUsd !== null && { cumulative_session_cost: costUsd }),
    },
    ...(isLast && { control: { is_terminal: true } }),
  } as never);

/** Each with a trace of its own. */
function written(model: Model, s: Session, all: readonly Said[]) {
  return all.map((said) => {
    const trace = `step-${model.next()}`;
    const body = bodyOf(s, trace, said);
    s.sent.set(trace, body);
    return { said, trace, body };
  });
}

const act = comparing(agree);

const kinds = [
  ...times(
    6,
    act('step', record({ at, said }), async (model: Model, real: Real, { at, said }) => {
      const s = sessionAt(model, at);
      for (const { trace, body } of written(model, s, [said]))
        model.take(s, said, trace, (await real.post(s.of, body)).entropy);
    }),
  ),
  ...times(
    6,
    act(
      'steps',
      record({
        at,
        all: fc.array(said, { minLength: 1, maxLength: 3 }),
        again: fc.nat({ max: 5 }),
        isJsonLines: fc.boolean(),
      }),
      async (model: Model, real: Real, { at, all, again, isJsonLines }) => {
        const s = sessionAt(model, at);
        const last = all.at(-1) as Said;
        const batch = written(model, s, [...all, ...Array.from({ length: again }, () => last)]);
        const headers = {
          authorization: `Bearer ${real.keys[s.of]}`,
          ...(isJsonLines && { 'content-type': 'application/x-ndjson' }),
        };
        const bodies = batch.map(({ body }) => body);
        const response = await gateway.ingest(
          isJsonLines ? bodies.map((body) => JSON.stringify(body)).join('\n') : bodies,
          headers,
        );
        expect(response.status).toBe(202);
        const { results } = (await response.json()) as Json;
        for (const [index, { said, trace }] of batch.entries())
          model.take(s, said, trace, results[index].entropy);
      },
    ),
  ),
  ...times(
    3,
    act(
      'steps at once',
      record({ at, all: fc.array(said, { minLength: 2, maxLength: 4 }) }),
      async (model: Model, real: Real, { at, all }) => {
        const s = sessionAt(model, at);
        const batch = written(model, s, all);
        const answers = new Map(
          await Promise.all(
            batch.map(async ({ trace, body }) => [trace, (await real.post(s.of, body)).entropy] as const),
          ),
        );
        // In which order they came, the store says.
        const { items } = await real.look(s.of, `/v1/sessions/${s.name}/decision-logs?limit=500`);
        for (const { meta } of items) {
          const one = batch.find(({ trace }) => trace === meta.trace_id);
          if (one !== undefined) model.take(s, one.said, one.trace, answers.get(one.trace));
        }
        expect(s.steps).toHaveLength(items.length);
      },
      (model, { at, all }) => sessionAt(model, at).steps.length + all.length < 500,
    ),
  ),
  ...times(
    3,
    act(
      'again',
      record({ at, pick: fc.nat({ max: 9 }) }),
      async (model: Model, real: Real, { at, pick }) => {
        const s = sessionAt(model, at);
        const { trace, entropy } = s.steps.at(-1 - (pick % s.steps.length)) as Step;
        expect((await real.post(s.of, s.sent.get(trace))).entropy).toEqual(entropy);
        s.windows.push(model.readAgain(s));
      },
      (model, { at }) => sessionAt(model, at).steps.length > 0,
    ),
  ),
  ...times(
    3,
    act(
      'pause or resume',
      record({ at }),
      async (model: Model, real: Real, { at }) => {
        const s = sessionAt(model, at);
        const isPaused = s.state === 'paused';
        const path = `/v1/sessions/${s.name}/${isPaused ? 'resume' : 'pause'}`;
        const { status, body } = await real.as(s.of)('POST', path, isPaused ? {} : { reason: 'look' });
        expect(status).toBe(200);
        s.state = isPaused ? 'active' : 'paused';
        const held = s.steps.filter(({ isHeld }) => isHeld);
        if (isPaused) expect(body.flushed_count).toBe(held.length);
        if (isPaused) for (const step of held) s.publish(step);
      },
      // Of what one holds that had ended the open alerts need not tell once it goes on.
      (model, { at }) => {
        const { steps, state, ended } = sessionAt(model, at);
        return steps.length > 0 && !(state === 'active' && ended);
      },
    ),
  ),
  ...times(
    2,
    act(
      'settings',
      fc
        .record(
          {
            entropy_window_size: fc.constantFrom(2, 3, 5, 8, null),
            entropy_loop_threshold: fc.constantFrom(0.25, 0.4, null),
            entropy_warning_threshold: fc.constantFrom(0.5, 0.75, null),
            entropy_tool_key: fc.constantFrom('name' as const, 'name+input' as const, null),
          },
          { requiredKeys: [], noNullPrototype: true },
        )
        .filter((patch) => Object.keys(patch).length > 0),
      async (model: Model, _: Real, patch) => {
        await set(patch);
        for (const [name, value] of Object.entries(patch))
          Object.assign(model.settings, { [name]: value ?? DEFAULTS[name as keyof Settings] });
        model.version = model.next();
      },
    ),
  ),
];

async function set(patch: object): Promise<void> {
  const { status, body } = await gateway.operator('PATCH', '/v1/config', patch);
  expect(status).toBe(200);
  expect(body.warnings).toEqual([]);
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  await gateway[how]();
  await startAgain();
  for (const s of model.sessions) s.windows = [];
  real.watch();
  await agree(model, real);
}

startOneGateway(() => ({ ENTROPY_SESSIONS_MAX: String(WINDOWS_MAX), HITL_PAUSE_TTL_MS: '0' }));
let run = 0;
let latest: Real | undefined;
async function begin(): Promise<{ model: Model; real: Real }> {
  latest?.live.stop();
  latest?.board.stop();
  run += 1;
  const real = new Real(run);
  latest = real;
  await set(Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, null])));
  for (const of of TENANTS) {
    const made = await real.as(of)('POST', '/v1/agent-keys', { name: 'key', tenant_id: real.tenant(of) });
    expect(made.status).toBe(201);
    real.keys[of] = made.body.secret;
  }
  real.watch();
  return { model: new Model(), real };
}

test(
  'whatever is reported and set: each step is scored by the latest ones, each loop is told once, and a row is the sum of its steps',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 2, begin, restart),
);
