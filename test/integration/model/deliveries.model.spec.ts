/**
 * Whatever agents call and spend, whatever a receiver makes of it, who takes an alert in hand, and however often the gateway goes
 * down: what a rule about calls says is true, is told once to each of its channels and in its order, or is listed as a dead letter or
 * as waiting.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SQLite } from '#adapters/sqlite';
import { ALL_AGENTS } from '#contracts';
import { isOpensslMissing, selfSigned } from '../self-signed.js';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import {
  type AlertReceiver,
  BECOMES,
  MODES,
  type Mode,
  type State,
  startAlertReceivers,
  type Told,
} from './alert-receivers.js';
import { ask, ChatVendor, COST_USD, MODELS } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { AGENTS, LiveThings, TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

const TYPES = ['error_rate', 'spend', 'total_spend', 'budget'] as const;
type RuleType = (typeof TYPES)[number];
/** One of each type is there from the beginning. */
const RULES_MAX = 6;
const LATER_MS = 3_600_000;
/** No window empties in a run, and no cooldown ends. */
const WINDOWS_S = [300, 600] as const;
const COOLDOWNS_S = [0, 3_600] as const;
const ERROR_CALLS_MIN = 10;
/** The last of a delivery. */
const ATTEMPTS_MAX = 10;
/** What a page that comes to look is shown at least. */
const SHOWN_AT_ONCE = 50;

/** A webhook, a Slack-compatible server and a mail server. */
const RECEIVERS: readonly number[] = [0, 1, 2];

/** Who takes alerts in hand. */
const PEOPLE = ['ada', 'ben'] as const;
type Person = (typeof PEOPLE)[number];

/** An agent, or all of a tenant together. */
class Subject {
  micro_usd = 0;
  budget: number | null = null;
  /** Its budget has refused a call since it is what it is. */
  isRefused = false;
  callCount = 0;

  constructor(
    readonly of: TenantName,
    /** Null: all together. */
    readonly name: string | null,
  ) {}

  get path(): string {
    return this.name === null ? '/v1/all-agents' : `/v1/agents/${this.name}`;
  }

  get usd(): number {
    return this.micro_usd / 1e6;
  }
}
interface Firing {
  isFiring: boolean;
  /** How often it was told. */
  count: number;
  isCooling: boolean;
  /** People know that calls are refused. */
  isRefusalTold: boolean;
  /** Who has it in hand. */
  inHandOf: Person | null;
  /** `isWhole`: all calls of the window were counted. */
  tally: { calls: number; failures: number; isWhole: boolean } | null;
}
interface Rule {
  of: TenantName;
  id: string;
  type: RuleType;
  enabled: boolean;
  agent_id: string | null;
  isMuted: boolean;
  notify_recovery: boolean;
  /** Which of the receivers. */
  channels: readonly number[];
  threshold: number;
  threshold_usd: number;
  window_s: number;
  cooldown_s: number;
  firing: Map<Subject, Firing>;
}
interface Delivery {
  phase: string;
  state: State;
}

class Model {
  readonly all = Object.fromEntries(TENANTS.map((of) => [of, new Subject(of, null)])) as Record<
    TenantName,
    Subject
  >;
  readonly agents = AGENTS.map(({ of, name }) => new Subject(of, name));
  readonly rules: Record<TenantName, Rule[]> = { red: [], blue: [] };
  readonly modes: Mode[] = RECEIVERS.map(() => 'take');
  /** By tenant, rule, agent and receiver, in their order. */
  readonly deliveries = new Map<string, Delivery[]>();
  /** Since the gateway was started. */
  notices: Record<string, number> = {};
  finished = { delivered: 0, dead: 0 };
  /** Of alerts taken in hand or handed back. */
  readonly auditCount: Record<TenantName, number> = { red: 0, blue: 0 };
  /** Rules of which something changed that no notice says: a start knows of it what was kept, once a second. */
  readonly silentlyChanged = new Set<Rule>();
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  get subjects(): Subject[] {
    return [...this.agents, ...Object.values(this.all)];
  }

  settle(delivery: Delivery, state: State): void {
    delivery.state = state;
    if (state !== 'pending') this.finished[state] += 1;
  }

  /** Of this receiver those in that state come to what it does now. */
  tried(at: number, was: State, of?: TenantName): void {
    for (const [key, deliveries] of this.deliveries)
      if (key.endsWith(` ${at}`) && (of === undefined || key.startsWith(`${of} `)))
        for (const one of deliveries)
          if (one.state === was) this.settle(one, BECOMES[this.modes[at] as Mode]);
  }

