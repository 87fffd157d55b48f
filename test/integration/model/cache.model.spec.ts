/**
 * Whoever asks what, and whatever operators do meanwhile: a call is answered from the cache by the latest whole answer to the
 * same request in its own tenant, if there is one that nobody threw out, and costs nothing then; any other comes to its vendor.
 *
 *     gate     held, for its session is paused
 *     behind   waits for an equal call; an operator may hold it there, too
 *     vendor   and to be answered when it is told to
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import {
  ANSWER_TOKENS,
  answerIdOf,
  ChatVendor,
  COST_USD,
  chat,
  ENDS,
  type End,
  HOW,
  MODELS,
} from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { AGENTS, TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

/** Asks for what is not there, to see that all before it has been looked up. */
const PROBE = 'probe';
/** Of both tenants together, so that some give way. */
const ENTRIES_MAX = 6;

/** What makes one request another. */
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
const VARIANTS = {
  plain: {},
  warm: { temperature: 1 },
  cold: { temperature: 0 },
  tool: { tools: [TOOL] },
  forced: { tools: [TOOL], tool_choice: 'required' },
  seed: { seed: 7 },
  /** Kept at the vendor, and then whom it is for as well. */
  stored: { store: true },
  system: { messages: [{ role: 'system', content: 'Be brief.' }] },
  developer: { messages: [{ role: 'developer', content: 'Be brief.' }] },
  talk: { messages: ['user', 'assistant'].map((role) => ({ role, content: 'Hello.' })) },
} satisfies Record<string, Json>;
/** What makes none. */
const IDLE = {
  plain: {},
  tagged: { metadata: { run: '1' } },
  cached: { prompt_cache_key: 'k' },
  usage: { stream_options: { include_usage: true } },
} satisfies Record<string, Json>;

interface Question {
  text: string;
  model: string;
  variant: keyof typeof VARIANTS;
  user: string | null;
  upstream: 'openai' | 'other';
  /** Of no kind that the gateway knows. */
  header: string | null;
}
const keyOf = ({ user, ...rest }: Question) =>
  JSON.stringify({ ...rest, ...(rest.variant === 'stored' && { user: user ?? '' }) });

type Control = 'bypass' | 'refresh' | 'only' | 'no-store' | 'no-cache' | 'sometimes';

interface Asking {
  at: number;
  key: number;
  session: 'a' | 'b' | null;
  question: Question;
  control: Control | null;
  stream: boolean;
  isRetry: boolean;
  idle: keyof typeof IDLE;
  how: End | 'slowly';
}
interface Call extends Asking {
  id: string;
  /** As its client counts, which tries again what it says has failed; zero: the first. */
  attempt: number;
  /** Of its look-up. */
  serial: number;
  agent: Agent;
  place: 'gate' | 'behind' | 'vendor';
  isHeld: boolean;
  wasHeld: boolean;
  /** Null: what it brings is not kept. */
  epoch: number | null;
  leads: Flight | null;
  behind: Flight | null;
  leave: AbortController;
}
interface Flight {
  key: string;
  epoch: number;
  isOpen: boolean;
  /** What it brought; undefined: it is under way. */
  brought?: Entry | null;
}
interface Entry {
  key: string;
  /** Of the call that brought it. */
  id: string;
  end: End;
  agent: string;
  model: string;
  upstream: string;
  costUsd: number;
  hitCount: number;
}
interface Session {
  isKnown: boolean;
  attempt: number;
  state: 'active' | 'paused' | 'terminated';
}

class Agent {
  isStopped = false;
  cache: 'on' | 'exact_only' | 'off' = 'on';
  budgetUsd: number | null = null;
  paidUsd = 0;
  running: Call[] = [];
  records: string[] = [];
  readonly sessions: Record<string, Session> = {
    a: { isKnown: false, attempt: 0, state: 'active' },
    b: { isKnown: false, attempt: 0, state: 'active' },
  };

  constructor(
    readonly tenant: Tenant,
    readonly name: string,
  ) {}
}
const noFigures = () => ({
  exact: 0,
  misses: 0,
  coalesced: 0,
  savedUsd: 0,
  notStored: {} as Record<string, number>,
});

class Tenant {
  /** The least recently used first. */
  readonly entries = new Map<string, Entry>();
  /** By key, the youngest call that has left an answer. */
  readonly kept = new Map<string, number>();
  readonly deleted = new Set<string>();
  flights: Flight[] = [];
  epoch = 0;
  figures = noFigures();
  /** Not kept, or replaced, according to which of several came first. */
  perhapsOutdated = 0;
  readonly audit: string[] = [];

