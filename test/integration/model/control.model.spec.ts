/**
 * Whatever order agents and operators act in, and however often the gateway goes down: who is stopped stays stopped, what
 * was held is published in order, and guidance reaches the model of its session once.
 *
 *     a word of guidance     told   an answer to a step carried it; it is in each answer until the agent's next step
 *                            passed that next step came: it is for the model, or a poll
 *                            taken  by a poll that names it: gone, though a crash may bring it back
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { ask, ChatVendor } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';

type Json = Record<string, any>;
const AGENT = 'bot';
const OPERATORS = ['ada', 'ben'] as const;

/** The second of `red` has the name of `blue`'s only one. */
const PLACES = [
  { tenant: 'red', name: 'one' },
  { tenant: 'red', name: 'both' },
  { tenant: 'blue', name: 'both' },
] as const;
const TENANTS = ['red', 'blue'] as const;
type Tenant = (typeof TENANTS)[number];

interface Step {
  trace: string;
  isHeld: boolean;
  /** In its `tool_input`. */
  amount: number;
}
interface Word {
  seq: number;
  text: string;
  stage: 'new' | 'told' | 'passed' | 'taken';
}
interface Call {
  id: string;
  slowly: boolean;
  at: 'gate' | 'vendor';
  /** That went with it, and are the model's once it answers. */
  words: string[];
}
class Session {
  state: 'unknown' | 'active' | 'pause_requested' | 'paused' | 'terminated' = 'unknown';
  steps: Step[] = [];
  words: Word[] = [];
  calls: Call[] = [];
  /** What came to the vendor, and which words, in order. */
  asked: string[] = [];
  said: string[] = [];
  wasProxied = false;
  /** Of its latest directive, its latest pause, the latest that its agent knows of, and that of its latest poll. */
  seq = 0;
  pauseSeq = 0;
  heardSeq = 0;
  cursor = 0;

  constructor(
    readonly tenant: Tenant,
    readonly name: string,
  ) {}

  get isPaused(): boolean {
    return this.state === 'pause_requested' || this.state === 'paused';
  }
  get agentState(): string {
    return this.isPaused ? 'paused' : this.state;
  }
  /** For the model. */
  get waiting(): string[] {
    const underWay = this.calls.flatMap(({ words }) => words);
    return this.words
      .filter(({ stage }) => stage !== 'taken')
      .map(({ text }) => text)
      .filter((text) => !underWay.includes(text));
  }
}
class Model {
  readonly sessions = PLACES.map(({ tenant, name }) => new Session(tenant, name));
  /** Operator, act, session and outcome. */
  readonly audit: Record<Tenant, string[]> = { red: [], blue: [] };
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }
}

interface Order {
  name: 'pause' | 'resume' | 'inject' | 'rewrite' | 'terminate';
  /** Of the step to rewrite, among the latest. */
  pick: number;
}

/** What a command does, and how it is answered. */
function obey(model: Model, s: Session, operator: string, { name }: Order, body: Json): Json {
  const done = (outcome: string, status = 200): Json => {
    if (s.state !== 'unknown') model.audit[s.tenant].push(`${operator} ${name} ${s.name} ${outcome}`);
    const reply =
      status === 200 ? { status: 'ok', ...(outcome !== 'ok' && { note: outcome }) } : { reason: outcome };
    return { status, body: reply };
  };
  const letGo = (): number => {
    const held = s.steps.filter(({ isHeld }) => isHeld);
    for (const step of held) step.isHeld = false;
    return held.length;
  };
  if (s.state === 'unknown') return done('session_not_found', 404);
  if (s.state === 'terminated')
    return name === 'terminate' ? done('already_terminated') : done('session_terminated', 409);
  if (name === 'pause' && s.isPaused) return done('already_paused');
  if (name === 'resume' && !s.isPaused) return done('not_paused');
  if (name === 'rewrite') {
    const step = s.steps.find(({ trace, isHeld }) => isHeld && trace === body.trace_id);
    if (step === undefined) return done('held_message_not_found', 404);
    step.amount = body.new_content.amount;
  }
  s.seq += 1;
  if (name === 'inject') s.words.push({ seq: s.seq, text: body.prompt, stage: 'new' });
  if (name === 'pause') s.pauseSeq = s.seq;
  const answer = done('ok');
  if (name === 'resume') {
    const count = letGo();
    // Of calls whose agent is not known to report its own, the gateway makes steps, too.
    answer.body.flushed_count = expect.toSatisfy((flushed: number) => flushed >= count);
  }
  if (name === 'terminate') {
    letGo();
    s.words = [];
  }
  if (name === 'pause') s.state = 'pause_requested';
  if (name === 'resume') s.state = 'active';
  if (name === 'terminate') s.state = 'terminated';
  return answer;
}

