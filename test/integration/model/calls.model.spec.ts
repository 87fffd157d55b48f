/**
 * Whatever operators set, stop and let run, and however often the gateway goes down: a call comes to the vendor if all that
 * is set lets it, and is refused for something that holds it otherwise; what was spent is what the vendor was paid. One that an
 * operator's pause holds goes on by what is set when it is let go, and pays for nothing if it does not.
 *
 * A call that was under way when a budget or cap was set counts once it is over. Of a minute's requests from before their limit
 * nobody promises it. So what was used is known from below and from above, and only between the two a call may go either way.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { ask, ChatVendor, COST_USD, MODELS, USD_PER_MILLION } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { AGENTS, TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

/** Whom a bound key is for. */
const BOUND_TO = 'both';
const COMMON_KEY = 'sk-scripted';
/** An upstream that a tenant has of its own, or not. */
const OWN = 'own';
type Upstream = 'openai' | typeof OWN;

interface Call {
  serial: number;
  id: string;
  session: string;
  key: Key;
  model: string;
  upstream: Upstream;
  /** Of its tenant's own upstream when it came. */
  address: string | undefined;
  /** As its tenant's prices are, or were when it ended. */
  costUsd: number;
  atMs: number;
  /** Limits that were set while it was under way. */
  missedBy: Set<string>;
  how: Asking['how'];
  /** Its session is paused; and what refused unknown costs when it came. */
  isHeld: boolean;
  refusedUnknown: Scope[];
  leave: AbortController;
}
interface Key {
  id: string;
  secret: string;
  isBound: boolean;
  isRevoked: boolean;
}
type Limits = Partial<
  Record<'budget_month_usd' | 'requests_per_minute' | 'session_calls_max', number | null>
> & {
  allowed_models?: readonly string[] | null;
  unknown_cost?: 'pass' | 'refuse';
};

/** One agent, or all of a tenant's together. */
class Scope {
  stoppedBy: 'operator' | 'kill_switch' | null = null;
  limits: Limits = {};
  /** By name, since when it is counted without a gap. */
  since: Record<string, number> = {};
  /** What the vendor was, or will be, paid for. */
  paid: Call[] = [];
  running: Call[] = [];
  /** Sessions. */
  readonly known = new Set<string>();
  readonly paused = new Set<string>();

  constructor(
    readonly path: string,
    readonly tenant: Tenant | null,
    readonly of: TenantName,
    readonly name: string,
  ) {}
}
type Tenant = Scope & {
  keys: Key[];
  /** So many times what models cost; of one that is not there the price is not known. */
  prices: Record<string, number>;
  /** Its own upstream, with a key of its vendor or without. */
  own: { key: string | null; address: string } | null;
};

class Model {
  readonly tenants: Record<TenantName, Tenant>;
  readonly agents: Scope[];
  /** What came to the vendor. */
  readonly asked: string[] = [];
  #serial = 0;

  constructor(keys: Record<TenantName, Key[]>) {
    const tenant = (of: TenantName): Tenant =>
      Object.assign(new Scope('/v1/all-agents', null, of, 'all'), {
        keys: keys[of],
        prices: Object.fromEntries(MODELS.map((model) => [model, 1])),
        own: null,
      });
    this.tenants = { red: tenant('red'), blue: tenant('blue') };
    this.agents = AGENTS.map(({ of, name }) => new Scope(`/v1/agents/${name}`, this.tenants[of], of, name));
  }

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }
}

const usdOf = (calls: Call[]) => calls.reduce((total, { costUsd }) => total + costUsd, 0);
/** Null: nobody knows. */
const costUsdOf = ({ prices }: Tenant, model: string): number | null =>
  prices[model] === undefined ? null : (COST_USD[model] as number) * prices[model];

