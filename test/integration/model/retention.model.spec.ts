/**
 * Days pass, and what is older than `RETENTION_DAYS` is gone from every list, page, count and live list, as if the gateway had never
 * had it, whether it has run all the time or was started anew; what is younger, held, an incident, a sum of what was spent or audited
 * stays, however much comes and goes at the time.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { io, type Socket } from 'socket.io-client';
import { expect, test } from 'vitest';
import type { DecisionLog } from '#contracts';
import { buildDecisionLog } from '#testing';
import { makeDataDir, OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { ask, ChatVendor, COST_USD, MODELS } from './proxied-chat.js';
import { comparing, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

const KEPT_DAYS = 2;
const REPORTER = 'bot';
/** Reports nothing of its own. */
const CALLER = 'silent-bot';
/** More than go in one piece. */
const MANY = 130;
/** Of an agent that asks the same all the time. */
const KILLED_AT = 6;
const LOOPS_AT = 5;

/** What is asked of the proxy has sessions of its own, so that each of its calls is a step. */
const PLACES = [
  { of: 'red', name: 'one', isProxied: false },
  { of: 'red', name: 'both', isProxied: false },
  { of: 'blue', name: 'both', isProxied: false },
  { of: 'red', name: 'calls', isProxied: true },
  { of: 'blue', name: 'calls', isProxied: true },
] as const;

interface Dated {
  day: number;
}
interface Step extends Dated {
  serial: number;
  trace: string;
  isHeld: boolean;
}
type Sent = readonly [trace: string, body: DecisionLog];
class Session {
  /** Null: nothing is shown of it. The day of its latest step that is shown, and how many were. */
  row: { day: number; count: number } | null = null;
  state: 'active' | 'paused' | 'terminated' = 'active';
  steps: Step[] = [];
  lastSerial = 0;
  /** What its agent has sent. */
  readonly sent: Sent[] = [];
  /** How many since it was last in no loop, and the day of the latest. */
  alerts: { day: number; count: number } | null = null;
  readonly tenant: Tenant;

  constructor(
    readonly model: Model,
    readonly place: (typeof PLACES)[number],
  ) {
    this.tenant = model.tenants[place.of];
  }

  get name(): string {
    return this.place.name;
  }

  take(of: Omit<Step, 'serial' | 'day'>): void {
    const step = { ...of, day: this.model.day, serial: this.model.next() };
    this.lastSerial = step.serial;
    this.steps.push(step);
    if (step.isHeld) this.row ??= { day: step.day, count: 0 };
    else this.show(step);
  }

  show({ day }: Step): void {
    this.row = { day: Math.max(day, this.row?.day ?? 0), count: (this.row?.count ?? 0) + 1 };
  }

  release(): number {
    const held = this.steps.filter(({ isHeld }) => isHeld);
    for (const step of held) {
      step.isHeld = false;
      this.show(step);
    }
    return held.length;
  }

  /** Until they are indexed, nobody knows of steps behind one that is held that they are gone. */
  get isThoughtToHaveSteps(): boolean {
    const isBefore = ({ isHeld, serial }: Step) => isHeld && serial < this.lastSerial;
    return (
      this.lastSerial > this.model.indexedSerial &&
      this.model.sessions.some(({ steps }) => steps.some(isBefore))
    );
  }

  retain(isOld: (one: Dated) => boolean): void {
    this.steps = this.steps.filter((step) => step.isHeld || !isOld(step));
    if (this.alerts !== null && isOld(this.alerts) && this.state !== 'paused') this.alerts = null;
    const isEmpty = this.steps.length === 0 && this.state !== 'paused';
    if (this.row !== null && isEmpty && isOld(this.row) && !this.isThoughtToHaveSteps) this.row = null;
  }
}
interface Tenant {
  alerts: Dated[];
  violations: Dated[];
  calls: Dated[];
  incidents: number;
  spent: { count: number; usd: number };
}
const newTenant = (): Tenant => ({
  alerts: [],
  violations: [],
  calls: [],
  incidents: 0,
  spent: { count: 0, usd: 0 },
});

