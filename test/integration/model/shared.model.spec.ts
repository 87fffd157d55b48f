/**
 * Two gateways on one Redis are as one: whatever operators command at either of them, and whichever of the three goes down
 * meanwhile, a call comes to its vendor if all that was commanded and used at both lets it, what it used is counted once, and both
 * show the same once they have heard.
 *
 * While Redis is away each gateway obeys its own operators, and no rate or budget holds. What calls of that time, or of a gateway that was
 * killed, have taken of a minute nobody promises; so what was used is known from below and from above.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis, type RedisConnection, RedisRateLimiter } from '#adapters/redis';
import { ALL_AGENTS, agentScope } from '#contracts';
import { type LimitName, limitWindows } from '#domain/policy';
import { lookAt, ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import { upstreamsAt } from '../start-one-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { ANSWER_TOKENS, ask, ChatVendor } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { other, SIDES, type Side, TwoGateways } from './two-gateways.js';

type Json = Record<string, any>;

const AGENTS = ['one', 'two'] as const;
const SESSIONS = AGENTS.flatMap((agent) => ['x', 'y'].map((name) => `${agent}-${name}`));

const TOKENS = 10 + ANSWER_TOKENS;
const COST_MICRO_USD = 10 * 0.15 + ANSWER_TOKENS * 0.6;
/** What is estimated beyond what is used, at most. */
const PROMPT_TOKENS_MAX = 100;
const PROMPT_MICRO_USD_MAX = PROMPT_TOKENS_MAX * 0.15;

/** Of a minute, in slots of a second. */
const SURELY_COUNTED_MS = 50_000;
const MAYBE_COUNTED_MS = 75_000;

/** By the name of the window that counts it, and what one call takes. */
const LIMITS = {
  requests_per_minute: { window: 'requests_per_minute', code: 'rate_limited', least: 1, most: 1 },
  tokens_per_minute: {
    window: 'tokens_per_minute',
    code: 'rate_limited',
    least: TOKENS,
    most: TOKENS + PROMPT_TOKENS_MAX,
  },
  budget_hour_usd: {
    window: 'budget_hour',
    code: 'budget_exceeded',
    least: COST_MICRO_USD,
    most: COST_MICRO_USD + PROMPT_MICRO_USD_MAX,
  },
  budget_month_usd: {
    window: 'budget_month',
    code: 'budget_exceeded',
    least: COST_MICRO_USD,
    most: COST_MICRO_USD + PROMPT_MICRO_USD_MAX,
  },
} as const satisfies Record<string, { window: LimitName; code: string; least: number; most: number }>;
type Limit = keyof typeof LIMITS;
const LIMIT_NAMES = Object.keys(LIMITS) as Limit[];
const isBudget = (limit: Limit) => limit.startsWith('budget');
/** As the limiter counts it. */
const inWindow = (limit: Limit, value: number) => (isBudget(limit) ? Math.round(value * 1e6) : value);

interface Call {
  serial: number;
  id: string;
  via: Side;
  agent: string;
  session: string;
  how: 'answer' | 'stream' | 'fail' | 'slowly';
  at: 'gate' | 'vendor';
  atMs: number;
  /** Limits that were set while it was under way. */
  missedBy: Set<string>;
  /** Of a minute, or of a budget, it may have taken nothing, or not have given back what it took. */
  isDoubted: { minute: boolean; budget: boolean };
}

/** A budget is given back what Redis could not be told at first, a minute is not. */
type Ghost = Call & { isForMinute?: boolean };

/** One agent, or all of them together. */
class Scope {
  paid: Call[] = [];
  running: Call[] = [];
  /** Not paid for by anybody's record: whether they gave back what they took nobody knows. */
  ghosts: Ghost[] = [];
  /** By limit, since when it is counted without a gap. */
  since: Partial<Record<Limit, number>> = {};
  /** Of budgets: whose part Redis has lost, and not been told again. */
  lostOf = new Set<Side>();

  constructor(
    readonly id: string,
    readonly path: string,
  ) {}
}

type Value = number | boolean | string | null;
/** What a gateway has in force, by the names of fields that are decided apart. */
type Known = Map<string, Value>;
const activeOf = ({ path }: Scope) => `${path} active`;
const limitOf = ({ path }: Scope, name: string) => `${path} ${name}`;
const stateOf = (session: string) => `session ${session}`;