/** What keeps a call from its vendor: `surely`, and what may. */
function reasons(agent: Scope, call: Call): { surely: string[]; perhaps: string[] } {
  const tenant = agent.tenant as Tenant;
  const { model } = call;
  const surely: string[] = [];
  const perhaps: string[] = [];
  if (call.key.isRevoked) return { surely: ['unauthorized'], perhaps };
  if (call.key.isBound && agent.name !== BOUND_TO) return { surely: ['forbidden'], perhaps };
  if (call.upstream === OWN && tenant.own === null) return { surely: ['upstream_not_found'], perhaps };
  if (call.upstream === OWN && tenant.own?.key === null) return { surely: ['unauthorized'], perhaps };
  for (const scope of [agent, tenant]) {
    if (scope.stoppedBy !== null) surely.push('agent_inactive');
    const { allowed_models, session_calls_max, requests_per_minute, budget_month_usd, unknown_cost } =
      scope.limits;
    if (allowed_models && !allowed_models.includes(model)) surely.push('model_not_allowed');
    if (unknown_cost === 'refuse' && costUsdOf(tenant, model) === null) surely.push('cost_unknown');
    const limit = (
      name: string,
      code: string,
      max: number | null | undefined,
      used: (calls: Call[]) => number,
    ) => {
      if (max === null || max === undefined) return;
      const since = scope.since[name] ?? 0;
      const isSure = ({ serial, atMs, missedBy }: Call) => {
        if (name !== 'requests_per_minute') return true;
        return !missedBy.has(`${scope.path} ${name}`) && serial > since && Date.now() - atMs < 50_000;
      };
      const most = [...scope.paid, ...scope.running];
      const least = [...scope.paid.filter(isSure), ...scope.running.filter(({ serial }) => serial > since)];
      if (used(least) > max) surely.push(code);
      else if (used(most) > max) perhaps.push(code);
    };
    const count = (calls: Call[]) => calls.length + 1;
    limit('session_calls_max', 'session_capped', session_calls_max, (calls) =>
      count(calls.filter(({ session }) => session === call.session)),
    );
    limit('requests_per_minute', 'rate_limited', requests_per_minute, count);
    limit('budget_month_usd', 'budget_exceeded', budget_month_usd, (calls) => usdOf([...calls, call]));
  }
  return { surely, perhaps };
}

/** What keeps a call that was held from going on: what was set meanwhile; what it had taken stays taken. */
function reasonsToStay(agent: Scope, call: Call): { surely: string[]; perhaps: string[] } {
  const { own } = agent.tenant as Tenant;
  const surely: string[] = [];
  const perhaps: string[] = [];
  if (call.upstream === OWN) {
    if (own === null) surely.push('upstream_not_found');
    else if (own.address !== call.address) surely.push('upstream_changed');
    else if (own.key === null) surely.push('unauthorized');
  }
  const isUnknown = costUsdOf(agent.tenant as Tenant, call.model) === null;
  for (const scope of both(agent)) {
    const { allowed_models, unknown_cost } = scope.limits;
    if (allowed_models && !allowed_models.includes(call.model)) surely.push('model_not_allowed');
    // Of a price that went while it was held nobody promises that it is looked up again.
    if (unknown_cost === 'refuse' && isUnknown)
      (call.refusedUnknown.includes(scope) ? perhaps : surely).push('cost_unknown');
  }
  return { surely, perhaps };
}

class Real {
  readonly vendor = new ChatVendor();
  /** Of calls that are over, by their ids. */
  readonly outcomes = new Map<string, string>();
  /** Whether a tenant's own upstream is at its other address. */
  readonly isMoved: Record<TenantName, boolean> = { red: false, blue: false };

  constructor(readonly run: number) {
    upstream.script(this.vendor.script);
  }