  constructor(readonly name: TenantName) {}
}

class Model {
  readonly tenants = { red: new Tenant('red'), blue: new Tenant('blue') };
  readonly agents = AGENTS.map(({ of, name }) => new Agent(this.tenants[of], name));
  /** What came to the vendor. */
  readonly asked: string[] = [];
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  callsOf(tenant: Tenant): Call[] {
    return this.agents.filter((agent) => agent.tenant === tenant).flatMap(({ running }) => running);
  }

  keep(tenant: Tenant, entry: Entry): void {
    tenant.entries.delete(entry.key);
    const { red, blue } = this.tenants;
    while (red.entries.size + blue.entries.size >= ENTRIES_MAX) {
      const other = tenant === red ? blue : red;
      const { entries } = other.entries.size > tenant.entries.size ? other : tenant;
      entries.delete(entries.keys().next().value as string);
    }
    tenant.entries.set(entry.key, entry);
  }
}

const controlOf = ({ control }: Call) =>
  control === 'no-store' ? 'bypass' : control === 'no-cache' ? 'refresh' : control;

class Real {
  readonly vendor = new ChatVendor();
  /** Of calls that are over, by their ids. */
  readonly outcomes = new Map<string, string>();

  constructor(
    readonly run: number,
    readonly keys: Record<TenantName, string[]>,
  ) {
    upstream.script(this.vendor.script);
  }

  as = (of: TenantName, operator = 'ada'): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, operator, `${of}-${this.run}`);

  url = ({ question, agent }: Call) => `${gateway.url}/agents/${agent.name}/proxy/${question.upstream}`;

  headers(call: Call): Record<string, string> {
    const { control, question } = call;
    const keys = this.keys[call.agent.tenant.name];
    const isGeneral = control?.startsWith('no-') === true;
    return {
      authorization: `Bearer ${keys[call.key % keys.length]}`,
      [HOW]: `${call.how} ${call.id}`,
      ...(call.session !== null && { 'x-observatory-session': sessionNameOf(call) }),
      ...(control !== null && { [isGeneral ? 'cache-control' : 'x-observatory-cache']: control }),
      ...(call.attempt > 0 && { 'x-stainless-retry-count': String(call.attempt) }),
      ...(question.header !== null && { 'x-config': question.header }),
    };
  }

  ask(call: Call): void {
    const { question, stream } = call;
    const { messages = [], ...variant } = VARIANTS[question.variant] as Json;
    const body = {
      model: question.model,
      stream,
      max_tokens: ANSWER_TOKENS,
      ...(question.user !== null && { user: question.user }),
      ...variant,
      ...IDLE[call.idle],
      messages: [...messages, { role: 'user', content: question.text }],
    };
    void chat(this.url(call), this.headers(call), body, call.leave.signal)
      .then(({ headers, text, id }) => {
        const age = headers.get('x-observatory-cache-age');
        const isKept = question.variant === 'stored' && id !== null;
        const told = [headers.get('x-observatory-cache') ?? '-', text, ...(isKept ? [id] : [])];
        if ((age !== null) !== (told[0] === 'exact')) told.push(`of age ${age}`);
        return told.join(' ');
      })
      .catch(() => 'cut')
      .then((told) => this.outcomes.set(call.id, told));
  }

  hasCome = ({ id }: Call) => this.vendor.asked.some((one) => one.id === id);
}

const sessionNameOf = ({ agent, session }: Call) => `${agent.name}-${session}`;
const sessionOf = ({ agent, session }: Pick<Call, 'agent' | 'session'>): Session | undefined =>
  session === null ? undefined : agent.sessions[session];

const wordsOf = (id: string, end: End): string =>
  ({
    answer: `stop To ${id}.`,
    call: `tool_calls "To ${id}."`,
    length: `length To ${id}.`,
    empty: 'stop ',
    break: '',
    fail: 'overloaded',
  })[end];