  tell(rule: Rule, phase: string, { of, name }: Subject): void {
    const { id, type, channels } = rule;
    const kind = `${type} ${phase.split(' ')[0]}`;
    this.notices[kind] = (this.notices[kind] ?? 0) + 1;
    if (channels.length === 0) this.silentlyChanged.add(rule);
    for (const at of channels) {
      const key = `${of} ${id} ${name} ${at}`;
      const told = this.deliveries.get(key) ?? [];
      this.deliveries.set(key, told);
      const one: Delivery = { phase, state: 'pending' };
      told.push(one);
      this.settle(one, BECOMES[this.modes[at] as Mode]);
    }
  }

  /** Says what holds and was not said, and what is over. */
  look(rule: Rule): void {
    for (const subject of this.subjects) if (isAbout(rule, subject)) this.#look(rule, subject);
  }

  #look(rule: Rule, subject: Subject): void {
    const known = rule.firing.get(subject) ?? quiet();
    const { isFiring } = known;
    const isOn = reads(rule, subject, known);
    const isRefused = rule.type === 'budget' && subject.isRefused && subject.budget !== null;
    if (!isOn && !isFiring) return;
    rule.firing.set(subject, known);
    if (!isOn) {
      if (rule.notify_recovery && known.count > 0) this.tell(rule, 'recovered', subject);
      else this.silentlyChanged.add(rule);
      Object.assign(known, { isFiring: false, count: 0, isRefusalTold: false, inHandOf: null });
      return;
    }
    known.isFiring = true;
    const isNews = known.count === 0 || (isRefused && !known.isRefusalTold && known.count === 1);
    const isHeard = isNews && !rule.isMuted && !(rule.cooldown_s > 0 && known.isCooling);
    known.isRefusalTold = isRefused && (known.isRefusalTold || isHeard);
    if (!isHeard) {
      if (isNews) this.silentlyChanged.add(rule);
      return;
    }
    known.count += 1;
    known.isCooling = true;
    this.tell(rule, 'firing', subject);
  }

  /** Whoever heard of it hears who has it; that it is handed back nobody does. */
  handOver(rule: Rule, subject: Subject, to: Person | null): void {
    const known = rule.firing.get(subject) as Firing;
    known.inHandOf = to;
    this.auditCount[rule.of] += 1;
    if (to !== null && known.count > 0 && !rule.isMuted) this.tell(rule, 'acknowledged', subject);
    else this.silentlyChanged.add(rule);
  }

  /** Of those that it is about no more. @param told the rule as it was */
  close(rule: Rule, told: Rule): void {
    for (const [subject, { isFiring, count }] of rule.firing)
      if (!isAbout(rule, subject)) {
        if (isFiring && count > 0 && told.notify_recovery) this.tell(told, 'recovered unwatched', subject);
        else this.silentlyChanged.add(rule);
        rule.firing.delete(subject);
      }
  }

  called(agent: Subject, failed: boolean): void {
    for (const rule of this.rules[agent.of]) {
      if (rule.type !== 'error_rate' || !isAbout(rule, agent)) continue;
      const known = rule.firing.get(agent) ?? quiet();
      rule.firing.set(agent, known);
      known.tally ??= { calls: 0, failures: 0, isWhole: true };
      known.tally.calls += 1;
      if (failed) known.tally.failures += 1;
    }
    for (const rule of this.rules[agent.of]) this.look(rule);
  }

  /** A start knows what fires or cools, and not of which calls. */
  restarted(): void {
    this.notices = {};
    this.finished = { delivered: 0, dead: 0 };
    const rules = Object.values(this.rules).flat();
    for (const { type, window_s, cooldown_s, firing } of rules)
      for (const [subject, known] of firing) {
        if (!known.isFiring && !(cooldown_s > 0 && known.isCooling)) firing.delete(subject);
        known.tally =
          type === 'error_rate' && window_s > 0 ? { calls: 0, failures: 0, isWhole: false } : null;
      }
    for (const subject of this.subjects)
      subject.isRefused &&= rules.some(
        ({ type, firing }) => type === 'budget' && firing.get(subject)?.isFiring === true,
      );
  }
}
const quiet = (): Firing => ({
  isFiring: false,
  count: 0,
  isCooling: false,
  isRefusalTold: false,
  inHandOf: null,
  tally: null,
});
const isAbout = ({ of, enabled, type, agent_id }: Rule, subject: Subject): boolean => {
  if (!enabled || subject.of !== of || (agent_id !== null && agent_id !== subject.name)) return false;
  return type === 'budget' || (type === 'total_spend') === (subject.name === null);
};