  as = (of: TenantName): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, 'ada', `${of}-${this.run}`);

  vendorUrl = (of: TenantName) =>
    `${this.isMoved[of] ? upstream.origin.replace('127.0.0.1', 'localhost') : upstream.origin}/v1`;

  async makeKey(of: TenantName, isBound: boolean): Promise<Key> {
    const { status, body } = await this.as(of)('POST', '/v1/agent-keys', {
      name: 'key',
      tenant_id: `${of}-${this.run}`,
      ...(isBound && { agent_ids: [BOUND_TO] }),
    });
    expect(status).toBe(201);
    return { id: body.key.key_id, secret: body.secret, isBound, isRevoked: false };
  }

  /** @returns the table as it is then, or null where another was faster */
  async setPrices(of: TenantName, version: number, prices: Record<string, number>): Promise<Json | null> {
    const models = Object.entries(prices).map(([model, times]) => {
      const [input, output] = USD_PER_MILLION[model] as [number, number];
      return {
        model,
        input_usd: input * times,
        output_usd: output * times,
        cached_input_usd: null,
        cache_write_usd: null,
      };
    });
    const { status, body } = await this.as(of)('PUT', '/v1/prices', { version, models });
    if (status === 409) expect(body.reason).toBe('version_conflict');
    else expect(status).toBe(200);
    return status === 200 ? body : null;
  }

  ask({ name }: Scope, { id, key, session, model, upstream, how, leave }: Call) {
    const ways = { stream: how === 'stream', fails: how === 'fail', slowly: how === 'slowly' };
    const question = { id, model, upstream, ...ways, signal: leave.signal };
    const headers = { authorization: `Bearer ${key.secret}`, 'x-observatory-session': session };
    const outcome = ask(`${gateway.url}/agents/${name}`, headers, question);
    void outcome.then((told) => this.outcomes.set(id, told));
    return outcome;
  }

  hasCome = ({ id }: Call) => this.vendor.asked.some((one) => one.id === id);

  async heldCount({ of, name }: Scope): Promise<number> {
    const { items } = (await this.as(of)('GET', '/v1/held-calls')).body;
    return items.filter(({ agent_id }: Json) => agent_id === name).length;
  }
}

/** What people are shown of a tenant, and what came to the vendor. */
async function agree(model: Model, real: Real, of: TenantName): Promise<void> {
  const scopes = [...model.agents, ...Object.values(model.tenants)].filter((scope) => scope.of === of);
  const view = async ({ path }: Scope): Promise<Json> => {
    const { body } = await real.as(of)('GET', path);
    // Nobody has seen it yet.
    if (body.reason === 'agent_not_found') return { active: true, by: null, spent: 0 };
    const { active, deactivated_by: by } = body.policy;
    return { active, by, spent: body.spend.month.spent_usd };
  };
  const expected = scopes.map(({ stoppedBy, paid }) => ({
    active: stoppedBy === null,
    by: stoppedBy === 'operator' ? 'ada' : stoppedBy,
    // As near as what a call is thought to cost that was cut off, so that nobody knows.
    spent: expect.closeTo(usdOf(paid), 3),
  }));
  await soon(() => Promise.all(scopes.map(view))).toEqual(expected);
  for (const agent of model.agents.filter((one) => one.of === of))
    await soon(() => real.heldCount(agent)).toBe(heldOf(agent).length);
  expect(real.vendor.asked.map(({ id }) => id).sort()).toEqual([...model.asked].sort());
  const { items } = (await real.as(of)('GET', '/v1/upstreams')).body;
  const { own } = model.tenants[of];
  expect(items.flatMap(({ name, key }: Json) => (name === OWN ? [key] : []))).toEqual(
    own ? [own.key === null ? 'caller' : 'ours'] : [],
  );
}

async function agreeInAll(model: Model, real: Real): Promise<void> {
  for (const of of TENANTS) await agree(model, real, of);
}

const both = (agent: Scope) => [agent, agent.tenant as Tenant];
const heldOf = ({ running }: Scope) => running.filter(({ isHeld }) => isHeld);
const atVendor = ({ running }: Scope) => running.filter(({ isHeld }) => !isHeld);
function over(agent: Scope, call: Call, isPaid: boolean): void {
  call.costUsd = costUsdOf(agent.tenant as Tenant, call.model) ?? 0;
  for (const scope of both(agent)) {
    scope.running = scope.running.filter((one) => one !== call);
    if (isPaid) scope.paid.push(call);
  }
}

/** Ended by an operator, or a kill switch: paid for, as if it had been answered, where it had come to the vendor. */
async function cutOff(
  model: Model,
  real: Real,
  of: TenantName,
  which: (call: Call, agent: Scope) => boolean,
  code: string,
) {
  for (const agent of model.agents.filter((one) => one.of === of))
    for (const call of agent.running.filter((one) => which(one, agent))) {
      await soon(() => real.outcomes.get(call.id)).toBe(code);
      over(agent, call, !call.isHeld);
    }
}

interface Asking {
  at: number;
  key: number;
  model: string;
  upstream: Upstream;
  session: string;
  how: 'answer' | 'stream' | 'fail' | 'slowly';
}

