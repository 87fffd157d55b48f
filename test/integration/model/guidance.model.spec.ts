/**
 * Whatever operators say to sessions, in whichever wire API those ask, and however calls and gateways end: each word of theirs
 * comes to a model of its session, in order and in calls of which one is heard, or is shown as waiting; what such a call
 * brings is nobody else's answer.
 *
 *     gate     held, for its session is paused
 *     behind   waits for an equal call; an operator may hold it there, too
 *     vendor   and to be answered when it is told to
 */
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { io, type Socket } from 'socket.io-client';
import { expect, test } from 'vitest';
import { buildDecisionLog, respondJson, type UpstreamCall } from '#testing';
import { type AskOptions, geminiInteractions, VENDORS, type Vendor } from '../proxy/vendors.js';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { chat, HOW } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

const AGENT = 'bot';
/** Asks for what is not there, to see that all before it has been looked up. */
const PROBE = 'probe';
const OPERATORS = ['ada', 'ben'] as const;
const WORDS_MAX = 12;

/** A session of `red` has the name of `blue`'s only one. */
const PLACES = [
  { of: 'red', name: 'one' },
  { of: 'red', name: 'both' },
  { of: 'blue', name: 'both' },
] as const;

async function ask(
  url: string,
  path: string,
  { headers = {}, signal }: AskOptions,
  body: object,
): Promise<Json> {
  const response = await fetch(`${url}/agents/${AGENT}/proxy/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const answer = (await response.json()) as Json;
  if (!response.ok) throw Object.assign(new Error(), { status: response.status });
  return answer;
}
/** Requests that have no place for words. */
const embeddings: Vendor = {
  ...(VENDORS[0] as Vendor),
  async ask(url, input, options = {}) {
    const { model } = await ask(url, 'openai/v1/embeddings', options, {
      model: 'text-embedding-3-small',
      input,
    });
    return { text: model, toolCalls: [] };
  },
  answer: (_, response, { text }) => respondJson(response, 200, { model: text, data: [] }),
  textOf: (json) => JSON.stringify(json),
};
const cachedContent: Vendor = {
  ...geminiInteractions,
  async ask(url, input, options = {}) {
    const body = { model: 'gemini-2.5-flash', input, cached_content: 'cachedContents/1' };
    const { steps } = await ask(url, 'gemini/v1beta/interactions', options, body);
    return { text: steps[0].content[0].text, toolCalls: [] };
  },
};
const SPEECHLESS = [embeddings, cachedContent];
const ALL = [...VENDORS, ...SPEECHLESS];

interface Word {
  text: string;
  /** Since when: an answer to a step carried it, and a further step came. */
  stage: 'new' | 'told' | 'passed';
}
interface Asking {
  at: number;
  vendor: Vendor;
  stream: boolean;
  /** Null: asked once. */
  question: string | null;
  slowly: boolean;
}
interface Call extends Asking {
  id: string;
  s: Session;
  place: 'gate' | 'behind' | 'vendor';
  isHeld: boolean;
  hasBegun: boolean;
  words: string[];
  /** Of its look-up; zero: there was none. */
  serial: number;
  leads: Flight | null;
  behind: Flight | null;
}
interface Flight {
  key: string;
  /** The call that brought an answer; undefined: it is under way. */
  brought?: string | null;
}

class Tenant {
  /** The call whose answer is kept, and when it was looked up. */
  readonly kept = new Map<string, { id: string; serial: number }>();
  flights: Flight[] = [];
  readonly audit: string[] = [];

  constructor(readonly name: TenantName) {}
}
class Session {
  state: 'active' | 'paused' | 'terminated' = 'active';
  words: Word[] = [];
  calls: Call[] = [];
  decisions: string[] = ['forwarded'];
  /** What came to a vendor: the call, and the words in it. */
  asked: string[] = [];

  constructor(
    readonly tenant: Tenant,
    readonly name: string,
  ) {}

  /** For the model. */
  get waiting(): string[] {
    const underWay = this.calls.flatMap(({ words }) => words);
    return this.words.map(({ text }) => text).filter((text) => !underWay.includes(text));
  }
}
class Model {
  readonly tenants = { red: new Tenant('red'), blue: new Tenant('blue') };
  readonly sessions = PLACES.map(({ of, name }) => new Session(this.tenants[of], name));
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  callsOf(tenant: Tenant): Call[] {
    return this.sessions.filter((s) => s.tenant === tenant).flatMap(({ calls }) => calls);
  }
}
const keyOf = ({ vendor, question }: Asking) => `${vendor.name} ${question}`;
const canCarry = ({ vendor }: Asking) => !SPEECHLESS.includes(vendor);
const wordsIn = (text: string): string[] => text.match(/word-\w+/g) ?? [];
const injected = (directives: Json[]): string[] =>
  directives.filter(({ type }) => type === 'inject').map(({ prompt }) => prompt);

/** What the topics of sessions have told. */
class LiveSessions {
  readonly #sockets: Socket[] = [];
  readonly seen = new Map<string, { control: Json; words: string[]; audit: Json[] }>();

  watch(url: string, tenantOf: (of: TenantName) => string): void {
    this.stop();
    this.seen.clear();
    for (const { of, name } of PLACES) {
      const auth = { token: OPERATOR_TOKEN, tenant_id: tenantOf(of) };
      const socket = io(`${url}/live`, {
        auth,
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
      });
      const key = `${of} ${name}`;
      const on = (change: (now: Json) => Json) =>
        this.seen.set(key, {
          ...this.seen.get(key),
          ...change(this.seen.get(key) ?? { audit: [] }),
        } as never);
      socket.on('frame', ({ events }) => {
        for (const { payload } of events as Json[]) {
          if (payload.kind === 'control')
            on(() => ({ control: payload.control, words: injected(payload.directives) }));
          if (payload.kind === 'audit') on(({ audit }) => ({ audit: [...audit, payload.entry] }));
          if (payload.kind === 'session') on(() => ({ control: payload.session.control }));
        }
      });
      socket.emit('subscribe', { topic: `session:${name}` }, ({ snapshot }: Json) =>
        on(({ audit }) => ({
          control: snapshot.session.control,
          words: injected(snapshot.directives),
          audit: [...snapshot.audit, ...audit],
        })),
      );
      this.#sockets.push(socket);
    }
  }

  stop(): void {
    for (const socket of this.#sockets.splice(0)) socket.close();
  }
}

type End = 'answer' | 'fail' | 'break';

class Real {
  readonly live = new LiveSessions();
  readonly outcomes = new Map<string, string>();
  readonly begun = new Set<string>();
  readonly leave = new Map<string, AbortController>();
  readonly asked: { id: string; words: string[] }[] = [];
  readonly #calls = new Map<string, Call>();
  readonly #slow = new Map<string, { call: UpstreamCall; response: ServerResponse }>();

  constructor(
    readonly run: number,
    readonly keys: Record<TenantName, string>,
  ) {
    upstream.script((call, response) => {
      const [pace, id] = String(call.headers[HOW]).split(' ') as [string, string];
      const { vendor } = this.#calls.get(id) as Call;
      this.asked.push({ id, words: wordsIn(vendor.textOf(call.json)) });
      this.#slow.set(id, { call, response });
      if (pace === 'answer') return this.end(id, 'answer');
    });
  }

  tenant = (of: TenantName) => `${of}-${this.run}`;

  as = (of: TenantName, operator: string = OPERATORS[0]): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, operator, this.tenant(of));

  ask(call: Call): void {
    const { vendor, stream, id, s, question } = call;
    const leave = new AbortController();
    this.#calls.set(id, call);
    this.leave.set(id, leave);
    const options: AskOptions = {
      agent: AGENT,
      signal: leave.signal,
      headers: {
        'x-observatory-key': this.keys[s.tenant.name],
        'x-observatory-session': s.name,
        [HOW]: `${call.slowly ? 'slowly' : 'answer'} ${id}`,
      },
      onText: () => this.begun.add(id),
    };
    void vendor[stream ? 'askStreaming' : 'ask'](gateway.url, question ?? `Ask ${id}`, options)
      .then(({ text }) => text)
      .catch(({ status, error }) => String(status ?? error?.status ?? 'cut'))
      .then((told) => this.outcomes.set(id, told));
    // Not every SDK tells who has left.
    leave.signal.onabort = () => this.outcomes.set(id, 'cut');
  }

  hasCome = ({ id }: Call) => this.asked.some((one) => one.id === id);

  async begin(id: string): Promise<void> {
    const { call, response } = this.#slow.get(id) as { call: UpstreamCall; response: ServerResponse };
    await this.#calls.get(id)?.vendor.answer(call, response, { text: textOf(id), hangs: true });
  }

  async end(id: string, how: End): Promise<void> {
    const { call, response } = this.#slow.get(id) as { call: UpstreamCall; response: ServerResponse };
    const { vendor, stream, hasBegun } = this.#calls.get(id) as Call;
    if (how === 'fail') return respondJson(response, 500, { error: { message: 'overloaded' } });
    if (how === 'answer') return void vendor.answer(call, response, { text: textOf(id) });
    if (stream && !hasBegun) await this.begin(id);
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      await new Promise<void>((resolve) => response.write('{"half": [', () => resolve()));
    }
    response.socket?.end();
  }
}
const textOf = (id: string) => `To ${id}.`;

async function shown(real: Real, s: Session): Promise<Json> {
  const { tenant, name } = s;
  const look = async (path: string) => (await real.as(tenant.name)('GET', path)).body;
  const [{ control }, all, waiting, held, { items: calls }, audit] = await Promise.all([
    look(`/v1/sessions/${name}`),
    look(`/v1/sessions/${name}/control?after=0`),
    look(`/v1/sessions/${name}/control`),
    look(`/v1/held-calls?session_id=${name}`),
    look(`/v1/calls?session_id=${name}&limit=500`),
    look('/v1/audit?limit=500'),
  ]);
  const live = real.live.seen.get(`${tenant.name} ${name}`);
  const line = ({ operator_id, action, session_id, outcome }: Json) =>
    `${operator_id} ${action} ${session_id} ${outcome}`;
  const byPeople = (items: Json[]) =>
    items.filter(({ operator_id }) => operator_id !== 'system' && operator_id !== 'root');
  return {
    state: control.state === 'pause_requested' ? 'paused' : control.state,
    words: injected(all.directives),
    unread: injected(waiting.directives),
    pending: live?.control.pending_directive_count === control.pending_directive_count,
    held: held.items.length,
    decisions: calls.map(({ decision }: Json) => decision).sort(),
    asked: real.asked
      .filter(({ id }) => id.startsWith(`${tenant.name}-${name}-`))
      .map(({ id, words }) => `${id} ${words}`)
      .sort(),
    audit: byPeople(audit.items)
      .filter(({ session_id }) => session_id !== null)
      .map(line)
      .reverse(),
    live: {
      state: live?.control.state === 'pause_requested' ? 'paused' : live?.control.state,
      words: live?.words,
      audit: byPeople([...new Map(live?.audit.map((entry) => [entry.seq, entry])).values()]).map(line),
    },
  };
}

function modelled(s: Session): Json {
  const unread = s.words.filter(({ stage }) => stage !== 'passed').map(({ text }) => text);
  return {
    state: s.state,
    words: s.words.map(({ text }) => text),
    unread,
    pending: true,
    held: s.calls.filter(({ isHeld }) => isHeld).length,
    decisions: [...s.decisions].sort(),
    asked: [...s.asked].sort(),
    audit: s.tenant.audit,
    live: {
      state: s.state,
      words: s.words.map(({ text }) => text),
      audit: s.tenant.audit.filter((line) => line.split(' ')[2] === s.name),
    },
  };
}

const agree = (real: Real, s: Session) => soon(() => shown(real, s)).toEqual(modelled(s));

async function agreeInAll(model: Model, real: Real): Promise<void> {
  for (const s of model.sessions) await agree(real, s);
  for (const of of TENANTS) expect((await real.as(of)('GET', '/v1/audit/verify')).body.ok).toBe(true);
}

/** @param told null: of no interest, but that it is no answer */
async function over(real: Real, call: Call, told: string | null, decision: string | null): Promise<void> {
  const { s, id } = call;
  if (told !== null) await soon(() => real.outcomes.get(id)).toBe(told);
  else await soon(() => real.outcomes.has(id)).toBe(true);
  s.calls = s.calls.filter((one) => one !== call);
  if (decision !== null) s.decisions.push(decision);
}

/** A stream that was held for seconds has begun, and can be told no status any more. */
const statusOf = ({ stream }: Call, status: string) => (stream ? null : status);

/** Let through by the gate, all at once: of those that can carry words, any does. */
async function letGo(model: Model, real: Real, calls: Call[]): Promise<void> {
  const [s] = calls.map((call) => call.s);
  if (s === undefined) return;
  const words = s.waiting;
  const able = calls.filter(canCarry);
  let carrier: Call | undefined;
  if (words.length > 0 && able.length > 0) {
    const came = () => able.find(({ id }) => real.asked.some((one) => one.id === id && one.words.length > 0));
    await soon(() => came() !== undefined).toBe(true);
    carrier = came() as Call;
    carrier.words = words;
    await go(model, real, carrier);
  }
  for (const call of calls.filter((one) => one !== carrier)) await lookUp(model, real, call);
}

async function lookUp(model: Model, real: Real, call: Call): Promise<void> {
  const { tenant } = call.s;
  call.isHeld = false;
  if (call.question === null) return go(model, real, call);
  // It had been looked up when it was held.
  if (call.behind !== null) return goOn(model, real, call);
  const key = keyOf(call);
  const hit = tenant.kept.get(key);
  if (hit !== undefined) return over(real, call, textOf(hit.id), 'cached');
  call.serial = model.next();
  const flight = tenant.flights.find((one) => one.key === key);
  if (flight !== undefined) {
    call.place = 'behind';
    call.behind = flight;
    return allLookedUp(model, real, tenant);
  }
  call.leads = { key };
  tenant.flights.push(call.leads);
  return go(model, real, call);
}

/** It waits no longer. */
async function goOn(model: Model, real: Real, call: Call): Promise<void> {
  const brought = call.behind?.brought;
  return typeof brought === 'string' ? over(real, call, textOf(brought), 'cached') : go(model, real, call);
}

async function go(model: Model, real: Real, call: Call): Promise<void> {
  await soon(() => real.hasCome(call)).toBe(true);
  call.place = 'vendor';
  call.isHeld = false;
  call.s.asked.push(`${call.id} ${call.words}`);
  if (!call.slowly) await answered(model, real, call);
}

const decisionOf = ({ words }: Call) => (words.length > 0 ? 'hinted' : 'forwarded');
const take = ({ s, words }: Call) => {
  s.words = s.words.filter(({ text }) => !words.includes(text));
};

async function answered(model: Model, real: Real, call: Call): Promise<void> {
  const { id, s, serial } = call;
  await over(real, call, textOf(id), decisionOf(call));
  take(call);
  const isKept = call.words.length === 0 && serial > (s.tenant.kept.get(keyOf(call))?.serial ?? 0);
  if (isKept) s.tenant.kept.set(keyOf(call), { id, serial });
  await land(model, real, call, call.words.length === 0 ? id : null);
}

/** Whoever waits for it has its answer, or goes. */
async function land(model: Model, real: Real, { leads, s }: Call, brought: string | null): Promise<void> {
  if (leads === null) return;
  leads.brought = brought;
  s.tenant.flights = s.tenant.flights.filter((one) => one !== leads);
  const waiting = model
    .callsOf(s.tenant)
    .filter(({ behind, place, isHeld }) => place === 'behind' && behind === leads && !isHeld);
  for (const one of waiting) {
    await letGo(model, real, [one]);
    await agree(real, one.s);
  }
}

/** A call runs before its body is there: whoever has an answer to a later look into the cache has seen it looked up. */
async function allLookedUp(model: Model, real: Real, tenant: Tenant): Promise<void> {
  const running = async () =>
    (await real.as(tenant.name)('GET', `/v1/agents/${AGENT}`)).body.running_call_count;
  await soon(running).toBe(model.callsOf(tenant).length);
  const told = await chat(
    `${gateway.url}/agents/${PROBE}/proxy/openai`,
    { authorization: `Bearer ${real.keys[tenant.name]}`, 'x-observatory-cache': 'only' },
    { model: 'gpt-4o', messages: [{ role: 'user', content: `${model.next()}?` }] },
  );
  expect(told.text).toBe('cache_miss');
}

type OrderName = 'inject' | 'pause' | 'resume' | 'terminate';

const bodyOf = (model: Model, { tenant, name }: Session, order: OrderName): Json => {
  if (order === 'inject') return { prompt: `word-${tenant.name}${name}${model.next()}` };
  return order === 'resume' ? {} : { reason: 'look' };
};

/** What a command does, and how it is answered. */
function obey(
  s: Session,
  operator: string,
  name: OrderName,
  { prompt }: Json,
): { status: number; note?: string } {
  const done = (outcome: string) => {
    s.tenant.audit.push(`${operator} ${name} ${s.name} ${outcome}`);
    return outcome;
  };
  if (s.state === 'terminated') {
    if (name === 'terminate') return { status: 200, note: done('already_terminated') };
    done('session_terminated');
    return { status: 409 };
  }
  if (name === 'pause' && s.state === 'paused') return { status: 200, note: done('already_paused') };
  if (name === 'resume' && s.state === 'active') return { status: 200, note: done('not_paused') };
  done('ok');
  if (name === 'inject') s.words.push({ text: prompt, stage: 'new' });
  if (name === 'pause') s.state = 'paused';
  if (name === 'resume') s.state = 'active';
  if (name === 'terminate') {
    s.state = 'terminated';
    s.words = [];
  }
  return { status: 200 };
}

async function afterOrder(model: Model, real: Real, s: Session): Promise<void> {
  if (s.state === 'terminated') {
    const calls = s.calls;
    for (const call of calls) {
      const isAtVendor = call.place === 'vendor';
      await over(
        real,
        call,
        isAtVendor ? null : statusOf(call, '403'),
        isAtVendor ? 'cut_off' : 'terminated',
      );
    }
    for (const call of calls) await land(model, real, call, null);
  }
  if (s.state === 'paused') for (const call of s.calls) call.isHeld ||= call.place === 'behind';
  if (s.state === 'active')
    await letGo(
      model,
      real,
      s.calls.filter(({ isHeld }) => isHeld),
    );
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const at = fc.nat({ max: PLACES.length - 1 });
const who = fc.constantFrom(...OPERATORS);
const orderName: fc.Arbitrary<OrderName> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('inject' as const) },
  { weight: 5, arbitrary: fc.constant('pause' as const) },
  { weight: 8, arbitrary: fc.constant('resume' as const) },
  { weight: 1, arbitrary: fc.constant('terminate' as const) },
);
const asking: fc.Arbitrary<Asking> = record({
  at,
  vendor: fc
    .constantFrom(...VENDORS, ...ALL)
    .map((vendor) => Object.assign(vendor, { [fc.toStringMethod]: () => vendor.name })),
  stream: fc.boolean(),
  question: fc.constantFrom('Which way?', null),
  slowly: fc.boolean(),
});
const sessionOf = (model: Readonly<Model>, { at }: { at: number }) => model.sessions[at] as Session;
const atVendor = (s: Session) => s.calls.filter(({ place }) => place === 'vendor');
const picked = <One>(all: One[], pick: number) => all[pick % all.length] as One;
const hasRoom = (s: Session) => s.words.length < WORDS_MAX;

function begun(model: Model, given: Asking): Call {
  const s = sessionOf(model, given);
  const isSpeechless = SPEECHLESS.includes(given.vendor);
  const call: Call = {
    ...given,
    ...(isSpeechless && { stream: false, question: null }),
    id: `${s.tenant.name}-${s.name}-${model.next()}`,
    s,
    place: 'gate',
    isHeld: false,
    hasBegun: false,
    words: [],
    serial: 0,
    leads: null,
    behind: null,
  };
  s.calls.push(call);
  return call;
}

const kinds = [
  ...times(
    16,
    command(
      'call',
      asking,
      async (model: Model, real: Real, given) => {
        const call = begun(model, given);
        const { s } = call;
        real.ask(call);
        if (s.state === 'terminated') await over(real, call, '403', 'terminated');
        else if (s.state === 'paused') call.isHeld = true;
        else await letGo(model, real, [call]);
        await agree(real, s);
      },
      // Of several equal ones that wait, any may be the first to go on.
      (model, given) =>
        !model
          .callsOf(sessionOf(model, given).tenant)
          .some((one) => one.place !== 'vendor' && given.question !== null && keyOf(one) === keyOf(given)),
    ),
  ),
  ...times(
    4,
    command(
      'call and order',
      record({ asking, who, name: fc.constantFrom<OrderName>('inject', 'inject', 'pause') }),
      async (model: Model, real: Real, { asking, who, name }) => {
        const call = begun(model, { ...asking, question: null, slowly: true });
        const { s } = call;
        const words = s.waiting;
        real.ask(call);
        const body = bodyOf(model, s, name);
        const { status } = obey(s, who, name, body);
        const answer = await real.as(s.tenant.name, who)('POST', `/v1/sessions/${s.name}/${name}`, body);
        expect(answer.status).toBe(status);
        // Whichever came first.
        const isHeld = async () =>
          (await real.as(s.tenant.name)('GET', `/v1/held-calls?session_id=${s.name}`)).body.items.length > 0;
        await soon(async () => real.hasCome(call) || (await isHeld())).toBe(true);
        const came = real.asked.find(({ id }) => id === call.id);
        if (came === undefined) {
          expect(name).toBe('pause');
          call.isHeld = true;
        } else {
          call.words = came.words;
          const possible = canCarry(call)
            ? [words, ...(name === 'inject' ? [[...words, body.prompt]] : [])]
            : [[]];
          expect(possible).toContainEqual(came.words);
          await go(model, real, call);
        }
        await agree(real, s);
      },
      (model, { asking }) => {
        const s = sessionOf(model, asking);
        return s.state === 'active' && hasRoom(s) && s.calls.every(({ place }) => place === 'vendor');
      },
    ),
  ),
  ...times(
    6,
    command(
      'vendor ends',
      record({
        at,
        pick: fc.nat({ max: 5 }),
        how: fc.constantFrom<End>('answer', 'answer', 'answer', 'fail', 'break'),
      }),
      async (model: Model, real: Real, { pick, how, ...given }) => {
        const s = sessionOf(model, given);
        const call = picked(atVendor(s), pick);
        const end = call.hasBegun ? 'break' : how;
        await real.end(call.id, end);
        if (end === 'answer') await answered(model, real, call);
        else {
          await over(
            real,
            call,
            end === 'fail' ? statusOf(call, '500') : null,
            end === 'fail' ? decisionOf(call) : 'upstream_failed',
          );
          await land(model, real, call, null);
        }
        await agree(real, s);
      },
      (model, given) => atVendor(sessionOf(model, given)).length > 0,
    ),
  ),
  ...times(
    3,
    command(
      'vendor begins',
      record({ at }),
      async (model: Model, real: Real, given) => {
        const call = atVendor(sessionOf(model, given)).find(
          ({ stream, hasBegun }) => stream && !hasBegun,
        ) as Call;
        await real.begin(call.id);
        await soon(() => real.begun.has(call.id)).toBe(true);
        call.hasBegun = true;
      },
      (model, given) => atVendor(sessionOf(model, given)).some(({ stream, hasBegun }) => stream && !hasBegun),
    ),
  ),
  ...times(
    5,
    command(
      'leave',
      record({ at, pick: fc.nat({ max: 5 }) }),
      async (model: Model, real: Real, { pick, ...given }) => {
        const s = sessionOf(model, given);
        await leave(model, real, picked(s.calls, pick));
        await agree(real, s);
      },
      (model, given) => sessionOf(model, given).calls.length > 0,
    ),
  ),
  ...times(
    6,
    command('step', record({ at }), async (model: Model, real: Real, given) => {
      const s = sessionOf(model, given);
      const log = buildDecisionLog({
        meta: { trace_id: `step-${model.next()}`, session_id: s.name },
        identity: { agent_id: AGENT },
      } as never);
      const response = await fetch(`${gateway.url}/v1/decision-logs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${real.keys[s.tenant.name]}`, 'content-type': 'application/json' },
        body: JSON.stringify(log),
      });
      const { control } = (await response.json()) as Json;
      for (const word of s.words) {
        if (word.stage === 'told') word.stage = 'passed';
        if (word.stage === 'new') word.stage = 'told';
      }
      const told = s.words.filter(({ stage }) => stage !== 'passed').map(({ text }) => text);
      expect({ state: control.state, words: injected(control.directives) }).toEqual({
        state: s.state,
        words: told,
      });
      await agree(real, s);
    }),
  ),
  ...times(
    16,
    command(
      'order',
      record({ at, who, name: orderName }),
      async (model: Model, real: Real, { who, name, ...given }) => {
        const s = sessionOf(model, given);
        const body = bodyOf(model, s, name);
        const { status, note } = obey(s, who, name, body);
        const answer = await real.as(s.tenant.name, who)('POST', `/v1/sessions/${s.name}/${name}`, body);
        expect({ status: answer.status, note: answer.body.note }).toEqual({ status, note });
        await afterOrder(model, real, s);
        await agree(real, s);
      },
      (model, given) => hasRoom(sessionOf(model, given)),
    ),
  ),
  ...times(
    4,
    command(
      'two orders',
      record({ at, names: fc.tuple(orderName, orderName) }),
      async (model: Model, real: Real, { names, ...given }) => {
        const s = sessionOf(model, given);
        const orders = names.map((name, index) => ({
          name,
          who: OPERATORS[index] as string,
          body: bodyOf(model, s, name),
        }));
        const answers = await Promise.all(
          orders.map(({ name, who, body }) =>
            real.as(s.tenant.name, who)('POST', `/v1/sessions/${s.name}/${name}`, body),
          ),
        );
        const { items } = (await real.as(s.tenant.name)('GET', `/v1/audit?limit=3&session_id=${s.name}`))
          .body;
        const last = items.find(({ operator_id }: Json) => operator_id !== 'system');
        for (const index of last.operator_id === OPERATORS[0] ? [1, 0] : [0, 1]) {
          const { name, who, body } = orders[index] as (typeof orders)[number];
          const { status, note } = obey(s, who, name, body);
          expect({ status: answers[index]?.status, note: answers[index]?.body.note }).toEqual({
            status,
            note,
          });
        }
        await afterOrder(model, real, s);
        await agree(real, s);
      },
      (model, given) =>
        hasRoom(sessionOf(model, given)) &&
        sessionOf(model, given).calls.every(({ place }) => place === 'vendor'),
    ),
  ),
];

async function leave(model: Model, real: Real, call: Call): Promise<void> {
  real.leave.get(call.id)?.abort();
  await over(real, call, null, 'aborted');
  // Its client has read what it wanted.
  if (call.hasBegun) take(call);
  if (call.place === 'vendor') await land(model, real, call, null);
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  // What goes on behind an end, or half of an answer, is another matter.
  const isBetween = ({ hasBegun, place }: Call) => hasBegun || place === 'behind';
  const leaving = model.sessions.flatMap(({ calls }) => calls).filter(isBetween);
  for (const call of leaving.sort((one, other) => Number(one.hasBegun) - Number(other.hasBegun))) {
    await leave(model, real, call);
    await agree(real, call.s);
  }
  real.live.stop();
  const ending = gateway[how]();
  const calls = model.sessions.flatMap(({ calls }) => calls);
  for (const call of calls.filter(({ place }) => place === 'vendor')) {
    if (!call.s.calls.includes(call)) continue;
    if (how === 'stop') {
      await real.end(call.id, 'answer');
      await over(real, call, textOf(call.id), decisionOf(call));
      take(call);
    } else await over(real, call, null, null);
  }
  for (const s of model.sessions)
    for (const call of [...s.calls]) await over(real, call, null, how === 'stop' ? 'hold_expired' : null);
  await ending;
  await startAgain();
  for (const tenant of Object.values(model.tenants)) {
    tenant.kept.clear();
    tenant.flights = [];
  }
  for (const s of model.sessions) for (const word of s.words) word.stage = 'new';
  real.live.watch(gateway.url, real.tenant);
  await agreeInAll(model, real);
}

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'off',
}));
let run = 0;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const keys = {} as Record<TenantName, string>;
  const real = new Real(run, keys);
  const model = new Model();
  for (const of of TENANTS) {
    const as = operatorAt(gateway.url, OPERATOR_TOKEN, 'root', real.tenant(of));
    const { body } = await as('POST', '/v1/agent-keys', { name: 'key', tenant_id: real.tenant(of) });
    keys[of] = body.secret;
    await as('PATCH', `/v1/agents/${AGENT}/kill-switch`, { enabled: false });
  }
  for (const s of model.sessions) {
    const call = begun(model, {
      at: model.sessions.indexOf(s),
      vendor: VENDORS[0] as Vendor,
      stream: false,
      question: null,
      slowly: false,
    });
    s.decisions = [];
    real.ask(call);
    await letGo(model, real, [call]);
    await soon(async () => (await real.as(s.tenant.name)('GET', `/v1/sessions/${s.name}`)).status).toBe(200);
  }
  real.live.watch(gateway.url, real.tenant);
  await agreeInAll(model, real);
  return { model, real };
}

test(
  'whoever says what to whom, and whatever calls come to: each word is heard once by its session, or waits',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 3, begin, restart),
);