function reads(rule: Rule, subject: Subject, { isFiring, tally }: Firing): boolean {
  if (rule.type === 'spend' || rule.type === 'total_spend') return subject.usd >= rule.threshold_usd;
  if (rule.type === 'budget')
    return subject.budget !== null && (subject.isRefused || subject.usd / subject.budget >= rule.threshold);
  if (tally === null) return isFiring;
  const { calls, failures, isWhole } = tally;
  if (calls < ERROR_CALLS_MIN && !isWhole) return isFiring;
  const isEnough = calls >= ERROR_CALLS_MIN || (isFiring && calls > 0);
  return isEnough && failures / calls >= rule.threshold;
}

const tls = isOpensslMissing ? null : selfSigned('DNS:localhost');
let receivers: AlertReceiver[] = [];
beforeAll(async () => {
  receivers = await startAlertReceivers(tls);
});
afterAll(() => {
  for (const receiver of receivers) receiver.close();
});

interface Counts {
  notices: Record<string, number>;
  finished: Model['finished'];
  pending: number;
}
async function counted(): Promise<Counts> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const counts: Counts = { notices: {}, finished: { delivered: 0, dead: 0 }, pending: 0 };
  for (const [, name, labels = '', value] of text.matchAll(
    /^observatory_alert_(\w+?)(?:_total)?(?:\{(.*)\})? (\d+)$/gm,
  )) {
    const label = (of: string) => new RegExp(`${of}="(\\w+)"`).exec(labels)?.[1] ?? '';
    if (name === 'notices' && TYPES.includes(label('type') as RuleType))
      counts.notices[`${label('type')} ${label('phase')}`] = Number(value);
    if (name === 'deliveries_finished') counts.finished[label('state') as 'dead'] = Number(value);
    if (name === 'deliveries_pending') counts.pending = Number(value);
  }
  return counts;
}

class Real {
  /** Of deliveries by their ids, as the live topic last told of them. */
  readonly live = new LiveThings('gateway:deliveries', (one) => one.delivery_id);
  readonly channels: Record<TenantName, string[]> = { red: [], blue: [] };
  readonly keys = {} as Record<TenantName, string>;
  /** By receiver, what it took, in the order in which it came. */
  readonly taken: Told[][] = RECEIVERS.map(() => []);
  /** As it was looked at last. */
  readonly list: Record<TenantName, Json[]> = { red: [], blue: [] };
  /** Deliveries that were dead letters once. */
  readonly wereDead = new Set<string>();
  /** Of earlier runs, on this gateway. */
  before: Counts = { notices: {}, finished: { delivered: 0, dead: 0 }, pending: 0 };

  constructor(readonly run: number) {
    upstream.script(new ChatVendor().script);
    receivers.forEach((receiver, at) => {
      receiver.setMode('take');
      receiver.onTaken = (told) => this.taken[at]?.push(told);
    });
  }

  tenant = (of: TenantName) => `${of}-${this.run}`;

  as = (of: TenantName, person: Person = 'ada'): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, person, this.tenant(of));

  watch = () => this.live.watch(gateway.url, this.tenant);

  async listed(of: TenantName, filter = ''): Promise<Json[]> {
    const { items } = (await this.as(of)('GET', `/v1/alert-deliveries?limit=500${filter}`)).body;
    return items;
  }

  keyOf = (of: TenantName, { channel_id, notice }: Json): string =>
    `${of} ${notice.rule_id} ${notice.agent_id} ${this.channels[of].indexOf(channel_id)}`;

  /** Something of its settings is other: what waits for it is tried now. */
  async wake(at: number): Promise<void> {
    for (const of of TENANTS) {
      const name = `on call ${Math.random()}`;
      const path = `/v1/alert-channels/${this.channels[of][at]}`;
      expect((await this.as(of)('PATCH', path, { name })).status).toBe(200);
    }
  }
}

/** What a notice says of itself. */
function expectTrue({ type, phase, detail }: Json): void {
  if (phase !== 'firing' || Object.keys(detail).length === 1) return;
  const { share, threshold, call_count, failure_count, spent_usd, threshold_usd, budget_usd, refused } =
    detail;
  if (type === 'error_rate') {
    expect(share).toBeGreaterThanOrEqual(threshold);
    expect(share).toBeCloseTo(failure_count / call_count, 3);
  } else if (type === 'budget') {
    expect(share).toBeCloseTo(spent_usd / budget_usd, 3);
    if (!refused) expect(share).toBeGreaterThanOrEqual(threshold);
  } else expect(spent_usd).toBeGreaterThanOrEqual(threshold_usd);
}

const firingText = ({ agent_id, notice_count, acknowledged }: Json): string =>
  `${agent_id} ${notice_count} ${acknowledged?.by ?? null}`;
const phaseOf = ({ phase, detail }: Json): string => (detail.watch_ended ? `${phase} unwatched` : phase);