function newCall(model: Model, asking: Asking): Call {
  const agent = model.agents[asking.at] as Scope;
  const { keys } = agent.tenant as Tenant;
  const serial = model.next();
  return {
    serial,
    id: `${agent.of}-${agent.name}-${serial}`,
    session: `${agent.name}-${asking.session}`,
    key: keys[asking.key % keys.length] as Key,
    model: asking.model,
    upstream: asking.upstream,
    address: (agent.tenant as Tenant).own?.address,
    costUsd: costUsdOf(agent.tenant as Tenant, asking.model) ?? 0,
    atMs: Date.now(),
    missedBy: new Set(),
    how: asking.how,
    isHeld: false,
    refusedUnknown: both(agent).filter(({ limits }) => limits.unknown_cost === 'refuse'),
    leave: new AbortController(),
  };
}

const OUTCOMES = { answer: 'answered', stream: 'answered', fail: 'overloaded', slowly: 'running' };

/** @returns what came of it */
async function call(model: Model, real: Real, given: Asking): Promise<string> {
  const agent = model.agents[given.at] as Scope;
  const one = newCall(model, given);
  const why = reasons(agent, one);
  void real.ask(agent, one);
  if (agent.paused.has(one.session) && why.surely.length === 0) {
    const heldCount = heldOf(agent).length + 1;
    await soon(async () => real.outcomes.has(one.id) || (await real.heldCount(agent)) === heldCount).toBe(
      true,
    );
    one.isHeld = !real.outcomes.has(one.id);
  }
  if (one.isHeld) for (const scope of both(agent)) scope.running.push(one);
  return one.isHeld ? 'held' : arrive(model, real, agent, one, why);
}

/** It comes to its vendor, unless there is a reason why not. */
async function arrive(
  model: Model,
  real: Real,
  agent: Scope,
  one: Call,
  { surely, perhaps }: { surely: string[]; perhaps: string[] },
): Promise<string> {
  const isSlow = one.how === 'slowly';
  await soon(() => real.outcomes.has(one.id) || (isSlow && real.hasCome(one))).toBe(true);
  const outcome = real.outcomes.get(one.id) ?? 'running';
  if (surely.length > 0) expect([...surely, ...perhaps]).toContain(outcome);
  else if (perhaps.length > 0)
    expect([...perhaps, 'answered', 'overloaded', 'running', 'killed']).toContain(outcome);
  else expect(outcome).toBe(OUTCOMES[one.how]);
  for (const scope of both(agent)) scope.running = scope.running.filter((running) => running !== one);
  one.isHeld = false;
  const came = real.vendor.asked.find(({ id }) => id === one.id);
  if (came !== undefined) {
    model.asked.push(one.id);
    expect(came.key).toBe(one.upstream === OWN ? (agent.tenant as Tenant).own?.key : COMMON_KEY);
    for (const scope of both(agent)) scope.running.push(one);
    if (outcome === 'answered') agent.known.add(one.session);
    if (outcome !== 'running') over(agent, one, outcome === 'answered');
  }
  return outcome;
}

const at = fc.nat({ max: AGENTS.length - 1 });
const record: typeof fc.record = (model: any, constraints: any = {}) =>
  fc.record(model, { ...constraints, noNullPrototype: true }) as any;
const place: fc.Arbitrary<Place> = fc.oneof(record({ at }), record({ of: fc.constantFrom(...TENANTS) }));
/** Of an agent, or of all of a tenant's. */
type Place = { at?: number; of?: TenantName };
const scopeOf = (model: Readonly<Model>, given: Place): Scope =>
  given.of === undefined ? (model.agents[given.at as number] as Scope) : model.tenants[given.of];
