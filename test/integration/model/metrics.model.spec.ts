/**
 * Whatever agents and operators do, and however often the gateway goes down: each count that `/metrics` serves is what a ledger of
 * what was done and told says, from nothing after each start; what is under way now is none once it is over; and no name of an
 * agent, a session or a model is in it.
 */
import fc from 'fast-check';
import { io, type Socket } from 'socket.io-client';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { AGENT_KEY, OPERATOR_TOKEN } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { ANSWER_TOKENS, ask, ChatVendor, HOW } from './proxied-chat.js';
import { comparing, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';

type Json = Record<string, any>;
type Counts = Record<string, number>;

/** Whose series are compared, all of them. */
const FAMILIES = [
  'decision_logs_rejected_total',
  'decision_logs_duplicate_total',
  'schema_violations_total',
  'ingest_refused_total',
  'ingest_seconds_count',
  'proxy_calls_total',
  'proxy_turned_away_total',
  'proxy_upstream_calls_total',
  'proxy_call_seconds_count',
  'proxy_first_byte_seconds_count',
  'proxy_tokens_total',
  'proxy_held_calls',
  'proxy_dropped_total',
  'proxy_no_room_total',
  'cache_lookups_total',
  'cache_lookup_seconds_count',
  'hitl_commands_total',
  'hitl_acknowledge_seconds_count',
  'hitl_polls_hanging',
  'hitl_sessions_paused',
  'fail_open_total',
  'kill_switch_fired_total',
  'live_connections_total',
  'live_subscribers',
  'logins_total',
  'store_refused_total',
  'store_failures_total',
  'alert_failures_total',
];
/** Nothing of it is left once all that is under way has ended. */
const AT_REST = ['proxy_body_bytes', 'proxy_waiting_rows', 'store_queue', 'alert_deliveries_pending'];

/** Of agents, sessions, models, keys and upstreams that callers have made up. */
const NAMES = /agent-\d|ses-\d|id-\d|reported|gpt-|nobody|nowhere/;

/** By series, without the prefix. */
async function scrape(): Promise<Counts> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const series = text.matchAll(/^observatory_(\S+) (\S+)$/gm);
  return Object.fromEntries([...series].map(([, name, count]) => [name, Number(count)]));
}

/** What is 0 is as good as absent. */
const withoutNone = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
const ofFamilies = (counts: Counts): Counts =>
  Object.fromEntries(
    Object.entries(counts).filter(([series]) => FAMILIES.includes(series.replace(/\{.*/, ''))),
  );

interface Held {
  outcome: Promise<string>;
  leave: AbortController;
}
interface Session {
  id: string;
  isKnown: boolean;
  isPaused: boolean;
  /** A call of it stands still since the pause. */
  isAcknowledged: boolean;
  held: Held | null;
}

class Model {
  serial = 0;
  readonly asked: string[] = [];
  readonly logged: Json[] = [];
  readonly sockets: Socket[] = [];
  readonly sessions: Session[];

  /** @param ledger what was counted since the start when the run began */
  constructor(
    readonly run: number,
    public ledger: Counts,
  ) {
    this.sessions = [0, 1].map((at) => ({
      id: `ses-${run}-${at}`,
      isKnown: false,
      isPaused: false,
      isAcknowledged: false,
      held: null,
    }));
  }

  next(): string {
    this.serial += 1;
    return `id-${this.run}-${this.serial}`;
  }

  add(family: string, labels = '', by = 1): void {
    const series = labels === '' ? family : `${family}{${labels}}`;
    this.ledger[series] = (this.ledger[series] ?? 0) + by;
  }

  /** A call that has its record. */
  ended(decision: string, told: 'answered' | 'failed' | null, hasFirstByte = true): void {
    this.add('proxy_calls_total', `upstream="openai",decision="${decision}"`);
    this.add('proxy_call_seconds_count', 'upstream="openai"');
    if (hasFirstByte) this.add('proxy_first_byte_seconds_count', 'upstream="openai"');
    if (told !== null) this.add('proxy_upstream_calls_total', `upstream="openai",outcome="${told}"`);
  }

  answered(decision = 'forwarded'): void {
    this.ended(decision, 'answered');
    this.add('proxy_tokens_total', 'upstream="openai",direction="input"', 10);
    this.add('proxy_tokens_total', 'upstream="openai",direction="output"', ANSWER_TOKENS);
  }

  missed(): void {
    this.lookedUp('miss');
  }

  lookedUp(outcome: string): void {
    this.add('cache_lookups_total', `outcome="${outcome}"`);
    this.add('cache_lookup_seconds_count');
  }
}

class Real {
  readonly vendor = new ChatVendor();

  constructor(readonly run: number) {
    upstream.script(this.vendor.script);
  }

  get agent(): string {
    return `agent-${this.run}`;
  }

  ask(
    id: string,
    more: { session?: string; key?: string; how?: string; signal?: AbortSignal; to?: string } = {},
  ) {
    const { session, key = AGENT_KEY, how, signal, to = 'openai' } = more;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(session && { 'x-observatory-session': session }),
      ...(how && { [HOW]: `${how} ${id}` }),
    };
    const ways = { stream: how === 'break', upstream: to, ...(signal && { signal }) };
    return ask(`${gateway.url}/agents/${this.agent}`, headers, { id, ...ways });
  }
}