async function shown(model: Model, real: Real, of: TenantName): Promise<Json> {
  const look = async (path: string) => (await real.as(of)('GET', path)).body;
  const listed = await real.listed(of);
  real.list[of] = listed;
  const [dead, pending, rules, spend] = await Promise.all([
    real.listed(of, '&state=dead'),
    real.listed(of, '&state=pending'),
    look('/v1/alert-rules'),
    look('/v1/spend?group=agent'),
  ]);
  const deliveries = new Map<string, Json[]>();
  for (const one of listed.toReversed()) {
    const key = real.keyOf(of, one);
    deliveries.set(key, [...(deliveries.get(key) ?? []), one]);
    if (one.state === 'dead') real.wereDead.add(one.delivery_id);
  }
  // How often one was tried depends on the time: it is dead after its last attempt.
  for (const [key, all] of deliveries)
    all.forEach(({ state, attempt_count }, index) => {
      const one = model.deliveries.get(key)?.[index];
      if (state === 'dead' && attempt_count >= ATTEMPTS_MAX && one?.state === 'pending')
        model.settle(one, 'dead');
    });
  const idsOf = (state: State) => listed.filter((one) => one.state === state).map((one) => one.delivery_id);
  const inList = new Map(listed.map((one) => [one.delivery_id, one]));
  return {
    deliveries: Object.fromEntries(
      [...deliveries].map(([key, all]) => [key, all.map((one) => `${phaseOf(one.notice)}: ${one.state}`)]),
    ),
    isFiltered:
      [dead, pending].map((some) => some.map((one) => one.delivery_id)).join(' and ') ===
      [idsOf('dead'), idsOf('pending')].join(' and '),
    unheardLive: listed.slice(0, SHOWN_AT_ONCE).filter((one) => !real.live[of].has(one.delivery_id)),
    otherLive: [...real.live[of].values()].filter((one) => inList.get(one.delivery_id)?.state !== one.state),
    rules: rules.items
      .filter(({ rule_id }: Json) => !rule_id.startsWith('default_'))
      .map(({ rule_id, firing, firing_count }: Json) => ({
        rule_id,
        firing: firing.map(firingText).sort(),
        firing_count,
      })),
    // What is not on disk is not known after a kill.
    spent: spend.items
      .map(({ key, call_count, cost_usd }: Json) => `${key} ${call_count} ${cost_usd.toFixed(6)}`)
      .sort(),
  };
}

function modelled(model: Model, of: TenantName): Json {
  const own = [...model.deliveries].filter(([key]) => key.startsWith(`${of} `));
  return {
    deliveries: Object.fromEntries(
      own.map(([key, all]) => [key, all.map(({ phase, state }) => `${phase}: ${state}`)]),
    ),
    isFiltered: true,
    unheardLive: [],
    otherLive: [],
    rules: model.rules[of].map(({ id, firing }) => {
      const all = [...firing].filter(([, { isFiring }]) => isFiring);
      return {
        rule_id: id,
        firing: all.map(([{ name }, { count, inHandOf }]) => `${name} ${count} ${inHandOf}`).sort(),
        firing_count: all.length,
      };
    }),
    spent: model.agents
      .filter((agent) => agent.of === of && agent.callCount > 0)
      .map(({ name, callCount, usd }) => `${name} ${callCount} ${usd.toFixed(6)}`)
      .sort(),
  };
}

/** Each receiver took once what is listed as delivered; that of one alert came in its order, unless it was a dead letter. */
function expectTold(real: Real): void {
  const all = TENANTS.flatMap((of) => real.list[of].map((one) => ({ ...one, key: real.keyOf(of, one) })));
  for (const at of RECEIVERS) {
    const listed: Json[] = all.filter(({ key }) => key.endsWith(` ${at}`));
    const taken = real.taken[at] as Told[];
    const delivered = listed.filter(({ state }) => state === 'delivered').map((one) => one.delivery_id);
    expect(taken.map(({ deliveryId }) => deliveryId).sort()).toEqual(delivered.sort());
    const inList = new Map(listed.map((one) => [one.delivery_id, one]));
    const latest = new Map<string, number>();
    for (const { deliveryId, isOf } of taken) {
      const { key, seq, notice, last_error } = inList.get(deliveryId) as Json;
      if (!isOf(notice, last_error)) expect([at, deliveryId]).toEqual([at, notice]);
      expectTrue(notice);
      if (real.wereDead.has(deliveryId)) continue;
      expect(seq).toBeGreaterThan(latest.get(key) ?? 0);
      latest.set(key, seq);
    }
  }
}