/** The agent stands still, and said so. */
function acknowledge(model: Model, s: Session): void {
  if (s.state !== 'pause_requested') return;
  s.state = 'paused';
  model.audit[s.tenant].push(`system hitl.acknowledge ${s.name} ok`);
}

class Real {
  readonly vendor = new ChatVendor();
  /** Of calls that are over, by their ids. */
  readonly outcomes = new Map<string, string>();
  readonly bodies = new Map<string, object>();

  constructor(
    readonly run: number,
    readonly keys: Record<Tenant, string>,
  ) {
    upstream.script(this.vendor.script);
  }

  tenant = (name: Tenant) => `${name}-${this.run}`;

  as(tenant: Tenant, operator: string): RunningGateway['operator'] {
    return operatorAt(gateway.url, OPERATOR_TOKEN, operator, this.tenant(tenant));
  }

  order({ tenant, name }: Session, operator: string, order: Order, body: object) {
    return this.as(tenant, operator)('POST', `/v1/sessions/${name}/${order.name}`, body);
  }

  async agent({ tenant }: Session, path: string, body?: object): Promise<Json> {
    const response = await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${this.keys[tenant]}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as Json;
  }

  begin({ tenant, name }: Session, id: string, how: { stream: boolean; slowly: boolean }): void {
    const headers = { authorization: `Bearer ${this.keys[tenant]}`, 'x-observatory-session': name };
    void ask(`${gateway.url}/agents/${AGENT}`, headers, { id, ...how }).then((outcome) =>
      this.outcomes.set(id, outcome),
    );
  }
}

const wordsIn = (text: string): string[] => text.match(/word-\w+/g) ?? [];
const guidanceIn = (directives: Json[]): string[] =>
  directives.filter(({ type }) => type === 'inject').map(({ prompt }) => prompt);

/** What people are shown of a session, and of its tenant. */
async function shown(real: Real, { tenant, name }: Session): Promise<Json> {
  const look = async (path: string) => (await real.as(tenant, 'ada')('GET', path)).body;
  const [{ control }, { items: steps }, { directives }, held, audit] = await Promise.all([
    look(`/v1/sessions/${name}`),
    look(`/v1/sessions/${name}/decision-logs?limit=500`),
    look(`/v1/sessions/${name}/control?after=0`),
    look(`/v1/held-calls?session_id=${name}`),
    look('/v1/audit?limit=500'),
  ]);
  const asked = real.vendor.asked.filter(({ id }) => id.startsWith(`${tenant}-${name}-`));
  return {
    state: control?.state ?? 'unknown',
    // Not those that the gateway makes of calls.
    steps: (steps ?? [])
      .filter(({ meta }: Json) => meta.trace_id.startsWith('step-'))
      .map(
        ({ meta, gateway, action }: Json) => `${meta.trace_id} ${gateway.held} ${action.tool_input.amount}`,
      ),
    words: guidanceIn(directives),
    heldCount: held.items.length,
    asked: asked.map(({ id }) => id).sort(),
    said: asked.flatMap(({ text }) => wordsIn(text)),
    audit: audit.items
      .filter(({ session_id }: Json) => session_id !== null)
      .map(
        ({ operator_id, action, session_id, outcome }: Json) =>
          `${operator_id} ${action} ${session_id} ${outcome}`,
      )
      .reverse(),
  };
}