/** What is shown of a tenant. */
async function shown(model: Model, real: Real, tenant: Tenant): Promise<Json> {
  const look = async (path: string) => (await real.as(tenant.name)('GET', path)).body;
  const agents = model.agents.filter((agent) => agent.tenant === tenant);
  const [figures, entries, held, audit] = await Promise.all(
    ['/v1/cache/stats', '/v1/cache/entries?limit=500', '/v1/held-calls', '/v1/audit?limit=500'].map(look),
  );
  const views = await Promise.all(
    agents.map(async ({ name }) => {
      const { running_call_count, policy, spend } = await look(`/v1/agents/${name}`);
      const { items } = await look(`/v1/calls?agent_id=${name}&limit=500`);
      const record = ({ decision, cost_usd, cache }: Json) => recordOf(decision, cost_usd, cache?.saved_usd);
      return {
        // Nobody has seen it yet.
        running: running_call_count ?? 0,
        isStopped: policy?.active === false,
        paidUsd: spend?.month.spent_usd ?? 0,
        records: items.map(record).sort(),
      };
    }),
  );
  return {
    agents: views,
    heldCount: held.items.length,
    exact: figures.exact_hits,
    misses: figures.total_misses,
    coalesced: figures.coalesced,
    savedUsd: figures.saved_usd,
    notStored: figures.not_stored,
    totals: [figures.total_hits, figures.total_entries, figures.total_bytes > 0, figures.semantic_hits],
    entries: entries.items
      .map((entry: Json) =>
        entryLine({
          ...entry,
          agent: entry.agent_id,
          costUsd: entry.cost_usd,
          hitCount: entry.hit_count,
        } as never),
      )
      .sort(),
    audit: audit.items
      .filter(({ action, outcome }: Json) => action === 'invalidate_cache' && outcome === 'ok')
      .map(({ operator_id, detail }: Json) => `${operator_id} ${detail.pattern} ${detail.count}`)
      .reverse(),
  };
}
const usd = (value: number | null) => (value === null ? 'null' : value.toFixed(3));
const recordOf = (decision: string, costUsd: number | null, savedUsd: number | null = null) =>
  `${decision} ${usd(costUsd ?? 0)} ${savedUsd === null ? '-' : usd(savedUsd)}`;
const entryLine = ({ agent, model, upstream, costUsd, hitCount }: Entry) =>
  `${agent} ${model} ${upstream} ${usd(costUsd)} ${hitCount}`;

function modelled(model: Model, tenant: Tenant): Json {
  const { exact, misses, coalesced, savedUsd, notStored } = tenant.figures;
  const agents = model.agents.filter((agent) => agent.tenant === tenant);
  const count = tenant.entries.size;
  const { outdated = 0 } = notStored;
  return {
    agents: agents.map(({ running, isStopped, paidUsd, records }) => ({
      running: running.length,
      isStopped,
      // As near as what a call is thought to cost that was cut off, so that nobody knows.
      paidUsd: expect.closeTo(paidUsd, 2),
      records: [...records].sort(),
    })),
    heldCount: model.callsOf(tenant).filter(({ isHeld }) => isHeld).length,
    exact,
    misses,
    coalesced,
    savedUsd: expect.closeTo(savedUsd, 6),
    notStored: expect.toSatisfy((given: Record<string, number>) => {
      const { outdated: seen = 0, ...rest } = given;
      const { outdated: _, ...known } = notStored;
      expect(rest).toEqual(known);
      return seen >= outdated && seen <= outdated + tenant.perhapsOutdated;
    }),
    totals: [exact, count, count > 0, 0],
    entries: [...tenant.entries.values()].map(entryLine).sort(),
    audit: tenant.audit,
  };
}

async function agree(model: Model, real: Real, tenant: Tenant): Promise<void> {
  await soon(() => shown(model, real, tenant)).toEqual(modelled(model, tenant));
  expect(real.vendor.asked.map(({ id }) => id).sort()).toEqual([...model.asked].sort());
}

async function agreeInAll(model: Model, real: Real): Promise<void> {
  for (const tenant of Object.values(model.tenants)) await agree(model, real, tenant);
}

const missed = ({ figures }: Tenant) => {
  figures.misses += 1;
};
const notStored = ({ figures }: Tenant, reason: string) => {
  figures.notStored[reason] = (figures.notStored[reason] ?? 0) + 1;
};

/** @param told null: it is of no interest */
async function over(real: Real, call: Call, told: string | null, record: string | null): Promise<void> {
  const outcome = soon(() => real.outcomes.get(call.id));
  // A stream that was held for seconds has begun, and its head says nothing of the cache.
  const withoutHead = call.stream && call.wasHeld ? told?.replace(/^\S+/, '-') : told;
  await (told === null ? outcome.toBeDefined() : outcome.toBeOneOf([told, withoutHead]));
  call.agent.running = call.agent.running.filter((one) => one !== call);
  if (record !== null) call.agent.records.push(record);
}

const heard = (call: Call) => {
  const session = sessionOf(call);
  if (session !== undefined) session.isKnown = true;
};

/** Its session is paused, or it may go on. */
async function pass(model: Model, real: Real, call: Call): Promise<void> {
  if (sessionOf(call)?.state !== 'paused') return lookUp(model, real, call);
  call.place = 'gate';
  call.isHeld = true;
  call.wasHeld = true;
}