async function agree(model: Model): Promise<void> {
  await soon(async () => withoutNone(ofFamilies(await scrape()))).toEqual(withoutNone(model.ledger));
}

const kind = comparing<Model, Real>(agree);
const at = fc.nat({ max: 1 });
const logOf = (trace_id: string) =>
  buildDecisionLog({ meta: { trace_id, session_id: 'reported' }, cognition: { intent: trace_id } });

const kinds = [
  ...times(
    2,
    kind('log', fc.boolean(), async (model, _real, isResent) => {
      const log = (isResent && model.logged.at(-1)) || logOf(model.next());
      if (model.logged.includes(log)) model.add('decision_logs_duplicate_total');
      else model.logged.push(log);
      expect((await gateway.ingest(log)).status).toBe(202);
      model.add('ingest_seconds_count');
    }),
  ),
  kind('lines', fc.constant(null), async (model) => {
    const lines = [JSON.stringify(logOf(model.next())), '{"meta":', '{"meta":{}}'].join('\n');
    expect((await gateway.ingest(lines, { 'content-type': 'application/x-ndjson' })).status).toBe(207);
    model.add('ingest_seconds_count');
    model.add('decision_logs_rejected_total', 'reason="invalid_json"');
    model.add('decision_logs_rejected_total', 'reason="schema_violation"');
    model.add('schema_violations_total');
  }),
  kind(
    'refused',
    fc.constantFrom('invalid_json', 'unauthorized', 'unsupported_media_type'),
    async (model, _real, reason) => {
      const headers = {
        invalid_json: {},
        unauthorized: { authorization: 'Bearer nobody' },
        unsupported_media_type: { 'content-type': 'text/html' },
      };
      const { reason: told } = await (await gateway.ingest('{', headers[reason])).json();
      expect(told).toBe(reason);
      model.add('ingest_refused_total', `reason="${reason}"`);
    },
  ),
  ...times(
    2,
    kind('call', fc.boolean(), async (model, real, isAgain) => {
      const known = isAgain ? model.asked.at(-1) : undefined;
      const id = known ?? model.next();
      expect(await real.ask(id)).toBe('answered');
      if (known === undefined) {
        model.answered();
        model.missed();
        model.asked.push(id);
      } else {
        model.ended('cached', null);
        model.lookedUp('exact');
      }
    }),
  ),
  kind('failing call', fc.constantFrom('fail', 'break'), async (model, real, how) => {
    const outcome = await real.ask(model.next(), { how });
    expect(outcome).toBe(how === 'fail' ? 'overloaded' : 'cut');
    model.ended(how === 'fail' ? 'forwarded' : 'upstream_failed', 'failed');
    model.missed();
  }),
  kind('call that its client leaves', fc.constant(null), async (model, real) => {
    const leave = new AbortController();
    const id = model.next();
    const outcome = real.ask(id, { how: 'slowly', signal: leave.signal });
    await soon(() => real.vendor.asked.some((one) => one.id === id)).toBe(true);
    leave.abort();
    expect(await outcome).toBe('cut');
    model.ended('aborted', null, false);
    model.missed();
  }),
  kind('refused call', fc.constantFrom('unauthorized', 'upstream_not_found'), async (model, real, reason) => {
    const more = reason === 'unauthorized' ? { key: 'nobody' } : { to: 'nowhere' };
    expect(await real.ask(model.next(), more)).toBe(reason);
    model.add('proxy_turned_away_total', `reason="${reason}"`);
  }),
  ...times(
    2,
    kind('call of a session', at, async (model, real, which) => {
      const session = model.sessions[which] as Session;
      if (session.held !== null) return;
      const leave = new AbortController();
      const outcome = real.ask(model.next(), { session: session.id, signal: leave.signal });
      if (session.isPaused) {
        session.held = { outcome, leave };
        model.add('proxy_held_calls');
        model.add('hitl_polls_hanging');
        if (!session.isAcknowledged) model.add('hitl_acknowledge_seconds_count');
        session.isAcknowledged = true;
        return;
      }
      expect(await outcome).toBe('answered');
      session.isKnown = true;
      model.answered();
      model.missed();
    }),
  ),
  kind('pause', at, async (model, _real, which) => {
    const session = model.sessions[which] as Session;
    const { status, body } = await gateway.operator('POST', `/v1/sessions/${session.id}/pause`, {
      reason: 'Look.',
    });
    const outcome = session.isKnown ? (session.isPaused ? body.note : 'ok') : 'session_not_found';
    expect(status).toBe(session.isKnown ? 200 : 404);
    model.add('hitl_commands_total', `command="pause",outcome="${outcome}"`);
    if (!session.isKnown || session.isPaused) return;
    session.isPaused = true;
    model.add('hitl_sessions_paused');
  }),
  ...times(
    2,
    kind('resume', at, async (model, _real, which) => {
      const session = model.sessions[which] as Session;
      if (!session.isPaused) return;
      await resume(model, session);
    }),
  ),
  kind('held call that its client leaves', at, async (model, _real, which) => {
    const session = model.sessions[which] as Session;
    if (session.held === null) return;
    session.held.leave.abort();
    expect(await session.held.outcome).toBe('cut');
    over(model, session);
    model.ended('aborted', null, false);
  }),
  kind('look', fc.boolean(), async (model, _real, opens) => {
    if (opens) {
      const auth = { token: OPERATOR_TOKEN };
      const socket = io(`${gateway.url}/live`, {
        auth,
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
      });
      model.sockets.push(socket);
      await new Promise<void>((settle) => socket.once('connect', settle));
      model.add('live_connections_total');
      model.add('live_subscribers');
    } else if (model.sockets.length > 0) {
      model.sockets.pop()?.disconnect();
      model.add('live_subscribers', '', -1);
    }
  }),
];