interface Gateway {
  isUp: boolean;
  known: Known;
  /** What it has decided, and the other may not have heard. */
  news: Known;
}

type Away = 'killed' | 'frozen';

class Model {
  readonly agents = AGENTS.map((name) => new Scope(name, `/v1/agents/${name}`));
  readonly all = new Scope(ALL_AGENTS, '/v1/all-agents');
  readonly gateways: Record<Side, Gateway>;
  redis: 'there' | Away = 'there';
  emptiedMs = 0;
  #serial = 0;

  constructor() {
    const known: Known = new Map();
    for (const scope of this.scopes) {
      known.set(activeOf(scope), true);
      for (const limit of LIMIT_NAMES) known.set(limitOf(scope, limit), null);
      if (scope !== this.all) known.set(limitOf(scope, 'session_calls_max'), null);
    }
    for (const session of SESSIONS) known.set(stateOf(session), 'active');
    const gateway = (): Gateway => ({ isUp: true, known: new Map(known), news: new Map() });
    this.gateways = { a: gateway(), b: gateway() };
  }

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  get scopes(): Scope[] {
    return [...this.agents, this.all];
  }
  get up(): Side[] {
    return SIDES.filter((side) => this.gateways[side].isUp);
  }
  get areBothUp(): boolean {
    return this.up.length === SIDES.length;
  }
  get hasNews(): boolean {
    return SIDES.some((side) => this.gateways[side].news.size > 0);
  }
  get calls(): Call[] {
    return this.all.running;
  }
  /** The gateway that is asked for, or the one that is there. */
  at(side: Side): Side {
    return this.gateways[side].isUp ? side : other(side);
  }
  of(agent: string): Scope {
    return this.agents.find(({ id }) => id === agent) as Scope;
  }
  scopesOf({ agent }: Call): Scope[] {
    return [this.of(agent), this.all];
  }

  decide(side: Side, field: string, value: Value): void {
    const { known, news } = this.gateways[side];
    if (known.get(field) === 'terminated') return;
    known.set(field, value);
    news.set(field, value);
  }

  over(call: Call, isPaid: boolean): void {
    if (this.redis !== 'there') call.isDoubted.minute = true;
    for (const scope of this.scopesOf(call)) {
      scope.running = scope.running.filter((one) => one !== call);
      if (isPaid) scope.paid.push(call);
      else if (this.redis !== 'there') scope.ghosts.push({ ...call, isForMinute: true });
    }
  }

  /** A gateway did not reach Redis in time. */
  doubt(side: Side): void {
    for (const scope of this.scopes)
      for (const { via, isDoubted } of [...scope.paid, ...scope.running])
        if (via === side) isDoubted.minute = isDoubted.budget = true;
  }

  /** What the limiter has counted, at least and at most. */
  used(scope: Scope, limit: Limit): { least: number; most: number } {
    const since = scope.since[limit] ?? 0;
    const isRate = !isBudget(limit);
    const ageMs = ({ atMs }: Call) => Date.now() - atMs;
    const mayCount = (call: Call) => !isRate || ageMs(call) < MAYBE_COUNTED_MS;
    const counts = (call: Call) => {
      if (isRate)
        return (
          !call.isDoubted.minute &&
          !call.missedBy.has(limitOf(scope, limit)) &&
          call.serial > since &&
          ageMs(call) < SURELY_COUNTED_MS &&
          call.atMs > this.emptiedMs + 2_000
        );
      return !call.isDoubted.budget && !scope.lostOf.has(call.via);
    };
    const runs = (call: Call) => counts(call) && call.serial > since && !call.isDoubted.minute;
    const ghosts = scope.ghosts.filter(({ isForMinute }) => isRate || !isForMinute);
    const { least, most } = LIMITS[limit];
    return {
      least: least * (scope.paid.filter(counts).length + scope.running.filter(runs).length),
      most: most * [...scope.paid, ...scope.running, ...ghosts].filter(mayCount).length,
    };
  }