async function lookUp(model: Model, real: Real, call: Call): Promise<void> {
  const { tenant, cache } = call.agent;
  const control = controlOf(call);
  const key = keyOf(call.question);
  if (control === 'sometimes') return over(real, call, '- invalid_request', recordOf('refused', 0));
  if (control === 'bypass') return go(model, real, call);
  if (cache === 'off') return control === 'only' ? refuseUncached(real, call) : go(model, real, call);
  if (control !== 'refresh') {
    const entry = tenant.entries.get(key);
    if (entry !== undefined) {
      entry.hitCount += 1;
      tenant.entries.delete(key);
      tenant.entries.set(key, entry);
      if (!tenant.deleted.has(entry.id)) return hit(real, call, entry);
    }
  }
  call.epoch = tenant.epoch;
  call.serial = model.next();
  if (control === 'refresh') return miss(model, real, call);
  const flight = tenant.flights.find((one) => one.isOpen && one.key === key && one.epoch === tenant.epoch);
  if (flight !== undefined && call.attempt === 0) {
    call.place = 'behind';
    call.behind = flight;
    return;
  }
  if (flight === undefined && control !== 'only') {
    call.leads = { key, epoch: tenant.epoch, isOpen: true };
    tenant.flights.push(call.leads);
  }
  return miss(model, real, call);
}

const refuseUncached = (real: Real, call: Call) =>
  over(real, call, 'miss cache_miss', recordOf('refused', 0));

async function hit(real: Real, call: Call, { id, end, costUsd }: Entry): Promise<void> {
  const { figures } = call.agent.tenant;
  figures.exact += 1;
  figures.savedUsd += costUsd;
  heard(call);
  const kept = call.question.variant === 'stored' ? ` ${answerIdOf(id)}` : '';
  await over(real, call, `exact ${wordsOf(id, end)}${kept}`, recordOf('cached', 0, costUsd));
}

async function miss(model: Model, real: Real, call: Call): Promise<void> {
  missed(call.agent.tenant);
  return controlOf(call) === 'only' ? refuseUncached(real, call) : go(model, real, call);
}

async function go(model: Model, real: Real, call: Call): Promise<void> {
  await soon(() => real.hasCome(call)).toBe(true);
  model.asked.push(call.id);
  call.place = 'vendor';
  call.isHeld = false;
  if (call.how !== 'slowly') await end(model, real, call, call.how);
}

const wasLookedUp = ({ epoch }: Call) => epoch !== null;
const missHeader = (call: Call) => (wasLookedUp(call) ? 'miss' : '-');

/** At its vendor. */
async function end(model: Model, real: Real, call: Call, how: End): Promise<void> {
  const { tenant } = call.agent;
  const { model: name, variant, upstream: from } = call.question;
  const costUsd = how === 'fail' || how === 'break' ? 0 : (COST_USD[name] as number);
  const kept = variant === 'stored' && how !== 'fail' ? ` ${answerIdOf(call.id)}` : '';
  call.agent.paidUsd += costUsd;
  if (how !== 'fail' && how !== 'break') heard(call);
  const told = how === 'break' ? null : `${missHeader(call)} ${wordsOf(call.id, how)}${kept}`;
  await over(real, call, told, recordOf(how === 'break' ? 'upstream_failed' : 'forwarded', costUsd));
  const entry = {
    key: keyOf(call.question),
    id: call.id,
    end: how,
    agent: call.agent.name,
    model: name,
    upstream: from,
    costUsd,
    hitCount: 0,
  };
  const isWhole = how === 'answer' || how === 'call';
  if (wasLookedUp(call)) {
    if (isWhole) keep(model, call, entry);
    else notStored(tenant, { length: 'length', empty: 'empty', fail: 'failed', break: 'unfinished' }[how]);
  }
  await land(model, real, call, isWhole ? entry : null);
}

function keep(model: Model, call: Call, entry: Entry): void {
  const { tenant } = call.agent;
  const isOlder = call.serial < (tenant.kept.get(entry.key) ?? 0);
  if (isOlder || call.epoch !== tenant.epoch) notStored(tenant, 'outdated');
  else {
    tenant.kept.set(entry.key, call.serial);
    model.keep(tenant, entry);
  }
}

/** Whoever waits for it has its answer, or goes. */
async function land(model: Model, real: Real, call: Call, brought: Entry | null): Promise<void> {
  const flight = call.leads;
  if (flight === null) return;
  const { tenant } = call.agent;
  flight.isOpen = false;
  flight.brought = brought;
  tenant.flights = tenant.flights.filter((one) => one !== flight);
  const waiting = model.callsOf(tenant).filter((one) => one.behind === flight && !one.isHeld);
  await goOn(model, real, waiting);
}