const modelled = (model: Model, s: Session): Json => ({
  state: s.state,
  steps: s.steps.map(({ trace, isHeld, amount }) => `${trace} ${isHeld} ${amount}`),
  words: s.words.filter(({ stage }) => stage !== 'taken').map(({ text }) => text),
  heldCount: s.calls.filter(({ at }) => at === 'gate').length,
  asked: [...s.asked].sort(),
  said: s.said,
  audit: model.audit[s.tenant],
});

const agree = (model: Model, real: Real, s: Session) =>
  soon(() => shown(real, s)).toEqual(modelled(model, s));

async function agreeInAll(model: Model, real: Real): Promise<void> {
  for (const s of model.sessions) await agree(model, real, s);
  for (const tenant of TENANTS) {
    const names = model.sessions
      .filter((s) => s.tenant === tenant && s.state !== 'unknown')
      .map(({ name }) => name);
    const { items } = (await real.as(tenant, 'ada')('GET', '/v1/sessions')).body;
    expect(items.map(({ session_id }: Json) => session_id).sort()).toEqual(names.sort());
    expect((await real.as(tenant, 'ada')('GET', '/v1/audit/verify')).body.ok).toBe(true);
  }
}

/** Calls that were let through are at the vendor; of several, any takes the words. */
async function arrive(s: Session, real: Real, calls: Call[]): Promise<void> {
  const words = s.waiting;
  const said: string[] = [];
  for (const call of calls) await soon(() => real.vendor.asked.some(({ id }) => id === call.id)).toBe(true);
  for (const { id, text } of real.vendor.asked) {
    const call = calls.find((one) => one.id === id);
    if (call === undefined) continue;
    Object.assign(call, { at: 'vendor', words: wordsIn(text) });
    said.push(...call.words);
    s.asked.push(id);
  }
  if (calls.length > 0) expect(said).toEqual(words);
  s.said.push(...said);
  for (const call of calls) if (!call.slowly) await end(s, real, call, 'answered');
}

async function end(s: Session, real: Real, call: Call, outcome: string): Promise<void> {
  await soon(() => real.outcomes.get(call.id)).toBe(outcome);
  s.calls = s.calls.filter((one) => one !== call);
  if (outcome === 'answered') s.words = s.words.filter(({ text }) => !call.words.includes(text));
}

/** What a command means for calls that are under way. */
async function afterOrder(s: Session, real: Real): Promise<void> {
  if (s.state === 'terminated') for (const call of s.calls) await end(s, real, call, 'call_terminated');
  if (s.state === 'active')
    await arrive(
      s,
      real,
      s.calls.filter(({ at }) => at === 'gate'),
    );
}

function bodyOf(model: Model, s: Session, { name, pick }: Order): Json {
  if (name === 'inject') return { prompt: `word-${s.tenant}${s.name}${model.next()}` };
  if (name === 'rewrite')
    return {
      trace_id: s.steps.at(-1 - pick)?.trace ?? 'step-none',
      new_content: { amount: model.next() },
    };
  return name === 'resume' ? {} : { reason: 'look' };
}

const at = fc.nat({ max: PLACES.length - 1 });
const who = fc.constantFrom(...OPERATORS);
/** A session that has ended has little more to show. */
const orderName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('pause' as const, 'resume' as const) },
  { weight: 4, arbitrary: fc.constant('inject' as const) },
  { weight: 2, arbitrary: fc.constant('rewrite' as const) },
  { weight: 1, arbitrary: fc.constant('terminate' as const) },
);
const order: fc.Arbitrary<Order> = fc.record(
  { name: orderName, pick: fc.nat({ max: 2 }) },
  { noNullPrototype: true },
);
const sessionOf = (model: Readonly<Model>, index: number) => model.sessions[index] as Session;
type Given<Args> = Args & { at: number };

/** On one session, which is what it should be afterwards. */
const act = <Args extends { at: number }>(
  name: string,
  args: { [Name in keyof Omit<Args, 'at'>]: fc.Arbitrary<Args[Name]> },
  run: (model: Model, real: Real, s: Session, args: Args) => Promise<void>,
  check: (s: Session) => boolean = (s) => s.state !== 'unknown',
) =>
  command(
    name,
    fc.record({ at, ...args } as { [Name in keyof Args]: fc.Arbitrary<Args[Name]> }, {
      noNullPrototype: true,
    }),
    async (model: Model, real: Real, given) => {
      const s = sessionOf(model, given.at);
      await run(model, real, s, given);
      await agree(model, real, s);
    },
    (model, { at }) => check(sessionOf(model, at)),
  );