  /** What keeps a call from its vendor: `surely`, and what may. */
  reasons(call: Call): { surely: string[]; perhaps: string[] } {
    const { known } = this.gateways[call.via];
    const surely: string[] = [];
    const perhaps: string[] = [];
    for (const scope of this.scopesOf(call)) {
      if (known.get(activeOf(scope)) === false) surely.push('agent_inactive');
      if (this.redis !== 'there') continue;
      for (const limit of LIMIT_NAMES) {
        const max = known.get(limitOf(scope, limit)) as number | null;
        if (max === null) continue;
        const { least, most } = this.used(scope, limit);
        const one = LIMITS[limit];
        if (least + one.least > inWindow(limit, max)) surely.push(one.code);
        else if (most + one.most > inWindow(limit, max)) perhaps.push(one.code);
      }
    }
    // Of a session each gateway counts the calls that it got.
    const agent = this.of(call.agent);
    const cap = known.get(limitOf(agent, 'session_calls_max')) as number | null;
    const isOfIt = ({ session, via }: Call) => session === call.session && via === call.via;
    const ended = agent.paid.filter(isOfIt).length;
    const running = agent.running.filter(isOfIt);
    const missed = running.filter(({ missedBy }) => missedBy.has(limitOf(agent, 'session_calls_max')));
    if (cap !== null && ended + running.length - missed.length >= cap) surely.push('session_capped');
    else if (cap !== null && ended + running.length >= cap) perhaps.push('session_capped');
    if (known.get(stateOf(call.session)) === 'terminated') surely.push('call_terminated');
    return { surely, perhaps };
  }
}

class Real extends TwoGateways {
  readonly vendor = new ChatVendor();
  /** Of calls that are over, by their ids. */
  readonly outcomes = new Map<string, string>();
  readonly keys = {} as Record<Side, string>;
  readonly failures: Record<Side, number> = { a: 0, b: 0 };

  constructor(run: number) {
    super(`shared-${run}`, (side) => gateways[side].url);
    upstream.script(this.vendor.script);
  }

  ask({ id, via, agent, session, how }: Call, onHeaders?: (headers: Headers) => void): Promise<string> {
    const headers = { authorization: `Bearer ${this.keys[via]}`, 'x-observatory-session': session };
    const question = { id, stream: how === 'stream', fails: how === 'fail', slowly: how === 'slowly' };
    const outcome = ask(`${gateways[via].url}/agents/${agent}`, headers, question, onHeaders);
    void outcome.then((told) => this.outcomes.set(id, told));
    return outcome;
  }

  hasCome = ({ id }: Call) => this.vendor.asked.some((one) => one.id === id);

  /** Since it was asked last, it has let calls pass, or told nothing, for Redis did not answer in time. */
  async hasFailedOpen(side: Side): Promise<boolean> {
    const { limiter_fail_open } = await this.look(side, '/v1/system');
    const count = Object.values(limiter_fail_open as Record<string, number>).reduce((a, b) => a + b, 0);
    const hasFailed = count !== this.failures[side];
    this.failures[side] = count;
    return hasFailed;
  }

  async counted(scope: Scope, limits: Partial<Record<Limit, number>>): Promise<Map<string, number> | null> {
    const none = { requests: 0, tokens: 0, costMicroUsd: 0 };
    const set = { ...NO_LIMITS, ...limits } as any;
    const windows = limitWindows(agentScope(this.tenant, scope.id), set, none, Date.now());
    const states = await lookAt(observer, windows).catch(() => null);
    return states && new Map(windows.map(({ name }, at) => [name, states[at]?.used ?? 0]));
  }
}
const NO_LIMITS = Object.fromEntries(
  LIMIT_NAMES.concat('budget_day_usd' as Limit).map((name) => [name, null]),
);

/** What a gateway shows of all that is decided, and of what was spent there. */
async function shown(model: Model, real: Real, side: Side): Promise<Json> {
  const known: Known = new Map();
  const spent: Record<string, number> = {};
  const scopes = model.scopes.map(async (scope) => {
    const { policy, spend } = await real.look(side, scope.path);
    known.set(activeOf(scope), policy.active);
    for (const limit of [...LIMIT_NAMES, ...(scope === model.all ? [] : ['session_calls_max'])])
      known.set(limitOf(scope, limit), policy[limit]);
    spent[scope.id] = spend.month.spent_usd;
  });
  const sessions = SESSIONS.map(async (session) => {
    const { control } = await real.look(side, `/v1/sessions/${session}`);
    known.set(stateOf(session), control.state === 'pause_requested' ? 'paused' : control.state);
  });
  await Promise.all([...scopes, ...sessions]);
  return { known: sorted(known), spent };
}
const sorted = (known: Known) => Object.fromEntries([...known].sort(([one], [two]) => (one < two ? -1 : 1)));