/** All at once; which is the first to end, nobody knows. */
async function goOn(model: Model, real: Real, calls: Call[]): Promise<void> {
  const going = calls.filter((call) => !canHave(call));
  for (const call of calls.sort((one, other) => one.serial - other.serial)) {
    const { tenant } = call.agent;
    const { brought } = call.behind as Flight;
    call.isHeld = false;
    if (brought && canHave(call)) {
      tenant.figures.coalesced += 1;
      await hit(real, call, brought);
    } else await miss(model, real, call);
  }
  const kept = going.filter(({ how }) => how === 'answer' || how === 'call');
  for (const { agent } of kept.slice(1)) agent.tenant.perhapsOutdated += 1;
}
const canHave = ({ agent, behind }: Call) => behind?.brought && !agent.tenant.deleted.has(behind.brought.id);

/** By an operator: what is at the vendor costs as if it had been answered. */
async function cutOff(
  model: Model,
  real: Real,
  tenant: Tenant,
  which: (call: Call) => boolean,
  [code, decision]: [string, string],
): Promise<void> {
  const calls = model.callsOf(tenant).filter(which);
  const isOnly = (call: Call) => call.control === 'only' && call.place === 'behind';
  for (const call of calls.filter(({ place }) => place !== 'vendor'))
    await over(real, call, `${isOnly(call) ? 'miss' : '-'} ${code}`, recordOf(decision, 0));
  for (const call of calls.filter(({ place }) => place === 'vendor')) {
    const costUsd = COST_USD[call.question.model] as number;
    call.agent.paidUsd += costUsd;
    await over(real, call, `${missHeader(call)} ${code}`, recordOf('cut_off', costUsd));
    if (wasLookedUp(call)) notStored(tenant, 'unfinished');
    await land(model, real, call, null);
  }
}

type Asked = Pick<Call, 'agent' | 'question' | 'session'>;

/** What keeps a call from being looked up. */
function reasons({ agent, question, ...call }: Asked): { surely: string[]; perhaps: string[] } {
  const surely: string[] = [];
  const perhaps: string[] = [];
  if (agent.isStopped) surely.push('agent_inactive');
  if (call.session !== null && agent.sessions[call.session]?.state === 'terminated')
    surely.push('call_terminated');
  if (agent.budgetUsd !== null) {
    const running = agent.running.reduce((total, one) => total + (COST_USD[one.question.model] as number), 0);
    const overUsd = agent.paidUsd + running + (COST_USD[question.model] as number) - agent.budgetUsd;
    if (overUsd > 0.002) surely.push('budget_exceeded');
    else if (overUsd > -0.002) perhaps.push('budget_exceeded');
  }
  return { surely, perhaps };
}
/** Behind an operator, or an equal call. */
const mayWait = (call: Asked): boolean =>
  sessionOf(call)?.state === 'paused' ||
  call.agent.tenant.flights.some(({ isOpen, key }) => isOpen && key === keyOf(call.question));
const DECISIONS: Record<string, string> = {
  agent_inactive: 'inactive',
  call_terminated: 'terminated',
  budget_exceeded: 'over_budget',
};