class Model {
  readonly tenants = { red: newTenant(), blue: newTenant() };
  readonly sessions = PLACES.map((place) => new Session(this, place));
  /** Traces of steps that have come since the gateway was started, or were there then. */
  known = new Set<string>();
  /** That retention goes by: a clock far ahead of what is stored is not believed at a start. */
  believedDay: number;
  /** Of the latest step that the gateway found at its start. */
  indexedSerial = 0;
  #serial = 0;

  constructor(public day: number) {
    this.believedDay = day;
  }

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  retain(): void {
    const isOld = ({ day }: Dated) => this.believedDay - day >= KEPT_DAYS;
    for (const session of this.sessions) session.retain(isOld);
    for (const tenant of Object.values(this.tenants))
      for (const kind of ['alerts', 'violations', 'calls'] as const)
        tenant[kind] = tenant[kind].filter((one) => !isOld(one));
  }
}

const daysFile = join(makeDataDir(), 'days');
let today = 0;
writeFileSync(daysFile, '0');
/** When the first day began. */
const BEGAN_MS = Date.now();
const DAY_MS = 24 * 3_600_000;

class Real {
  readonly keys = {} as Record<TenantName, string>;
  readonly audited: Record<TenantName, string[]> = { red: [], blue: [] };
  #sockets: Socket[] = [];

  constructor(readonly run: number) {
    upstream.script(new ChatVendor().script);
  }

  tenant = (of: TenantName) => `${of}-${this.run}`;