const kinds = [
  ...times(
    6,
    act(
      'step',
      { asksForPerson: fc.nat({ max: 4 }).map((one) => one === 0), again: fc.option(fc.nat({ max: 3 })) },
      postStep,
      () => true,
    ),
  ),
  ...times(8, act('call', { stream: fc.boolean(), slowly: fc.boolean() }, call)),
  ...times(
    3,
    act('vendor ends', { how: fc.constantFrom('answer', 'answer', 'fail') }, vendorEnds, (s) =>
      s.calls.some((one) => one.at === 'vendor'),
    ),
  ),
  ...times(2, act('poll', {}, poll)),
  ...times(2, act('confirm', {}, confirm)),
  ...times(
    12,
    act('order', { who, order }, oneOrder, () => true),
  ),
  ...times(
    4,
    act(
      'two orders',
      { first: order, second: order },
      twoOrders,
      (s) => s.state !== 'unknown' && s.calls.every(({ at }) => at === 'vendor'),
    ),
  ),
];

async function postStep(
  model: Model,
  real: Real,
  s: Session,
  given: Given<{ asksForPerson: boolean; again: number | null }>,
): Promise<void> {
  const earlier = given.again === null ? undefined : s.steps.at(-1 - given.again);
  const trace = earlier?.trace ?? `step-${model.next()}`;
  const log =
    real.bodies.get(trace) ??
    buildDecisionLog({
      meta: { trace_id: trace, session_id: s.name },
      identity: { agent_id: AGENT },
      action: { tool_input: { amount: 0 } },
      control: { hitl_required: given.asksForPerson },
    } as never);
  real.bodies.set(trace, log);
  const { control } = await real.agent(s, '/v1/decision-logs', log);
  if (earlier === undefined) {
    if (s.state === 'unknown') s.state = 'active';
    if (given.asksForPerson && s.state === 'active') obey(model, s, 'system', { name: 'pause', pick: 0 }, {});
    s.steps.push({ trace, isHeld: s.isPaused, amount: 0 });
    for (const word of s.words) {
      if (word.stage === 'told') word.stage = 'passed';
      if (word.stage === 'new') word.stage = 'told';
    }
  }
  const told = s.words.filter(({ stage }) => stage === 'new' || stage === 'told').map(({ text }) => text);
  expect({ state: control.state, words: guidanceIn(control.directives) }).toEqual({
    state: s.agentState,
    words: s.state === 'terminated' ? [] : told,
  });
  s.heardSeq = Math.max(s.heardSeq, ...control.directives.map(({ seq }: Json) => seq));
}

async function call(
  model: Model,
  real: Real,
  s: Session,
  { at, ...how }: Given<{ stream: boolean; slowly: boolean }>,
): Promise<void> {
  const one: Call = {
    id: `${s.tenant}-${s.name}-${model.next()}`,
    slowly: how.slowly,
    at: 'gate',
    words: [],
  };
  real.begin(s, one.id, how);
  s.wasProxied = true;
  if (s.state === 'terminated') return end(s, real, one, 'call_terminated');
  s.calls.push(one);
  if (s.isPaused) acknowledge(model, s);
  else await arrive(s, real, [one]);
}

async function vendorEnds(
  _: Model,
  real: Real,
  s: Session,
  { how }: Given<{ how: 'answer' | 'fail' }>,
): Promise<void> {
  const one = s.calls.find((call) => call.at === 'vendor') as Call;
  real.vendor.end(one.id, how);
  await end(s, real, one, how === 'answer' ? 'answered' : 'overloaded');
}