const modelled = (model: Model, side: Side): Json => ({
  known: sorted(model.gateways[side].known),
  spent: Object.fromEntries(
    model.scopes.map(({ id, paid }) => {
      const usd = (paid.filter(({ via }) => via === side).length * COST_MICRO_USD) / 1e6;
      // As near as what a call is thought to cost that was cut off, so that nobody knows.
      return [id, expect.closeTo(usd, 3)];
    }),
  ),
});

/** Both hear what was decided at the other, where they can. */
async function settle(model: Model, real: Real): Promise<void> {
  if (model.redis !== 'there' || !model.hasNews) return;
  const decided = new Set(SIDES.flatMap((side) => [...model.gateways[side].news.keys()]));
  if (model.areBothUp) {
    await real.exchange();
    const seen = (await shown(model, real, 'a')).known;
    for (const field of decided) {
      const values = SIDES.map((side) => model.gateways[side].news.get(field)).filter(
        (value) => value !== undefined,
      );
      const isTerminated = SIDES.some((side) => model.gateways[side].known.get(field) === 'terminated');
      if (!isTerminated) expect(values).toContain(seen[field]);
      for (const side of SIDES)
        model.gateways[side].known.set(field, isTerminated ? 'terminated' : seen[field]);
    }
  }
  // What was spent at the one that is down counts once it is there to tell.
  else
    for (const scope of model.scopes)
      if (LIMIT_NAMES.some((limit) => isBudget(limit) && decided.has(limitOf(scope, limit))))
        for (const side of SIDES) if (!model.gateways[side].isUp) scope.lostOf.add(side);
  for (const side of SIDES) model.gateways[side].news.clear();
  const serial = model.next();
  for (const scope of model.scopes) {
    for (const limit of LIMIT_NAMES) if (decided.has(limitOf(scope, limit))) scope.since[limit] = serial;
    for (const call of scope.running) for (const field of decided) call.missedBy.add(field);
  }
  for (const side of model.up) await takeEffect(model, real, side);
}

/** What is in force there, for the calls there. */
async function takeEffect(model: Model, real: Real, side: Side): Promise<void> {
  const { known } = model.gateways[side];
  for (const call of model.calls.filter(({ via }) => via === side)) {
    const codes: string[] = [];
    if (model.scopesOf(call).some((scope) => known.get(activeOf(scope)) === false))
      codes.push('agent_inactive');
    const state = known.get(stateOf(call.session));
    if (state === 'terminated') codes.push('call_terminated');
    if (codes.length > 0) {
      await soon(() => real.outcomes.get(call.id)).toSatisfy((outcome) => codes.includes(outcome));
      model.over(call, call.at === 'vendor');
    } else if (call.at === 'gate' && state === 'active') {
      await soon(() => real.hasCome(call)).toBe(true);
      call.at = 'vendor';
      if (call.how !== 'slowly') await ends(model, real, call, call.how !== 'fail');
    }
  }
}

async function ends(model: Model, real: Real, call: Call, isAnswered: boolean): Promise<void> {
  await soon(() => real.outcomes.get(call.id)).toBe(isAnswered ? 'answered' : 'overloaded');
  model.over(call, isAnswered);
}

async function agree(model: Model, real: Real): Promise<void> {
  await settle(model, real);
  for (const side of model.up) await soon(() => shown(model, real, side)).toEqual(modelled(model, side));
  if (model.redis !== 'there') return;
  for (const scope of model.scopes) {
    const limits: Partial<Record<Limit, number>> = {};
    for (const limit of LIMIT_NAMES) {
      const max = model.gateways[model.at('a')].known.get(limitOf(scope, limit));
      if (typeof max === 'number') limits[limit] = max;
    }
    if (Object.keys(limits).length === 0) continue;
    const wrong = async () => {
      const counted = await real.counted(scope, limits);
      if (counted === null) return 'away';
      const found = (Object.keys(limits) as Limit[]).flatMap((limit) => {
        const used = counted.get(LIMITS[limit].window) as number;
        const { least, most } = model.used(scope, limit);
        return used < least || used > most
          ? [`${scope.path} ${limit} ${used} not in ${least} to ${most}`]
          : [];
      });
      if (found.length > 0)
        for (const side of model.up) if (await real.hasFailedOpen(side)) model.doubt(side);
      return found;
    };
    await soon(wrong).toEqual([]);
  }
}