const at = fc.nat({ max: AGENTS.length - 1 });
const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const agentOf = (model: Readonly<Model>, { at }: { at: number }) => model.agents[at] as Agent;
/** Mostly the first. */
const mostly = <T>(first: T, ...others: T[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(first) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const question: fc.Arbitrary<Question> = record({
  text: fc.constantFrom('Which way?', 'which way?'),
  model: mostly<string>(...MODELS),
  variant: mostly<keyof typeof VARIANTS>('plain', ...(Object.keys(VARIANTS) as (keyof typeof VARIANTS)[])),
  user: fc.constantFrom(null, 'ann', 'bob'),
  upstream: mostly<Question['upstream']>('openai', 'other'),
  header: mostly<string | null>(null, 'x'),
});
const asking: fc.Arbitrary<Asking> = record({
  at,
  key: fc.nat({ max: 1 }),
  session: fc.constantFrom('a', 'b', null) as fc.Arbitrary<Asking['session']>,
  question,
  control: mostly<Control | null>(null, 'bypass', 'refresh', 'only', 'no-store', 'no-cache', 'sometimes'),
  stream: fc.boolean(),
  isRetry: mostly(false, true),
  idle: fc.constantFrom(...(Object.keys(IDLE) as (keyof typeof IDLE)[])),
  how: mostly<Asking['how']>('answer', 'slowly', 'slowly', 'slowly', ...ENDS),
});

async function call(model: Model, real: Real, given: Asking): Promise<void> {
  const agent = agentOf(model, given);
  const one: Call = {
    ...given,
    id: `${agent.tenant.name}-${agent.name}-${model.next()}`,
    attempt: 0,
    serial: 0,
    agent,
    place: 'gate',
    isHeld: false,
    wasHeld: false,
    epoch: null,
    leads: null,
    behind: null,
    leave: new AbortController(),
  };
  const session = sessionOf(one);
  if (session !== undefined) {
    session.attempt = given.isRetry ? session.attempt + 1 : 0;
    one.attempt = session.attempt;
  }
  const { surely, perhaps } = reasons(one);
  agent.running.push(one);
  real.ask(one);
  if (surely.length > 0) return refused(real, one, [...surely, ...perhaps]);
  if (perhaps.length > 0) await soon(() => real.outcomes.has(one.id) || real.hasCome(one)).toBe(true);
  const early = real.outcomes.get(one.id);
  if (perhaps.some((code) => early === `- ${code}`)) return refused(real, one, perhaps);
  await pass(model, real, one);
  if (one.place === 'behind') await allLookedUp(model, real, agent);
}

async function refused(real: Real, call: Call, codes: string[]): Promise<void> {
  await soon(() => real.outcomes.get(call.id)).toSatisfy((told) =>
    codes.some((code) => told === `- ${code}`),
  );
  const code = (real.outcomes.get(call.id) as string).slice('- '.length);
  await over(real, call, null, recordOf(DECISIONS[code] as string, 0));
}

/** A call runs before its body is there: whoever has an answer to a later look into the cache has seen it looked up. */
async function allLookedUp(model: Model, real: Real, { tenant, name, running }: Agent): Promise<void> {
  const running_call_count = async () =>
    (await real.as(tenant.name)('GET', `/v1/agents/${name}`)).body.running_call_count;
  await soon(running_call_count).toBe(running.length);
  const messages = [{ role: 'user', content: `${model.next()}?` }];
  const told = await chat(
    `${gateway.url}/agents/${PROBE}/proxy/openai`,
    { authorization: `Bearer ${real.keys[tenant.name][0]}`, 'x-observatory-cache': 'only' },
    { model: MODELS[0], messages },
  );
  expect(told.text).toBe('cache_miss');
  missed(tenant);
}

const kinds = [
  ...times(
    24,
    command(
      'call',
      asking,
      async (model: Model, real: Real, given) => {
        await call(model, real, given);
        await agree(model, real, agentOf(model, given).tenant);
      },
      (model, given) => {
        const agent = agentOf(model, given);
        const asked = { ...given, agent };
        // Of one that waits nobody sees whether its budget has let it.
        if (mayWait(asked) && reasons(asked).perhaps.length > 0) return false;
        // Which of several is looked up first when they are let go, nobody knows.
        return (
          sessionOf(asked)?.state !== 'paused' ||
          agent.running.every(({ session, place }) => session !== given.session || place === 'vendor')
        );
      },
    ),
  ),
  ...times(
    8,
    command(
      'vendor ends',
      record({ at, pick: fc.nat({ max: 3 }), how: mostly<End>('answer', ...ENDS) }),
      async (model: Model, real: Real, { pick, how, ...given }) => {
        const agent = agentOf(model, given);
        const calls = agent.running.filter(({ place }) => place === 'vendor');
        const one = calls[pick % calls.length] as Call;
        real.vendor.end(one.id, how);
        await end(model, real, one, how);
        await agree(model, real, agent.tenant);
      },
      (model, given) => agentOf(model, given).running.some(({ place }) => place === 'vendor'),
    ),
  ),
  ...times(
    2,
    command(
      'leave',
      record({ at, pick: fc.nat({ max: 3 }) }),
      async (model: Model, real: Real, { pick, ...given }) => {
        const agent = agentOf(model, given);
        const one = agent.running[pick % agent.running.length] as Call;
        one.leave.abort();
        const costUsd = one.place === 'vendor' ? (COST_USD[one.question.model] as number) : 0;
        agent.paidUsd += costUsd;
        await over(real, one, 'cut', recordOf('aborted', costUsd));
        if (wasLookedUp(one)) notStored(agent.tenant, 'unfinished');
        if (one.behind !== null) one.behind.isOpen = false;
        await land(model, real, one, null);
        await agree(model, real, agent.tenant);
      },
      (model, given) => agentOf(model, given).running.length > 0,
    ),
  ),
  ...times(
    2,
    command(
      'invalidate',
      record({
        of: fc.constantFrom(...TENANTS),
        operator: fc.constantFrom('ada', 'ben'),
        pattern: fc.constantFrom(
          null,
          '*',
          'agent:one',
          'agent:bo?h',
          'model:gpt-4o',
          'model:gpt-*',
          'upstream:other',
          'x',
        ),
        preview: fc.boolean(),
      }),
      async (model: Model, real: Real, { of, operator, pattern, preview }) => {
        const tenant = model.tenants[of];
        const glob = new RegExp(`^${(pattern ?? '*').replaceAll('?', '.').replaceAll('*', '.*')}$`);
        const matching = [...tenant.entries.values()].filter(({ agent, model, upstream }) =>
          [`agent:${agent}`, `model:${model}`, `upstream:${upstream}`].some((name) => glob.test(name)),
        );
        const answer = await real.as(of, operator)('POST', '/v1/cache/invalidate', {
          preview,
          ...(pattern !== null && { pattern }),
        });
        const count = matching.length;
        expect(answer).toEqual({ status: 200, body: { status: 'ok', count, preview } });
        if (!preview) {
          for (const { key } of matching) tenant.entries.delete(key);
          tenant.epoch += 1;
          tenant.audit.push(`${operator} ${pattern} ${count}`);
        }
        await agreeInAll(model, real);
      },
    ),
  ),
  ...times(
    2,
    command(
      'delete at vendor',
      record({ at, of: fc.nat({ max: AGENTS.length - 1 }), pick: fc.nat({ max: 5 }) }),
      async (model: Model, real: Real, { at, of, pick }) => {
        const { tenant, name } = agentOf(model, { at });
        const entries = [...agentOf(model, { at: of }).tenant.entries.values()];
        const { id } = entries[pick % entries.length] as Entry;
        const response = await fetch(
          `${gateway.url}/agents/${name}/proxy/openai/v1/chat/completions/${answerIdOf(id)}`,
          { method: 'DELETE', headers: { authorization: `Bearer ${real.keys[tenant.name][0]}` } },
        );
        expect(response.status).toBe(200);
        await response.text();
        tenant.deleted.add(id);
        agentOf(model, { at }).records.push(recordOf('forwarded', 0));
        await agree(model, real, tenant);
      },
      (model, { at, of }) => {
        const { isStopped, budgetUsd } = agentOf(model, { at });
        return !isStopped && budgetUsd === null && agentOf(model, { at: of }).tenant.entries.size > 0;
      },
    ),
  ),
  command('stop', record({ at }), async (model: Model, real: Real, given) => {
    const agent = agentOf(model, given);
    await real.as(agent.tenant.name)('POST', `/v1/agents/${agent.name}/deactivate`, { reason: 'enough' });
    agent.isStopped = true;
    await cutOff(model, real, agent.tenant, (one) => one.agent === agent, ['agent_inactive', 'inactive']);
    await agree(model, real, agent.tenant);
  }),
  ...times(
    3,
    command(
      'let run',
      record({ at }),
      async (model: Model, real: Real, given) => {
        const agent = agentOf(model, given);
        await real.as(agent.tenant.name)('POST', `/v1/agents/${agent.name}/reactivate`, {});
        agent.isStopped = false;
        await agree(model, real, agent.tenant);
      },
      (model, given) => agentOf(model, given).isStopped,
    ),
  ),
  command(
    'budget',
    record({ at, calls: fc.option(fc.constantFrom(1, 3, 40), { freq: 2 }) }),
    async (model: Model, real: Real, { calls, ...given }) => {
      const agent = agentOf(model, given);
      const budget = calls === null ? null : (calls + 0.5) * (COST_USD[MODELS[0]] as number);
      const path = `/v1/agents/${agent.name}/policy`;
      await real.as(agent.tenant.name)('PATCH', path, { budget_month_usd: budget });
      agent.budgetUsd = budget;
      await agree(model, real, agent.tenant);
    },
    // Of what was under way nobody promises that it is counted before it is over.
    (model, given) => agentOf(model, given).running.length === 0,
  ),
  command(
    'cache policy',
    record({ at, cache: fc.constantFrom('on', 'exact_only', 'off') as fc.Arbitrary<Agent['cache']> }),
    async (model: Model, real: Real, { cache, ...given }) => {
      const agent = agentOf(model, given);
      await real.as(agent.tenant.name)('PATCH', `/v1/agents/${agent.name}/policy`, { cache });
      agent.cache = cache;
      await agree(model, real, agent.tenant);
    },
  ),
  ...times(
    4,
    command(
      'order',
      record({
        at,
        session: fc.constantFrom('a', 'b'),
        order: mostly('turn', 'terminate'),
      }),
      async (model: Model, real: Real, { session: name, order, ...given }) => {
        const agent = agentOf(model, given);
        const session = agent.sessions[name] as Session;
        const isPaused = session.state === 'paused';
        const verb = order === 'terminate' ? order : isPaused ? 'resume' : 'pause';
        const path = `/v1/sessions/${agent.name}-${name}`;
        await soon(async () => (await real.as(agent.tenant.name)('GET', path)).status).toBe(200);
        const body = verb === 'resume' ? {} : { reason: 'look' };
        expect(await real.as(agent.tenant.name)('POST', `${path}/${verb}`, body)).toMatchObject({
          status: 200,
        });
        session.state = verb === 'terminate' ? 'terminated' : verb === 'pause' ? 'paused' : 'active';
        const calls = agent.running.filter((one) => one.session === name);
        if (verb === 'pause')
          for (const one of calls) {
            one.isHeld = one.place === 'behind';
            one.wasHeld ||= one.isHeld;
          }
        if (verb === 'terminate')
          await cutOff(model, real, agent.tenant, (one) => calls.includes(one), [
            'call_terminated',
            'terminated',
          ]);
        if (verb === 'resume')
          await letGo(
            model,
            real,
            calls.filter(({ isHeld }) => isHeld),
          );
        await agree(model, real, agent.tenant);
      },
      (model, { session: name, ...given }) => {
        const agent = agentOf(model, given);
        const { isKnown, state } = agent.sessions[name] as Session;
        const waiting = agent.running.filter(({ session, place }) => session === name && place !== 'vendor');
        return isKnown && state !== 'terminated' && waiting.length < 2;
      },
    ),
  ),
];

/** What was thrown out during the pause of a call that waits for it is not given to it. */
async function letGo(model: Model, real: Real, calls: Call[]): Promise<void> {
  for (const one of calls) {
    const { tenant } = one.agent;
    one.isHeld = false;
    if (one.place === 'gate') await lookUp(model, real, one);
    else {
      if (one.epoch !== tenant.epoch) {
        one.behind = { ...(one.behind as Flight), brought: null };
        one.epoch = tenant.epoch;
      }
      await goOn(model, real, [one]);
    }
    if (one.place === 'behind' && one.agent.running.includes(one)) await allLookedUp(model, real, one.agent);
  }
}

/** In memory nothing outlives the gateway. */
async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  await agreeInAll(model, real);
  const ending = gateway[how]();
  for (const tenant of Object.values(model.tenants)) {
    for (const one of model.callsOf(tenant).filter(({ place }) => place === 'vendor'))
      if (how === 'stop') {
        real.vendor.end(one.id, 'answer');
        await end(model, real, one, 'answer');
      } else await over(real, one, 'cut', null);
    for (const one of model.callsOf(tenant))
      await over(real, one, null, how === 'stop' ? recordOf('hold_expired', 0) : null);
    tenant.entries.clear();
    tenant.deleted.clear();
    tenant.flights = [];
    tenant.figures = noFigures();
    tenant.perhapsOutdated = 0;
  }
  await ending;
  await startAgain();
  await agreeInAll(model, real);
}

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  OBSERVATORY_UPSTREAM_OTHER_URL: `${origin}/v1`,
  OBSERVATORY_UPSTREAM_OTHER_KEY: 'sk-scripted',
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'off',
  LLM_CACHE_MAX_ENTRIES: String(ENTRIES_MAX),
}));
let run = 0;
async function begin(): Promise<{ model: Model; real: Real }> {
  const keys = {} as Record<TenantName, string[]>;
  for (const of of TENANTS) {
    // A run that failed has left what it had.
    const earlier = operatorAt(gateway.url, OPERATOR_TOKEN, 'ada', `${of}-${run}`);
    if (run > 0) await earlier('POST', '/v1/cache/invalidate', {});
  }
  run += 1;
  const real = new Real(run, keys);
  for (const of of TENANTS) {
    const make = async () => {
      const { status, body } = await real.as(of)('POST', '/v1/agent-keys', {
        name: 'key',
        tenant_id: `${of}-${run}`,
      });
      expect(status).toBe(201);
      return body.secret as string;
    };
    keys[of] = [await make(), await make()];
  }
  for (const { of, name } of AGENTS)
    await real.as(of)('PATCH', `/v1/agents/${name}/kill-switch`, { enabled: false });
  return { model: new Model(), real };
}

test(
  'whoever asks, and whatever is thrown out, stopped and let go: an answer is that of an equal call, and else its vendor’s',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 3, begin, restart),
);