async function poll(model: Model, real: Real, s: Session): Promise<void> {
  const answer = await real.agent(s, `/v1/sessions/${s.name}/control?after=${s.cursor}`);
  for (const word of s.words) if (word.seq <= s.cursor) word.stage = 'taken';
  const words = s.words.filter(({ stage }) => stage !== 'taken').map(({ text }) => text);
  expect({ ...answer, directives: guidanceIn(answer.directives) }).toEqual({
    session_id: s.name,
    state: s.agentState,
    cursor: s.seq,
    directives: words,
  });
  acknowledge(model, s);
  s.cursor = s.seq;
  s.heardSeq = s.seq;
}

async function confirm(model: Model, real: Real, s: Session): Promise<void> {
  await real.agent(s, `/v1/sessions/${s.name}/control/ack`, { seq: s.heardSeq });
  s.words = s.words.filter(({ seq }) => seq > s.heardSeq);
  if (s.heardSeq >= s.pauseSeq) acknowledge(model, s);
}

async function oneOrder(
  model: Model,
  real: Real,
  s: Session,
  { who, order }: Given<{ who: string; order: Order }>,
): Promise<void> {
  const body = bodyOf(model, s, order);
  const answer = await real.order(s, who, order, body);
  expect(answer).toMatchObject(obey(model, s, who, order, body));
  await afterOrder(s, real);
}

/** Which of them came first, the audit says. */
async function twoOrders(
  model: Model,
  real: Real,
  s: Session,
  { first, second }: Given<{ first: Order; second: Order }>,
): Promise<void> {
  const orders = [first, second].map((order, index) => ({
    order,
    who: OPERATORS[index] as string,
    body: bodyOf(model, s, order),
  }));
  const answers = await Promise.all(orders.map(({ order, who, body }) => real.order(s, who, order, body)));
  const { items } = (await real.as(s.tenant, 'ada')('GET', `/v1/audit?limit=1&session_id=${s.name}`)).body;
  const sequence = items[0].operator_id === OPERATORS[0] ? [1, 0] : [0, 1];
  for (const index of sequence) {
    const { order, who, body } = orders[index] as (typeof orders)[number];
    expect(answers[index]).toMatchObject(obey(model, s, who, order, body));
  }
  await afterOrder(s, real);
}

/** Nobody is told of a crash: calls end with it, and what was under way is as if it had not been. */
async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  const ending = gateway[how]();
  const calls = model.sessions.flatMap((s) => s.calls.map((one) => ({ s, one })));
  for (const { s, one } of calls) {
    const isAnswered = how === 'stop' && one.at === 'vendor';
    if (isAnswered) {
      real.vendor.end(one.id, 'answer');
      await end(s, real, one, 'answered');
    } else
      await soon(() => real.outcomes.get(one.id)).toSatisfy(
        (outcome) => ![undefined, 'answered'].includes(outcome),
      );
  }
  await ending;
  await startAgain();
  for (const s of model.sessions.filter(({ state }) => state !== 'unknown' && state !== 'terminated')) {
    s.calls = [];
    const { body } = await real.as(s.tenant, 'ada')('GET', `/v1/sessions/${s.name}/control?after=0`);
    const told = guidanceIn(body.directives);
    const isLeft = ({ stage, text }: Word) =>
      stage === 'new' || stage === 'told' || (stage === 'passed' && s.wasProxied) || told.includes(text);
    s.words = s.words.filter(isLeft).map((word) => ({ ...word, stage: 'new' }));
  }
  await agreeInAll(model, real);
}

startOneGateway(upstreamsAt);
let run = 0;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const key = async (tenant: Tenant) => {
    const { status, body } = await gateway.operator('POST', '/v1/agent-keys', {
      name: 'key',
      tenant_id: `${tenant}-${run}`,
    });
    expect(status).toBe(201);
    await operatorAt(
      gateway.url,
      OPERATOR_TOKEN,
      'ada',
      `${tenant}-${run}`,
    )('PATCH', `/v1/agents/${AGENT}/kill-switch`, { enabled: false });
    return body.secret as string;
  };
  return { model: new Model(), real: new Real(run, { red: await key('red'), blue: await key('blue') }) };
}

test(
  'whoever acts on a session, and whenever: what is shown, held, said and written is what was commanded',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 6, begin, restart),
);