  as = (of: TenantName): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, 'ada', this.tenant(of));

  async look(of: TenantName, path: string): Promise<Json> {
    return (await this.as(of)('GET', path)).body;
  }

  async post(of: TenantName, body: unknown): Promise<{ status: number; body: Json }> {
    const response = await gateway.ingest(body, { authorization: `Bearer ${this.keys[of]}` });
    return { status: response.status, body: await response.json() };
  }

  ask({ place: { of, name } }: Session, id: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.keys[of]}`, 'x-observatory-session': name };
    return ask(`${gateway.url}/agents/${CALLER}`, headers, { id });
  }

  watch(): void {
    this.stop();
    this.#sockets = TENANTS.map((of) =>
      io(`${gateway.url}/live`, {
        auth: { token: OPERATOR_TOKEN, tenant_id: this.tenant(of) },
        transports: ['websocket'],
        reconnection: false,
      }),
    );
  }

  /** What somebody is shown who looks now. */
  async snapshot(of: TenantName, topic: string): Promise<Json[]> {
    const { snapshot } = await (this.#sockets[TENANTS.indexOf(of)] as Socket).emitWithAck('subscribe', {
      topic,
    });
    return snapshot;
  }

  stop(): void {
    for (const socket of this.#sockets.splice(0)) socket.close();
  }

  async daysPass(days: number): Promise<void> {
    today += days;
    writeFileSync(daysFile, String(today));
    gateway.process.kill('SIGUSR2');
    await soon(() => gateway.output()).toContain(`${today} days later\n`);
  }
}

const rowOf = ({ session_id, step_count, control }: Json) =>
  `${session_id} ${step_count} ${control.held_count} ${control.state.replace('pause_requested', 'paused')}`;
const alertOf = ({ alert }: Json) => alert?.alert_count ?? 0;

async function shown(model: Model, real: Real, of: TenantName): Promise<Json> {
  const look = (path: string) => real.look(of, path);
  const sessions = model.sessions.filter(({ place }) => place.of === of);
  const fromTo = `from_ms=${BEGAN_MS - DAY_MS}&to_ms=${BEGAN_MS + (today + 1) * DAY_MS}`;
  const [list, found, alerts, violations, calls, spend, incidents, live, board] = await Promise.all([
    look('/v1/sessions?limit=500'),
    look(`/v1/sessions?limit=500&q=BOT`),
    look('/v1/alerts?limit=500'),
    look('/v1/violations?limit=500'),
    look('/v1/calls?limit=500'),
    look(`/v1/spend?group=agent&${fromTo}`),
    look('/v1/incidents?limit=500'),
    real.snapshot(of, 'gateway:sessions'),
    real.snapshot(of, 'gateway:entropy_alerts'),
  ]);
  const pages = await Promise.all(
    sessions.map(async ({ name }) => {
      const page = await look(`/v1/sessions/${name}`);
      if (page.reason === 'session_not_found') return `${name} is not there`;
      const traces: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { items, next_cursor } = await look(`/v1/sessions/${name}/decision-logs?limit=500${at}`);
        traces.push(...items.map(({ meta, gateway }: Json) => `${meta.trace_id} ${gateway.held}`));
        cursor = next_cursor;
      }
      const isReported = !name.startsWith('calls');
      return { row: rowOf(page), alerts: alertOf(page), steps: isReported ? traces : traces.length };
    }),
  );
  return {
    list: list.items.map(rowOf).sort(),
    found: found.items.map(({ session_id }: Json) => session_id).sort(),
    live: live.map(rowOf).sort(),
    boardOfGone: board.filter((alert) => live.every(({ session_id }) => session_id !== alert.session_id)),
    pages,
    alertCount: alerts.items.length,
    violationCount: violations.items.length,
    callCount: calls.items.length,
    spend: spend.items.map(
      ({ key, call_count, cost_usd }: Json) => `${key} ${call_count} ${cost_usd.toFixed(5)}`,
    ),
    incidentCount: incidents.items.length,
  };
}

function modelled(model: Model, of: TenantName): Json {
  const sessions = model.sessions.filter(({ place }) => place.of === of);
  const { alerts, violations, calls, spent, incidents } = model.tenants[of];
  const rows = sessions.filter(({ row }) => row !== null);
  const line = ({ name, row, state, steps }: Session) =>
    `${name} ${row?.count} ${steps.filter(({ isHeld }) => isHeld).length} ${state}`;
  return {
    list: rows.map(line).sort(),
    found: rows.map(({ name }) => name).sort(),
    live: rows.map(line).sort(),
    boardOfGone: [],
    pages: sessions.map((s) =>
      s.row === null
        ? `${s.name} is not there`
        : {
            row: line(s),
            alerts: s.alerts?.count ?? 0,
            steps: s.place.isProxied
              ? s.steps.length
              : s.steps.map(({ trace, isHeld }) => `${trace} ${isHeld}`),
          },
    ),
    alertCount: alerts.length,
    violationCount: violations.length,
    callCount: calls.length,
    spend: spent.count === 0 ? [] : [`${CALLER} ${spent.count} ${spent.usd.toFixed(5)}`],
    incidentCount: incidents,
  };
}

async function agree(model: Model, real: Real): Promise<void> {
  model.retain();
  for (const of of TENANTS) {
    await soon(() => shown(model, real, of)).toEqual(modelled(model, of));
    const { items } = await real.look(of, '/v1/audit?limit=500');
    const all = items.map(({ hash }: Json) => hash).reverse();
    expect(all.slice(0, real.audited[of].length)).toEqual(real.audited[of]);
    real.audited[of] = all;
    expect((await real.look(of, '/v1/audit/verify')).ok).toBe(true);
  }
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const at = fc.nat({ max: PLACES.length - 1 });
const sessionAt = (model: Readonly<Model>, at: number) => model.sessions[at] as Session;
const reports = (model: Readonly<Model>, { at }: { at: number }) => !sessionAt(model, at).place.isProxied;
const isProxied = (model: Readonly<Model>, { at }: { at: number }) => sessionAt(model, at).place.isProxied;

const bodyOf = (session: Session, trace: string, intent: string, hitl_required = false) =>
  buildDecisionLog({
    meta: { trace_id: trace, session_id: session.name },
    identity: { agent_id: REPORTER },
    cognition: { intent },
    control: { hitl_required },
  } as never);

const act = comparing(agree);

const newSteps = (model: Model, session: Session, count: number, intent?: string): Sent[] =>
  Array.from({ length: count }, () => {
    const trace = `step-${model.next()}`;
    return [trace, bodyOf(session, trace, intent ?? `intent of ${trace}`)];
  });

/** New ones, or such as nobody knows of any more. */
async function report(model: Model, real: Real, session: Session, bodies: Sent[]): Promise<void> {
  if (session.state === 'active' && bodies.some(([, { control }]) => control?.hitl_required))
    session.state = 'paused';
  const isHeld = session.state === 'paused';
  const { status } = await real.post(
    session.place.of,
    bodies.map(([, body]) => body),
  );
  expect(status).toBe(202);
  session.sent.push(...bodies);
  for (const [trace] of bodies) {
    model.known.add(trace);
    session.take({ trace, isHeld });
  }
}

const kinds = [
  ...times(
    4,
    act(
      'steps',
      record({ at, count: fc.constantFrom(1, 1, 2, MANY) }),
      async (model: Model, real: Real, { at, count }) => {
        const session = sessionAt(model, at);
        await report(model, real, session, newSteps(model, session, count));
      },
      reports,
    ),
  ),
  ...times(
    2,
    act(
      'again',
      record({ at, pick: fc.nat({ max: 4 }) }),
      async (model: Model, real: Real, { at, pick }) => {
        const session = sessionAt(model, at);
        const [trace, body] = session.sent.at(-1 - (pick % session.sent.length)) as Sent;
        if (model.known.has(trace) && !session.steps.some((step) => step.trace === trace)) {
          const { status, body: answer } = await real.post(session.place.of, body);
          expect({ status, detail: answer.detail }).toEqual({
            status: 422,
            detail: expect.stringContaining('has expired'),
          });
        } else if (model.known.has(trace)) expect((await real.post(session.place.of, body)).status).toBe(202);
        else await report(model, real, session, [[trace, body]]);
      },
      (model, { at }) => sessionAt(model, at).sent.length > 0,
    ),
  ),
  act(
    'loop',
    record({ at }),
    async (model: Model, real: Real, { at }) => {
      const session = sessionAt(model, at);
      const bodies = newSteps(model, session, LOOPS_AT, `loop ${model.next()}`);
      await report(model, real, session, bodies);
      alerted(model, session);
    },
    (model, { at }) => reports(model, { at }) && sessionAt(model, at).state === 'active',
  ),
  act(
    'asks for a person',
    record({ at }),
    async (model: Model, real: Real, { at }) => {
      const session = sessionAt(model, at);
      const trace = `step-${model.next()}`;
      await report(model, real, session, [[trace, bodyOf(session, trace, trace, true)]]);
    },
    (model, { at }) => reports(model, { at }) && sessionAt(model, at).state === 'active',
  ),
  ...times(
    2,
    act(
      'pause',
      record({ at }),
      async (model: Model, real: Real, { at }) => {
        const session = sessionAt(model, at);
        const { status } = await real.as(session.place.of)('POST', `/v1/sessions/${session.name}/pause`, {
          reason: 'look',
        });
        expect(status).toBe(200);
        session.state = 'paused';
      },
      (model, { at }) =>
        reports(model, { at }) &&
        sessionAt(model, at).row !== null &&
        sessionAt(model, at).state === 'active',
    ),
  ),
  ...times(
    3,
    act(
      'resume',
      record({ at }),
      async (model: Model, real: Real, { at }) => {
        const session = sessionAt(model, at);
        const { status, body } = await real.as(session.place.of)(
          'POST',
          `/v1/sessions/${session.name}/resume`,
          {},
        );
        expect({ status, count: body.flushed_count }).toEqual({ status: 200, count: session.release() });
        session.state = 'active';
      },
      (model, { at }) => sessionAt(model, at).state === 'paused',
    ),
  ),
  act(
    'terminate',
    record({ at, really: fc.nat({ max: 4 }) }),
    async (model: Model, real: Real, { at }) => {
      const session = sessionAt(model, at);
      const path = `/v1/sessions/${session.name}/terminate`;
      expect((await real.as(session.place.of)('POST', path, { reason: 'enough' })).status).toBe(200);
      session.release();
      session.state = 'terminated';
    },
    (model, { at, really }) =>
      really === 0 &&
      reports(model, { at }) &&
      sessionAt(model, at).row !== null &&
      sessionAt(model, at).state !== 'terminated',
  ),
  ...times(
    3,
    act(
      'calls',
      record({ at, count: fc.constantFrom(1, 2, 5) }),
      async (model: Model, real: Real, { at, count }) => {
        const session = sessionAt(model, at);
        const ids = Array.from({ length: count }, () => idOf(model, session));
        expect(await Promise.all(ids.map((id) => real.ask(session, id)))).toEqual(ids.map(() => 'answered'));
        for (const id of ids) called(model, session, id);
      },
      isProxied,
    ),
  ),
  act(
    'repeats itself',
    record({ at }),
    async (model: Model, real: Real, { at }) => {
      const session = sessionAt(model, at);
      const { of } = session.place;
      const watch = (enabled: boolean) =>
        real.as(of)('PATCH', `/v1/agents/${CALLER}/kill-switch`, { enabled });
      await watch(true);
      const id = idOf(model, session);
      for (let count = 1; count < KILLED_AT; count += 1) {
        expect(await real.ask(session, id)).toBe('answered');
        called(model, session, id);
      }
      expect(await real.ask(session, id)).toBe('killed');
      noteCall(model, session, 0);
      alerted(model, session);
      await watch(false);
      await real.as(of)('POST', `/v1/agents/${CALLER}/reactivate`, {});
      session.tenant.incidents += 1;
    },
    isProxied,
  ),
  act('is refused', record({ of: fc.constantFrom(...TENANTS) }), async (model: Model, real: Real, { of }) => {
    expect((await real.post(of, { meta: {} })).status).toBe(422);
    model.tenants[of].violations.push({ day: model.day });
  }),
  ...times(
    4,
    act('days pass', fc.constantFrom(1, 1, 1, 2, 3), async (model: Model, real: Real, days) => {
      await daysPass(model, real, days);
    }),
  ),
  ...times(
    2,
    act('days pass amid traffic', fc.constantFrom(1, 2, 3), async (model: Model, real: Real, days) => {
      const wasThere = model.sessions.map(({ row }) => row !== null);
      await daysPass(model, real, days);
      model.retain();
      // Which comes first, the step or the end of its session's row, nobody knows.
      const busy = model.sessions.filter(
        ({ row, state }, at) => state !== 'paused' && (row !== null) === wasThere[at],
      );
      await Promise.all(
        busy.map(async (session) => {
          if (!session.place.isProxied) return report(model, real, session, newSteps(model, session, MANY));
          const id = idOf(model, session);
          expect(await real.ask(session, id)).toBe('answered');
          called(model, session, id);
        }),
      );
    }),
  ),
];

/** Of a call, in letters: numbers make no difference to what is asked again. */
const idOf = (model: Model, { place }: Session): string =>
  `${place.of}-${String(model.next()).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)).repeat(9))}`;

async function daysPass(model: Model, real: Real, days: number): Promise<void> {
  await real.daysPass(days);
  model.day += days;
  model.believedDay = model.day;
}

function called(model: Model, session: Session, id: string): void {
  noteCall(model, session, COST_USD[MODELS[0]] as number);
  session.take({ trace: id, isHeld: false });
}

function noteCall({ day }: Model, { tenant }: Session, usd: number): void {
  tenant.calls.push({ day });
  tenant.spent.count += 1;
  tenant.spent.usd += usd;
}

function alerted({ day }: Model, session: Session): void {
  session.tenant.alerts.push({ day });
  session.alerts = { day, count: (session.alerts?.count ?? 0) + 1 };
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  await gateway[how]();
  await startAgain();
  real.watch();
  model.indexedSerial = model.next();
  model.known = new Set(model.sessions.flatMap(({ steps }) => steps.map(({ trace }) => trace)));
  const newest = Math.max(...model.sessions.map(({ row }) => row?.day ?? Number.NEGATIVE_INFINITY));
  if (Number.isFinite(newest)) model.believedDay = Math.min(model.day, newest);
  await agree(model, real);
}

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../days-later.mjs', import.meta.url))}`,
  DAYS_FILE: daysFile,
  RETENTION_DAYS: String(KEPT_DAYS),
  HITL_PAUSE_TTL_MS: '0',
}));
let run = 0;
let latest: Real | undefined;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  latest?.stop();
  // What an earlier run holds would stay before all that comes now.
  for (const { of, name } of PLACES) await latest?.as(of)('POST', `/v1/sessions/${name}/resume`, {});
  const real = new Real(run);
  latest = real;
  for (const of of TENANTS) {
    const tenant_id = real.tenant(of);
    real.keys[of] = (await real.as(of)('POST', '/v1/agent-keys', { name: 'key', tenant_id })).body.secret;
    await real.as(of)('PATCH', `/v1/agents/${CALLER}/kill-switch`, { enabled: false });
  }
  real.watch();
  return { model: new Model(today), real };
}

test(
  'whatever grows old is gone wherever it was shown, and all else stays',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 1, begin, restart),
);