function over(model: Model, session: Session): void {
  session.held = null;
  model.add('proxy_held_calls', '', -1);
  model.add('hitl_polls_hanging', '', -1);
}

async function resume(model: Model, session: Session): Promise<void> {
  const { status } = await gateway.operator('POST', `/v1/sessions/${session.id}/resume`, {});
  expect(status).toBe(200);
  model.add('hitl_commands_total', 'command="resume",outcome="ok"');
  session.isPaused = false;
  session.isAcknowledged = false;
  model.add('hitl_sessions_paused', '', -1);
  if (session.held === null) return;
  expect(await session.held.outcome).toBe('answered');
  over(model, session);
  model.answered();
  model.missed();
}

/** What ends while the gateway does is counted by nobody who could be asked: nothing is under way then. */
async function restart(model: Model, _real: Real, how: Ending): Promise<void> {
  for (const session of model.sessions) if (session.isPaused) await resume(model, session);
  for (const socket of model.sockets.splice(0)) {
    socket.disconnect();
    model.add('live_subscribers', '', -1);
  }
  await agree(model);
  for (const gauge of AT_REST) await soon(async () => (await scrape())[gauge]).toBe(0);
  const named = Object.keys(await scrape()).filter((series) => NAMES.test(series));
  expect(named).toEqual([]);
  await gateway[how]();
  await startAgain();
  model.ledger = {};
  // What the cache kept is gone.
  model.asked.length = 0;
  await agree(model);
  isAtRest = true;
}

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LLM_CACHE_BACKEND: 'memory',
  HITL_HOLD_MS: '600000',
}));
let run = 0;
/** Else the run before has failed, and left what it began. */
let isAtRest = true;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  if (!isAtRest) {
    await gateway.kill();
    await startAgain();
  }
  isAtRest = false;
  const real = new Real(run);
  await gateway.operator('PATCH', `/v1/agents/${real.agent}/kill-switch`, { enabled: false });
  return { model: new Model(run, ofFamilies(await scrape())), real };
}

test(
  'each count is what a ledger of what was done says, from each start on',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 2, begin, restart),
);