async function agree(model: Model, real: Real): Promise<void> {
  const { dead } = model.finished;
  const look = () => Promise.all(TENANTS.map((of) => shown(model, real, of)));
  await soon(look)
    .toEqual(TENANTS.map((of) => modelled(model, of)))
    .catch((error: unknown) => {
      // One had its last attempt meanwhile.
      if (model.finished.dead === dead) throw error;
      return agree(model, real);
    });
  expectTold(real);
  const since = (now: Counts): Counts => ({
    notices: Object.fromEntries(
      Object.entries(now.notices)
        .map(([kind, count]) => [kind, count - (real.before.notices[kind] ?? 0)] as const)
        .filter(([, count]) => count > 0),
    ),
    finished: {
      delivered: now.finished.delivered - real.before.finished.delivered,
      dead: now.finished.dead - real.before.finished.dead,
    },
    pending: now.pending,
  });
  const all = [...model.deliveries.values()].flat();
  await soon(async () => since(await counted())).toEqual({
    notices: model.notices,
    finished: model.finished,
    pending: all.filter(({ state }) => state === 'pending').length,
  });
}

/** One after another: what holds for a moment only is told too. */
async function call(model: Model, real: Real, agent: Subject, given: { fails: boolean; model: string }) {
  const { of, name } = agent;
  const all = model.all[of];
  const micro_usd = Math.round((COST_USD[given.model] as number) * 1e6);
  const isOver = ({ micro_usd: spent, budget }: Subject) =>
    budget !== null && (spent + micro_usd) / 1e6 > budget;
  const refusing = [agent, all].find(isOver);
  const outcome = await ask(
    `${gateway.url}/agents/${name}`,
    { authorization: `Bearer ${real.keys[of]}`, 'x-observatory-session': name as string },
    { id: String(model.next()), ...given },
  );
  agent.callCount += 1;
  if (refusing !== undefined) {
    expect(outcome).toBe('budget_exceeded');
    refusing.isRefused = true;
    for (const rule of model.rules[of]) model.look(rule);
    return model.called(agent, false);
  }
  expect(outcome).toBe(given.fails ? 'overloaded' : 'answered');
  if (!given.fails) for (const subject of [agent, all]) subject.micro_usd += micro_usd;
  model.called(agent, given.fails);
}