/** Of none. */
const often = { freq: 2 };
const limits: fc.Arbitrary<Limits> = fc
  .record(
    {
      budget_month_usd: fc.option(
        fc.constantFrom(1, 3, 6, 20).map((calls) => (calls + 0.25) * (COST_USD['gpt-4o-mini'] as number)),
        often,
      ),
      requests_per_minute: fc.option(fc.constantFrom(2, 4, 10), often),
      session_calls_max: fc.option(fc.constantFrom(2, 4, 10), often),
      allowed_models: fc.option(fc.constantFrom([MODELS[0]], [MODELS[1]], [...MODELS]), often),
      unknown_cost: fc.constantFrom('pass' as const, 'refuse' as const),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .filter((patch) => Object.keys(patch).length > 0);

const prices = record(Object.fromEntries(MODELS.map((model) => [model, fc.constantFrom(1, 0.5)])), {
  requiredKeys: [],
}) as fc.Arbitrary<Record<string, number>>;

/** A session that is paused is resumed, and any other paused. */
async function turn(model: Model, real: Real, agent: Scope, session: string): Promise<void> {
  const path = `/v1/sessions/${session}`;
  const isPaused = agent.paused.has(session);
  await soon(async () => (await real.as(agent.of)('GET', path)).status).toBe(200);
  const answer = isPaused
    ? await real.as(agent.of)('POST', `${path}/resume`, {})
    : await real.as(agent.of)('POST', `${path}/pause`, { reason: 'look' });
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
  if (isPaused) agent.paused.delete(session);
  else agent.paused.add(session);
  if (isPaused)
    for (const one of heldOf(agent).filter((one) => one.session === session))
      await arrive(model, real, agent, one, reasonsToStay(agent, one));
}

const edit = fc.constantFrom('key', 'key', 'again', 'no key', 'move', 'remove');
/** Of a tenant's own upstream. */
async function editOwn(model: Model, real: Real, of: TenantName, does: string): Promise<void> {
  const tenant = model.tenants[of];
  const path = `/v1/upstreams/${OWN}`;
  if (does === 'remove') {
    const { status } = await real.as(of)('DELETE', path);
    expect(status).toBe(tenant.own === null ? 404 : 204);
    tenant.own = null;
  } else if (does === 'again') {
    const { status } = await real.as(of)('PUT', path, {});
    expect(status).toBe(tenant.own === null ? 404 : 200);
  } else {
    // Of another origin, which no key follows to.
    real.isMoved[of] = real.isMoved[of] !== (does === 'move');
    const key = `sk-${model.next()}`;
    const { status } = await real.as(of)('PUT', path, {
      base_url: real.vendorUrl(of),
      ...(does === 'key' && { api_key: key }),
      ...(does === 'no key' && { api_key: null }),
    });
    expect(status).toBe(200);
    tenant.own = { key: does === 'key' ? key : null, address: real.vendorUrl(of) };
  }
}

const kinds = [
  ...times(
    14,
    command(
      'call',
      record({
        at,
        key: fc.nat({ max: 3 }),
        model: fc.constantFrom(MODELS[0], ...MODELS),
        upstream: fc.constantFrom<Upstream>('openai', OWN),
        session: fc.constantFrom('a', 'b'),
        how: fc.constantFrom('answer', 'stream', 'fail', 'slowly') as fc.Arbitrary<Asking['how']>,
      }),
      async (model: Model, real: Real, given) => {
        await call(model, real, given);
        await agree(model, real, scopeOf(model, given).of);
      },
    ),
  ),
  ...times(
    5,
    command(
      'vendor ends',
      record({ at, how: fc.constantFrom('answer' as const, 'fail' as const) }),
      async (model: Model, real: Real, { at, how }) => {
        const agent = scopeOf(model, { at });
        const one = atVendor(agent)[0] as Call;
        real.vendor.end(one.id, how);
        await soon(() => real.outcomes.get(one.id)).toBe(how === 'answer' ? 'answered' : 'overloaded');
        if (how === 'answer') agent.known.add(one.session);
        over(agent, one, how === 'answer');
        await agree(model, real, agent.of);
      },
      (model, { at }) => atVendor(scopeOf(model, { at })).length > 0,
    ),
  ),
  ...times(
    3,
    command(
      'pause or resume',
      record({ at, session: fc.constantFrom('a', 'b') }),
      async (model: Model, real: Real, { at, session }) => {
        const agent = scopeOf(model, { at });
        await turn(model, real, agent, `${agent.name}-${session}`);
        await agree(model, real, agent.of);
      },
      // An answer was a step of it.
      (model, { at, session }) => {
        const agent = scopeOf(model, { at });
        return agent.known.has(`${agent.name}-${session}`);
      },
    ),
  ),
  ...times(
    2,
    command(
      'edit what is held',
      record({ at, session: fc.constantFrom('a', 'b'), key: fc.nat({ max: 3 }), does: edit }),
      async (model: Model, real: Real, { does, ...given }) => {
        const agent = scopeOf(model, given);
        const session = `${agent.name}-${given.session}`;
        if (!agent.paused.has(session)) await turn(model, real, agent, session);
        await call(model, real, { ...given, model: MODELS[0], upstream: OWN, how: 'answer' });
        await editOwn(model, real, agent.of, does);
        await turn(model, real, agent, session);
        await agree(model, real, agent.of);
      },
      (model, given) => {
        const agent = scopeOf(model, given);
        return agent.known.has(`${agent.name}-${given.session}`) && agent.tenant?.own != null;
      },
    ),
  ),
  ...times(
    2,
    command(
      'leave',
      record({ at, pick: fc.nat({ max: 5 }) }),
      async (model: Model, real: Real, { at, pick }) => {
        const agent = scopeOf(model, { at });
        const one = agent.running[pick % agent.running.length] as Call;
        one.leave.abort();
        await soon(() => real.outcomes.get(one.id)).toBe('cut');
        // Who hangs up on a vendor at work pays for the whole answer.
        over(agent, one, !one.isHeld);
        await agree(model, real, agent.of);
      },
      (model, { at }) => scopeOf(model, { at }).running.length > 0,
    ),
  ),
  command('stop', place, async (model: Model, real: Real, given) => {
    const scope = scopeOf(model, given);
    const answer = await real.as(scope.of)('POST', `${scope.path}/deactivate`, { reason: 'enough' });
    const note = scope.stoppedBy === 'operator' ? { note: 'already_inactive' } : {};
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok', ...note } });
    // Who stopped it first stays on record.
    scope.stoppedBy ??= 'operator';
    await cutOff(
      model,
      real,
      scope.of,
      (_, agent) => scope.tenant === null || agent === scope,
      'agent_inactive',
    );
    await agree(model, real, scope.of);
  }),
  ...times(
    4,
    command('let run', place, async (model: Model, real: Real, given) => {
      const scope = scopeOf(model, given);
      const answer = await real.as(scope.of)('POST', `${scope.path}/reactivate`, {});
      const note = scope.stoppedBy === null ? { note: 'already_active' } : {};
      expect(answer).toMatchObject({ status: 200, body: { status: 'ok', ...note } });
      scope.stoppedBy = null;
      await agree(model, real, scope.of);
    }),
  ),
  ...times(
    5,
    command(
      'limit',
      fc.tuple(place, limits),
      async (model: Model, real: Real, [given, patch]) => {
        const scope = scopeOf(model, given);
        const answer = await real.as(scope.of)('PATCH', `${scope.path}/policy`, patch);
        expect(answer).toMatchObject({ status: 200, body: patch });
        for (const name of Object.keys(patch) as (keyof Limits)[])
          if (scope.limits[name] === undefined || scope.limits[name] === null) {
            scope.since[name] = model.next();
            for (const one of scope.running) one.missedBy.add(`${scope.path} ${name}`);
          }
        Object.assign(scope.limits, patch);
        await agree(model, real, scope.of);
      },
      // A cap of a session is an agent's.
      (_, [given, patch]) => given.of === undefined || !('session_calls_max' in patch),
    ),
  ),
  ...times(
    2,
    command(
      'prices',
      record({ of: fc.constantFrom(...TENANTS), given: fc.tuple(prices, prices), isRace: fc.boolean() }),
      async (model: Model, real: Real, { of, given, isRace }) => {
        const { version } = (await real.as(of)('GET', '/v1/prices')).body;
        const asked = given.slice(0, isRace ? 2 : 1);
        const answers = await Promise.all(asked.map((one) => real.setPrices(of, version, one)));
        const tenant = model.tenants[of];
        // What changes nothing is no change, but for the first table of its own.
        const isSame = (one: object) => version > 0 && JSON.stringify(one) === JSON.stringify(tenant.prices);
        const changes = asked.filter((_, at) => answers[at]?.version === version + 1);
        expect(changes).toHaveLength(asked.every(isSame) ? 0 : 1);
        for (const [at, one] of asked.entries())
          if (!changes.includes(one))
            expect(answers[at]?.version ?? 'conflict').toBe(
              isSame(one) && answers[at] ? version : 'conflict',
            );
        tenant.prices = changes[0] ?? tenant.prices;
        await agree(model, real, of);
      },
    ),
  ),
  ...times(
    2,
    command(
      'own upstream',
      record({
        of: fc.constantFrom(...TENANTS),
        does: edit,
      }),
      async (model: Model, real: Real, { of, does }) => {
        await editOwn(model, real, of, does);
        await agree(model, real, of);
      },
    ),
  ),
  command(
    'make key',
    record({ of: fc.constantFrom(...TENANTS), isBound: fc.boolean() }),
    async (model: Model, real: Real, { of, isBound }) => {
      model.tenants[of].keys.push(await real.makeKey(of, isBound));
    },
  ),
  command(
    'revoke key',
    record({ of: fc.constantFrom(...TENANTS), index: fc.nat({ max: 3 }) }),
    async (model: Model, real: Real, { of, index }) => {
      const { keys } = model.tenants[of];
      const key = keys[index % keys.length] as Key;
      const { status } = await real.as(of)('DELETE', `/v1/agent-keys/${key.id}`);
      expect(status).toBe(200);
      key.isRevoked = true;
      await cutOff(model, real, of, (call) => call.key === key, 'unauthorized');
      await agree(model, real, of);
    },
  ),
  command(
    'repeat until killed',
    record({ at, key: fc.nat({ max: 3 }) }),
    async (model: Model, real: Real, { at, key }) => {
      const agent = scopeOf(model, { at });
      const session = `again-${model.next()}`;
      const watch = (enabled: boolean) =>
        real.as(agent.of)('PATCH', `${agent.path}/kill-switch`, { enabled });
      await watch(true);
      const again: Asking = { at, key, session, model: MODELS[0], upstream: 'openai', how: 'answer' };
      let answered = 0;
      while (answered < 5 && (await call(model, real, again)) === 'answered') answered += 1;
      if (answered === 5) await lastOf(model, real, again);
      await watch(false);
      await agree(model, real, agent.of);
    },
  ),
];

/** The sixth time that an agent asks the same and gets the same. */
async function lastOf(model: Model, real: Real, again: Asking): Promise<void> {
  const agent = scopeOf(model, again);
  const one = { ...newCall(model, again), id: `${agent.of}-${agent.name}-0` };
  const { surely, perhaps } = reasons(agent, one);
  const outcome = await real.ask(agent, one);
  expect(surely.length > 0 ? surely.concat(perhaps) : [...perhaps, 'killed']).toContain(outcome);
  if (outcome !== 'killed') return;
  agent.stoppedBy = 'kill_switch';
  await cutOff(model, real, agent.of, (call, of) => of === agent && call.isHeld, 'agent_inactive');
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  // What ended just before a crash may be missing from the records: all of it stands there.
  for (const agent of model.agents)
    await soon(async () => {
      const { items } = (await real.as(agent.of)('GET', `/v1/calls?agent_id=${agent.name}&limit=500`)).body;
      return items.filter(({ cost_usd }: Json) => cost_usd !== 0).length;
    }).toBe(agent.paid.length);
  const ending = gateway[how]();
  for (const agent of model.agents)
    for (const one of agent.running) {
      const isAnswered = how === 'stop' && !one.isHeld;
      if (isAnswered) real.vendor.end(one.id, 'answer');
      await soon(() => real.outcomes.get(one.id)).toBe(
        isAnswered ? 'answered' : how === 'stop' ? 'hold_expired' : 'cut',
      );
      over(agent, one, isAnswered);
    }
  await ending;
  await startAgain();
  for (const scope of [...model.agents, ...Object.values(model.tenants)])
    scope.since.requests_per_minute = model.next();
  await agreeInAll(model, real);
}

// A call that is held is held as long as a run takes.
startOneGateway((origin) => ({ ...upstreamsAt(origin), HITL_HOLD_MS: '600000' }));
let run = 0;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const real = new Real(run);
  const keys = {} as Record<TenantName, Key[]>;
  for (const of of TENANTS) keys[of] = [await real.makeKey(of, false), await real.makeKey(of, true)];
  for (const { of, name } of AGENTS)
    await real.as(of)('PATCH', `/v1/agents/${name}/kill-switch`, { enabled: false });
  return { model: new Model(keys), real };
}

test(
  'whatever is set, stopped and let run: a call comes to its vendor if it may, and what was spent is what was paid',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 6, begin, restart),
);