interface Asking {
  side: Side;
  session: string;
  how: Call['how'];
}

async function call(model: Model, real: Real, { side, session, how }: Asking): Promise<void> {
  await settle(model, real);
  const serial = model.next();
  const one: Call = {
    serial,
    id: `${session}-${serial}`,
    via: model.at(side),
    agent: session.split('-')[0] as string,
    session,
    how,
    at: 'gate',
    atMs: Date.now(),
    missedBy: new Set(),
    isDoubted: { minute: model.redis !== 'there', budget: false },
  };
  const { surely, perhaps } = model.reasons(one);
  const { known } = model.gateways[one.via];
  const rests = [model.of(one.agent), model.all]
    .map((scope) => ({
      max: known.get(limitOf(scope, 'requests_per_minute')),
      used: model.used(scope, 'requests_per_minute'),
    }))
    .find(({ max }) => max !== null);
  let remaining: string | null = null;
  const asked = real.ask(one, (headers) => (remaining = headers.get('x-ratelimit-remaining-requests')));
  const heldBefore = model.calls.filter(
    ({ via, at, session }) => via === one.via && at === 'gate' && session === one.session,
  );
  const isPaused = known.get(stateOf(session)) === 'paused';
  const isHeld = async () =>
    (await real.look(one.via, `/v1/held-calls?session_id=${session}`)).items.length > heldBefore.length;
  let outcome: string | undefined;
  if (surely.length === 0 && isPaused)
    await soon(async () => real.outcomes.has(one.id) || (await isHeld())).toBe(true);
  else if (surely.length === 0 && how === 'slowly')
    await soon(() => real.outcomes.has(one.id) || real.hasCome(one)).toBe(true);
  else await asked;
  outcome = real.outcomes.get(one.id);
  if (model.redis === 'there' && (await real.hasFailedOpen(one.via))) {
    model.doubt(one.via);
    one.isDoubted.minute = one.isDoubted.budget = true;
    perhaps.push(...surely.filter((code) => code === 'rate_limited' || code === 'budget_exceeded'));
    surely.splice(0, surely.length, ...surely.filter((code) => !perhaps.includes(code)));
  }
  const passed = isPaused
    ? undefined
    : { answer: 'answered', stream: 'answered', fail: 'overloaded', slowly: undefined }[how];
  if (surely.length > 0) expect([...surely, ...perhaps]).toContain(outcome);
  else expect([...perhaps, passed]).toContain(outcome);
  const wasRefused = surely.length > 0 || (outcome !== passed && outcome !== undefined);
  expect(real.hasCome(one)).toBe(!wasRefused && !isPaused);
  if (wasRefused) {
    if (one.isDoubted.minute) for (const scope of model.scopesOf(one)) scope.ghosts.push(one);
    return;
  }
  one.at = isPaused ? 'gate' : 'vendor';
  for (const scope of model.scopesOf(one)) {
    scope.running.push(one);
    // Whose part is lost is noticed by taking.
    if (outcome !== undefined && !one.isDoubted.minute) scope.lostOf.delete(one.via);
  }
  if (outcome !== undefined) model.over(one, outcome === 'answered');
  // A stream was begun before anybody knew.
  if (rests !== undefined && outcome === 'answered' && model.redis === 'there' && !one.isDoubted.minute) {
    const { max, used } = rests as { max: number; used: { least: number; most: number } };
    expect(Number(remaining)).toBeGreaterThanOrEqual(Math.max(0, max - used.most - 1));
    expect(Number(remaining)).toBeLessThanOrEqual(max - used.least - 1);
  }
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const side = fc.constantFrom(...SIDES);
const session = fc.constantFrom(...SESSIONS);
/** Of an agent, or of all. */
const place = fc.nat({ max: AGENTS.length });
const scopeAt = (model: Readonly<Model>, index: number) => model.scopes[index] as Scope;

/** By operators at one gateway; first the other hears of what it may decide otherwise, where calls are under way that it might end. */
async function act(
  model: Model,
  real: Real,
  given: Side,
  decides: Record<string, Value>,
  method: string,
  path: string,
  body: object,
): Promise<void> {
  const isDecided = Object.keys(decides).some((field) =>
    SIDES.some((side) => model.gateways[side].news.has(field)),
  );
  const mayEnd = (one: Call) =>
    [...model.scopesOf(one).map(activeOf), stateOf(one.session)].some((field) => field in decides);
  if (isDecided && model.calls.some(mayEnd)) {
    if (model.redis !== 'there') return;
    await settle(model, real);
  }
  const at = model.at(given);
  const isOver = Object.keys(decides).some((field) => model.gateways[at].known.get(field) === 'terminated');
  const { status } = await real.as(at)(method, path, body);
  expect(status).toBe(isOver && decides[Object.keys(decides)[0] as string] !== 'terminated' ? 409 : 200);
  for (const [field, value] of Object.entries(decides)) model.decide(at, field, value);
  await takeEffect(model, real, at);
}

const seldom = { freq: 3 };
const budget = fc.option(
  fc.constantFrom(1, 3, 6, 20).map((calls) => ((calls + 0.5) * COST_MICRO_USD) / 1e6),
  seldom,
);
const limits = fc
  .record(
    {
      requests_per_minute: fc.option(fc.constantFrom(2, 4, 10), seldom),
      tokens_per_minute: fc.option(fc.constantFrom(25_000, 65_000, 155_000), seldom),
      budget_hour_usd: budget,
      budget_month_usd: budget,
      session_calls_max: fc.option(fc.constantFrom(4, 8), seldom),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .filter((patch) => Object.keys(patch).length > 0);

const kinds = [
  ...times(
    10,
    command(
      'call',
      record({ side, session, how: fc.constantFrom<Call['how']>('answer', 'stream', 'fail', 'slowly') }),
      async (model: Model, real: Real, given) => {
        await call(model, real, given);
        await agree(model, real);
      },
    ),
  ),
  ...times(
    4,
    command(
      'calls at both',
      record({ session, count: fc.integer({ min: 3, max: 6 }) }),
      async (model: Model, real: Real, { session, count }) => {
        for (let at = 0; at < count; at += 1)
          await call(model, real, { side: SIDES[at % SIDES.length] as Side, session, how: 'answer' });
        await agree(model, real);
      },
      (model, { session }) => model.gateways.a.known.get(stateOf(session)) === 'active',
    ),
  ),
  ...times(
    4,
    command(
      'vendor ends',
      record({ at: fc.nat({ max: 5 }), isAnswered: fc.boolean() }),
      async (model: Model, real: Real, { at, isAnswered }) => {
        const running = model.calls.filter((one) => one.at === 'vendor');
        const one = running[at % running.length] as Call;
        real.vendor.end(one.id, isAnswered ? 'answer' : 'fail');
        await ends(model, real, one, isAnswered);
        await agree(model, real);
      },
      (model) => model.calls.some((one) => one.at === 'vendor'),
    ),
  ),
  command('stop', record({ side, place }), async (model: Model, real: Real, { side, place }) => {
    const scope = scopeAt(model, place);
    const path = `${scope.path}/deactivate`;
    await act(model, real, side, { [activeOf(scope)]: false }, 'POST', path, { reason: 'enough' });
  }),
  ...times(
    3,
    command('let run', record({ side, place }), async (model: Model, real: Real, { side, place }) => {
      const scope = scopeAt(model, place);
      await act(model, real, side, { [activeOf(scope)]: true }, 'POST', `${scope.path}/reactivate`, {});
    }),
  ),
  ...times(
    5,
    command(
      'limit',
      record({ side, place, patch: limits }),
      async (model: Model, real: Real, { side, place, patch }) => {
        const scope = scopeAt(model, place);
        const decides = Object.fromEntries(
          Object.entries(patch).map(([name, value]) => [limitOf(scope, name), value as number | null]),
        );
        await act(model, real, side, decides, 'PATCH', `${scope.path}/policy`, patch);
      },
      (model, { place, patch }) => !('session_calls_max' in patch) || scopeAt(model, place) !== model.all,
    ),
  ),
  ...times(
    2,
    command('pause', record({ side, session }), async (model: Model, real: Real, { side, session }) => {
      const path = `/v1/sessions/${session}/pause`;
      await act(model, real, side, { [stateOf(session)]: 'paused' }, 'POST', path, { reason: 'look' });
    }),
  ),
  ...times(
    3,
    command('resume', record({ side, session }), async (model: Model, real: Real, { side, session }) => {
      const path = `/v1/sessions/${session}/resume`;
      await act(model, real, side, { [stateOf(session)]: 'active' }, 'POST', path, {});
    }),
  ),
  command(
    'terminate',
    record({ side, session, really: fc.nat({ max: 4 }) }),
    async (model: Model, real: Real, { side, session }) => {
      const path = `/v1/sessions/${session}/terminate`;
      await act(model, real, side, { [stateOf(session)]: 'terminated' }, 'POST', path, { reason: 'enough' });
    },
    (_, { really }) => really === 0,
  ),
  ...times(
    2,
    command(
      'contradict',
      record({ side, place, session: fc.boolean() }),
      async (model: Model, real: Real, { side, place, session }) => {
        const name = SESSIONS[place] as string;
        const { path } = scopeAt(model, place);
        const field = session ? stateOf(name) : activeOf(scopeAt(model, place));
        const [one, two] = session
          ? [`/v1/sessions/${name}/pause`, `/v1/sessions/${name}/resume`]
          : [`${path}/deactivate`, `${path}/reactivate`];
        const reason = { reason: 'look' };
        await act(model, real, side, { [field]: session ? 'paused' : false }, 'POST', one, reason);
        await act(model, real, other(side), { [field]: session ? 'active' : true }, 'POST', two, {});
      },
    ),
  ),
  command(
    'gateway ends',
    record({ side, how: fc.constantFrom<Ending>('stop', 'kill') }),
    async (model: Model, real: Real, { side, how }) => endGateway(model, real, side, how),
    (model) => model.areBothUp && model.redis === 'there',
  ),
  ...times(
    3,
    command(
      'gateway starts',
      fc.constant(null),
      async (model: Model, real: Real) => startGateways(model, real),
      (model) => !model.areBothUp && model.redis === 'there',
    ),
  ),
  command(
    'Redis goes',
    fc.constantFrom('killed' as const, 'frozen' as const),
    async (model: Model, real: Real, how) => {
      await agree(model, real);
      model.redis = how;
      if (how === 'killed') await redis.kill();
      else redis.freeze();
    },
    (model) => model.redis === 'there',
  ),
  ...times(
    3,
    command(
      'Redis comes',
      fc.constant(null),
      async (model: Model, real: Real) => redisComes(model, real),
      (model) => model.redis !== 'there',
    ),
  ),
  command(
    'Redis is emptied',
    fc.constantFrom('killed' as const, 'there' as const),
    async (model: Model, real: Real, how) => {
      await agree(model, real);
      await connection.client.flushall();
      model.emptiedMs = Date.now();
      if (how === 'killed') {
        model.redis = how;
        await redis.kill();
      } else for (const scope of model.scopes) for (const side of SIDES) scope.lostOf.add(side);
    },
    // Who is away then does not hear what was commanded meanwhile.
    (model) => model.areBothUp && model.redis === 'there',
  ),
];

async function redisComes(model: Model, real: Real): Promise<void> {
  if (model.redis === 'killed') {
    await redis.start();
    // Each connects again, and tells all. One that was frozen may have kept its connections.
    for (const { lostOf } of model.scopes) for (const side of model.up) lostOf.delete(side);
  } else redis.thaw();
  model.redis = 'there';
  for (const side of model.up) {
    await real.isConnected(side);
    await real.hasFailedOpen(side);
  }
  for (const scope of model.scopes)
    for (const one of scope.paid) if (model.gateways[one.via].isUp) one.isDoubted.budget = false;
  await agree(model, real);
}

async function endGateway(model: Model, real: Real, side: Side, how: Ending): Promise<void> {
  await agree(model, real);
  // What ended just before a crash may be missing from the records: all of it stands there.
  await soon(async () => {
    const { items } = await real.look(side, '/v1/calls?limit=500');
    return items.filter(({ cost_usd }: Json) => cost_usd > 0).length;
  }).toBe(model.all.paid.filter(({ via }) => via === side).length);
  const ending = gateways[side][how]();
  model.gateways[side].isUp = false;
  for (const one of model.calls.filter(({ via }) => via === side)) {
    const isAnswered = how === 'stop' && one.at === 'vendor';
    if (isAnswered) real.vendor.end(one.id, 'answer');
    await soon(() => real.outcomes.get(one.id)).toSatisfy((outcome) =>
      isAnswered ? outcome === 'answered' : ![undefined, 'answered'].includes(outcome),
    );
    model.over(one, isAnswered);
    if (how === 'kill') for (const scope of model.scopesOf(one)) scope.ghosts.push(one);
  }
  await ending;
}

async function startGateways(model: Model, real: Real): Promise<void> {
  for (const side of SIDES) {
    if (model.gateways[side].isUp) continue;
    await settle(model, real);
    await startAgain(side);
    real.failures[side] = 0;
    for (const { lostOf } of model.scopes) lostOf.delete(side);
    Object.assign(model.gateways[side], { isUp: true, known: new Map(model.gateways[other(side)].known) });
    // Before any call, and so without waiting for it.
    expect((await shown(model, real, side)).known).toEqual(modelled(model, side).known);
  }
  await agree(model, real);
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  if (model.redis !== 'there') await redisComes(model, real);
  await startGateways(model, real);
  const side = SIDES[model.next() % SIDES.length] as Side;
  await endGateway(model, real, side, how);
  await startGateways(model, real);
}

let redis: RedisServer;
let connection: RedisConnection;
/** Looks at what is counted. */
let observer: RedisRateLimiter;
let upstream: ScriptedUpstream;
let env: Record<string, string>;
const gateways = {} as Record<Side, RunningGateway>;
let run = 0;

async function startAgain(side: Side): Promise<void> {
  const { dataDir, url } = gateways[side];
  gateways[side] = await startGateway({ dataDir, env: { ...env, PORT: new URL(url).port } });
}

/** Whatever a run that failed has left. */
async function bringBack(): Promise<void> {
  redis.thaw();
  if (connection.client.status !== 'ready') {
    await redis.kill();
    await redis.start();
  }
  for (const side of SIDES) {
    const { exitCode, signalCode } = gateways[side].process;
    if (exitCode !== null || signalCode !== null) await startAgain(side);
  }
}

async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const model = new Model();
  const real = new Real(run);
  await bringBack();
  for (const side of SIDES) {
    const made = await real.as(side)('POST', '/v1/agent-keys', { name: 'key', tenant_id: real.tenant });
    expect(made.status).toBe(201);
    real.keys[side] = made.body.secret;
    await real.isConnected(side);
    await real.hasFailedOpen(side);
  }
  for (const { path } of model.agents) await real.as('a')('PATCH', `${path}/kill-switch`, { enabled: false });
  await real.exchange();
  // Both have had a call of each, so that operators find it at both.
  for (const session of SESSIONS)
    for (const side of SIDES) await call(model, real, { side, session, how: 'fail' });
  for (const side of SIDES)
    await soon(async () => (await real.look(side, '/v1/sessions')).items.length).toBe(SESSIONS.length);
  return { model, real };
}

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port), '--appendonly', 'yes', '--appendfsync', 'no']);
    connection = connectRedis(redis.socketPath, { onError: () => {}, reconnectMaxMs: 50 });
    await connection.open();
    observer = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'observer',
      replyTimeoutMs: 5_000,
    });
    upstream = await new ScriptedUpstream().listen();
    env = {
      ...upstreamsAt(upstream.origin),
      REDIS_URL: `redis://127.0.0.1:${port}`,
      // A call that is held is held as long as a run takes.
      HITL_HOLD_MS: '600000',
    };
    for (const side of SIDES) gateways[side] = await startGateway({ env });
  });
  afterAll(async () => {
    await Promise.all(SIDES.map((side) => gateways[side]?.kill()));
    await connection?.quit();
    await redis?.stop();
    await upstream?.close();
  });

  test(
    'what is commanded, used and counted at either is so at both, whichever goes down',
    { timeout: MODEL_TIMEOUT_MS },
    () => runModel(kinds, 1, begin, restart),
  );
});