interface Burst {
  count: number;
  fails: boolean;
  model: string;
}
async function burst(model: Model, real: Real, at: number, { count, ...given }: Burst): Promise<void> {
  for (let one = 0; one < count; one += 1) await call(model, real, model.agents[at] as Subject, given);
  await agree(model, real);
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const at = fc.nat({ max: AGENTS.length - 1 });
const of = fc.constantFrom(...TENANTS);
const subject = fc.nat({ max: AGENTS.length + TENANTS.length - 1 });
const pick = fc.nat({ max: RULES_MAX - 1 });
const receiver = fc.constantFrom(...RECEIVERS);
const channels = fc.constantFrom<readonly number[]>([], [0], [1], [2], [2, 0], [0, 1], [0, 1, 2], [0, 1, 2]);
const threshold = fc.constantFrom(0.3, 0.5, 0.8);
const threshold_usd = fc.constantFrom(0.01, 0.15, 0.45, 2.05);
const window_s = fc.constantFrom(...WINDOWS_S);

type Patch = Partial<
  Pick<
    Rule,
    | 'enabled'
    | 'agent_id'
    | 'isMuted'
    | 'notify_recovery'
    | 'channels'
    | 'threshold'
    | 'threshold_usd'
    | 'window_s'
  >
>;
const patch: fc.Arbitrary<Patch> = fc.oneof(
  record({ enabled: fc.constantFrom(true, true, false) }),
  record({ agent_id: fc.constantFrom(null, null, 'one', 'both') }),
  record({ isMuted: fc.constantFrom(false, false, true) }),
  record({ notify_recovery: fc.boolean() }),
  record({ channels }),
  ...times(3, record({ threshold, threshold_usd })),
  record({ window_s }),
);
const bodyOf = (real: Real, of: TenantName, { isMuted, channels, ...rest }: Patch): Json => ({
  ...rest,
  ...(isMuted !== undefined && { muted_until_ms: isMuted ? Date.now() + LATER_MS : null }),
  ...(channels && { channel_ids: channels.map((one) => real.channels[of][one]) }),
});

/** Refused calls that were told more than once already would be told later. */
const isToldTwice = (model: Readonly<Model>, subject: Subject): boolean =>
  Object.values(model.rules)
    .flat()
    .some(({ type, firing }) => type === 'budget' && (firing.get(subject)?.count ?? 0) > 1);

/** Those of a receiver that wait, and were tried only once, are tried again within little more than a second. */
async function isSoonTried(real: Real, at: number): Promise<boolean> {
  const all = await Promise.all(
    TENANTS.map(async (of) => {
      const own = real.channels[of][at] as string;
      const { items } = (await real.as(of)('GET', '/v1/alert-channels')).body;
      const { circuit } = items.find((one: Json) => one.channel_id === own);
      const waiting = await real.listed(of, `&state=pending&channel_id=${own}`);
      return circuit.state === 'closed' && waiting.every(({ attempt_count }) => attempt_count < 2);
    }),
  );
  return all.every((one) => one);
}

type RuleFields = Omit<Rule, 'of' | 'id' | 'enabled' | 'notify_recovery' | 'firing'>;
async function makeRule(model: Model, real: Real, of: TenantName, given: RuleFields): Promise<void> {
  const fields = { ...given, agent_id: given.type === 'total_spend' ? null : given.agent_id };
  const name = `rule ${model.next()}`;
  const body = { name, period: 'month', ...bodyOf(real, of, fields) };
  const answer = await real.as(of)('POST', '/v1/alert-rules', body);
  expect(answer.status).toBe(201);
  const id = answer.body.rule_id;
  const rule: Rule = { of, id, enabled: true, notify_recovery: true, firing: new Map(), ...fields };
  model.rules[of].push(rule);
  model.look(rule);
}

const kinds = [
  ...times(
    8,
    command(
      'call',
      record({
        at,
        count: fc.constantFrom(1, 3, 10, 10),
        fails: fc.boolean(),
        model: fc.constantFrom(...MODELS),
      }),
      (model: Model, real: Real, { at, ...given }) => burst(model, real, at, given),
    ),
  ),
  ...times(
    3,
    command(
      'budget',
      record({
        at: subject,
        budget: fc.constantFrom(null, 0.005, 0.02, 0.25, 0.7, 2, 5),
      }),
      async (model: Model, real: Real, { at, budget }) => {
        const subject = model.subjects[at] as Subject;
        const body = { budget_month_usd: budget };
        const { status } = await real.as(subject.of)('PATCH', `${subject.path}/policy`, body);
        expect(status).toBe(200);
        if (subject.budget !== budget) subject.isRefused = false;
        subject.budget = budget;
        for (const rule of model.rules[subject.of]) model.look(rule);
        await agree(model, real);
      },
      (model, { at }) => !isToldTwice(model, model.subjects[at] as Subject),
    ),
  ),
  ...times(
    5,
    command(
      'rule',
      record({
        of,
        type: fc.constantFrom(...TYPES),
        agent_id: fc.constantFrom(null, null, null, 'both'),
        isMuted: fc.constantFrom(false, false, false, true),
        channels,
        threshold,
        threshold_usd,
        window_s,
        cooldown_s: fc.constantFrom(...COOLDOWNS_S),
      }),
      async (model: Model, real: Real, { of, ...given }) => {
        await makeRule(model, real, of, given);
        await agree(model, real);
      },
      (model, { of }) => model.rules[of].length < RULES_MAX,
    ),
  ),
  ...times(
    6,
    command(
      'change rule',
      record({ of, pick, patch }),
      async (model: Model, real: Real, { of, pick, patch }) => {
        const rule = model.rules[of][pick] as Rule;
        const path = `/v1/alert-rules/${rule.id}`;
        const { status } = await real.as(of)('PATCH', path, bodyOf(real, of, patch));
        expect(status).toBe(200);
        const before = { ...rule };
        Object.assign(rule, patch);
        const isUnheard =
          rule.channels.length > 0 && !rule.channels.some((one) => before.channels.includes(one));
        if (isUnheard)
          for (const known of rule.firing.values())
            Object.assign(known, { count: 0, isCooling: false, isRefusalTold: false });
        if (rule.window_s !== before.window_s)
          for (const known of rule.firing.values()) known.tally &&= { calls: 0, failures: 0, isWhole: false };
        model.close(rule, before);
        model.silentlyChanged.add(rule);
        model.look(rule);
        await agree(model, real);
      },
      (model, { of, pick, patch }) => {
        const rule = model.rules[of][pick];
        return rule !== undefined && !(rule.type === 'total_spend' && patch.agent_id);
      },
    ),
  ),
  command(
    'delete rule',
    record({ of, pick }),
    async (model: Model, real: Real, { of, pick }) => {
      const rule = model.rules[of][pick] as Rule;
      expect((await real.as(of)('DELETE', `/v1/alert-rules/${rule.id}`)).status).toBe(200);
      model.rules[of] = model.rules[of].filter((one) => one !== rule);
      model.close({ ...rule, enabled: false }, rule);
      await agree(model, real);
    },
    (model, { of, pick }) => model.rules[of][pick] !== undefined,
  ),
  ...times(
    4,
    command(
      'receiver',
      record({
        receiver,
        mode: fc.constantFrom<Mode>('take', 'take', ...MODES),
        isTested: fc.boolean(),
      }),
      async (model: Model, real: Real, { receiver, mode, isTested }) => {
        model.modes[receiver] = mode;
        receivers[receiver]?.setMode(mode);
        if (BECOMES[mode] === 'delivered') {
          if (isTested && !(await isSoonTried(real, receiver)))
            for (const of of TENANTS) {
              const path = `/v1/alert-channels/${real.channels[of][receiver]}/test`;
              const isInPart = mode === 'some' && receivers[receiver]?.body.kind === 'email';
              expect((await real.as(of)('POST', path)).body.status).toBe(isInPart ? 'failed' : 'ok');
            }
        }
        if (!isTested || BECOMES[mode] === 'dead') await real.wake(receiver);
        model.tried(receiver, 'pending');
        await agree(model, real);
      },
    ),
  ),
  ...times(
    2,
    command(
      'retry',
      record({ of, pick: fc.nat({ max: 9 }) }),
      async (model: Model, real: Real, { of, pick }) => {
        const dead = await real.listed(of, '&state=dead');
        const one = dead[pick % dead.length] as Json;
        const key = real.keyOf(of, one);
        const index = (await real.listed(of))
          .toReversed()
          .filter((other) => real.keyOf(of, other) === key)
          .findIndex(({ delivery_id }) => delivery_id === one.delivery_id);
        const { status, body } = await real.as(of)('POST', `/v1/alert-deliveries/${one.delivery_id}/retry`);
        expect(status).toBe(200);
        expect(body).toMatchObject({ state: 'pending', attempt_count: 0 });
        const mode = model.modes[Number(key.at(-1))] as Mode;
        model.settle(model.deliveries.get(key)?.[index] as Delivery, BECOMES[mode]);
        await agree(model, real);
      },
      (model, { of }) => hasDead(model, of),
    ),
  ),
  command(
    'retry all',
    record({ of, receiver: fc.constantFrom(null, ...RECEIVERS) }),
    async (model: Model, real: Real, { of, receiver }) => {
      const ats = receiver === null ? RECEIVERS : [receiver];
      const channel_id = receiver === null ? null : real.channels[of][receiver];
      const deadCount = [...model.deliveries]
        .filter(([key]) => key.startsWith(`${of} `) && ats.includes(Number(key.at(-1))))
        .flatMap(([, all]) => all.filter(({ state }) => state === 'dead')).length;
      const { status, body } = await real.as(of)('POST', '/v1/alert-deliveries/retry', { channel_id });
      expect({ status, body }).toEqual({ status: 200, body: { retried_count: deadCount, has_more: false } });
      for (const at of ats) model.tried(at, 'dead', of);
      await agree(model, real);
    },
    (model, { of }) => hasDead(model, of),
  ),
  ...times(
    5,
    command(
      'acknowledge',
      record({ of, pick, subject, people: fc.constantFrom<readonly Person[]>(['ada'], ['ben'], PEOPLE) }),
      async (model: Model, real: Real, { of, pick, subject, people }) => {
        const rule = model.rules[of][pick] as Rule;
        const one = model.subjects[subject] as Subject;
        const known = rule.firing.get(one);
        const was = known?.inHandOf ?? null;
        const answers = await Promise.all(
          people.map((person) => acknowledge(real, rule, one, { person, acknowledged: true })),
        );
        const reasons = answers.map(({ status, body }) => (status === 200 ? null : body.reason));
        if (known?.isFiring !== true) expect(reasons).toEqual(people.map(() => 'alert_not_firing'));
        else {
          const has = was ?? people[reasons.indexOf(null)] ?? null;
          expect(reasons).toEqual(people.map((person) => (person === has ? null : 'alert_acknowledged')));
          for (const { status, body } of answers) if (status === 409) expect(body.detail).toContain(has);
          if (was === null) model.handOver(rule, one, has);
        }
        await agree(model, real);
      },
      (model, { of, pick, subject }) => isOwn(model, of, pick, subject),
    ),
  ),
  ...times(
    2,
    command(
      'hand back',
      record({ of, pick, subject, person: fc.constantFrom(...PEOPLE) }),
      async (model: Model, real: Real, { of, pick, subject, person }) => {
        const rule = model.rules[of][pick] as Rule;
        const one = model.subjects[subject] as Subject;
        const known = rule.firing.get(one);
        const { status } = await acknowledge(real, rule, one, { person, acknowledged: false });
        expect(status).toBe(known?.isFiring ? 200 : 409);
        if (known?.isFiring && known.inHandOf !== null) model.handOver(rule, one, null);
        await agree(model, real);
      },
      (model, { of, pick, subject }) => isOwn(model, of, pick, subject),
    ),
  ),
  // What was told a moment ago, and what waits, is found again.
  command(
    'call, then kill',
    record({ at, fails: fc.boolean() }),
    async (model: Model, real: Real, { at, fails }) => {
      await burst(model, real, at, { count: 10, fails, model: MODELS[1] });
      await restart(model, real, 'kill');
    },
  ),
];
const isOwn = (model: Readonly<Model>, of: TenantName, pick: number, subject: number): boolean =>
  model.rules[of][pick] !== undefined && model.subjects[subject]?.of === of;
const acknowledge = (
  real: Real,
  { of, id }: Rule,
  { name }: Subject,
  { person, acknowledged }: { person: Person; acknowledged: boolean },
) => real.as(of, person)('POST', `/v1/alert-rules/${id}/acknowledge`, { agent_id: name, acknowledged });
const hasDead = (model: Readonly<Model>, of: TenantName): boolean =>
  [...model.deliveries].some(
    ([key, all]) => key.startsWith(`${of} `) && all.some(({ state }) => state === 'dead'),
  );

/** What a rule fires or was told of, as it lies on disk and as the model has it. */
const kept = ({ id }: Rule): Json => {
  const database = new SQLite(join(gateway.dataDir, 'observatory.db'), { readonly: true });
  const row = database.prepare('SELECT body FROM documents WHERE id = ?').get(`firing:${id}`) as Json;
  database.close();
  const states: Json[] = row === undefined ? [] : JSON.parse(row.body).states;
  return Object.fromEntries(
    states.map(({ agent_id, since_ms, notice_count, acknowledged }) => [
      agent_id,
      [since_ms !== null, notice_count, acknowledged?.by ?? null],
    ]),
  );
};
const keeps = ({ firing, cooldown_s }: Rule): Json =>
  Object.fromEntries(
    [...firing]
      .filter(([, { isFiring, isCooling }]) => isFiring || (cooldown_s > 0 && isCooling))
      .map(([{ name }, { isFiring, count, inHandOf }]) => [name ?? ALL_AGENTS, [isFiring, count, inHandOf]]),
  );

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  const changed = [...model.silentlyChanged].filter((rule) => model.rules[rule.of].includes(rule));
  model.silentlyChanged.clear();
  if (how === 'kill') await soon(() => changed.map(kept)).toEqual(changed.map(keeps));
  await gateway[how]();
  real.before = { notices: {}, finished: { delivered: 0, dead: 0 }, pending: 0 };
  model.restarted();
  await startAgain();
  real.watch();
  await agree(model, real);
  for (const of of TENANTS) {
    const { items } = (await real.as(of)('GET', '/v1/audit?limit=500')).body;
    const taken = items.filter(({ action }: Json) => action === 'alert_rule.acknowledge');
    expect(taken).toHaveLength(model.auditCount[of]);
  }
}

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  ...(tls !== null && { NODE_EXTRA_CA_CERTS: tls.file }),
}));
const FIRST = {
  agent_id: null,
  isMuted: false,
  channels: RECEIVERS,
  threshold: 0.5,
  threshold_usd: 0.15,
  window_s: WINDOWS_S[0],
  cooldown_s: 0,
};
let run = 0;
let earlier: Real | null = null;
async function begin(): Promise<{ model: Model; real: Real }> {
  // What still waits of an earlier run has no way to go any more.
  for (const of of TENANTS)
    for (const id of earlier?.channels[of] ?? []) await earlier?.as(of)('DELETE', `/v1/alert-channels/${id}`);
  await soon(async () => (await counted()).pending).toBe(0);
  earlier?.live.stop();
  run += 1;
  const model = new Model();
  const real = new Real(run);
  earlier = real;
  for (const of of TENANTS) {
    const make = async (path: string, body: object) => {
      const answer = await real.as(of)('POST', path, body);
      expect(answer.status).toBe(201);
      return answer.body;
    };
    real.keys[of] = (await make('/v1/agent-keys', { name: 'key', tenant_id: real.tenant(of) })).secret;
    for (const { body } of receivers) {
      real.channels[of].push((await make('/v1/alert-channels', body)).channel.channel_id);
    }
  }
  for (const { of, name } of AGENTS)
    await real.as(of)('PATCH', `/v1/agents/${name}/kill-switch`, { enabled: false });
  for (const of of TENANTS) for (const type of TYPES) await makeRule(model, real, of, { type, ...FIRST });
  real.before = await counted();
  real.watch();
  return { model, real };
}

test(
  'whatever agents spend and fail at, and whatever becomes of a notice: it is true, told once and in its order, or listed as untold',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 2, begin, restart),
);
