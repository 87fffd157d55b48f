/**
 * Two operators, agents, receivers, the clock and a process that may die, all at once; what they wait for comes in any order.
 * Whatever the order: who was told that something began is told that it is over, in this order and once, nothing goes to a channel
 * that was removed, an alert is in the hands of one at a time and of nobody when it begins anew, and memory is what the disk has.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AlertDelivery,
  type AlertNotice,
  type AlertRule,
  alertRuleBodySchema,
  type ControlCommit,
  type ControlWrite,
  type DocumentKind,
  type DocumentWrite,
  type Incident,
  ObservatoryError,
  type OperatorPrincipal,
  type ProxyStore,
} from '#contracts';
import type { FiringState, SendOutcome } from '#domain/alerts';
import { checkRaces, FakeTime, letAllCome, RACES_MS, turn } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import { failed, MemoryAlertStore, type Sent, startAlerts, WEBHOOK } from './alerts.fixture.js';

const AGENTS = ['a', 'b'] as const;
type Agent = (typeof AGENTS)[number];

type RulePatch =
  | { agent_id: Agent | null }
  | { enabled: boolean }
  | { muteS: number }
  | { channels: readonly number[] };
type Acknowledge = { do: 'take' | 'hand back'; rule: number; agent: Agent };
type OperatorAct =
  | { do: 'create'; channels: readonly number[] }
  | { do: 'patch'; rule: number; patch: RulePatch }
  | { do: 'remove'; rule: number }
  | Acknowledge
  | { do: 'move' | 'remove channel' | 'test' | 'retry all'; channel: number }
  | { do: 'retry'; nth: number };
type Acts = {
  ada: OperatorAct[];
  ben: OperatorAct[];
  agents: { agent: Agent; isStopped: boolean }[];
  clock: { ms: number }[];
  deaths: { written: number; downMs: number }[];
  /** Of the store's writes, those that it refuses. */
  refused: readonly number[];
  /** What receivers say first; later they take all. */
  answers: ('takes' | 'fails' | 'refuses')[];
  /** How many writes it commits in one turn. */
  commits: number[];
  /** How many answers come in one turn. */
  together: number[];
};

/** Of one process. Commits in order, when the scheduler says; what it reads is as it was at some moment in between. */
class RaceStore extends MemoryAlertStore {
  isDead = false;
  readonly #queue: (() => void)[] = [];

  constructor(
    readonly race: Race,
    before?: RaceStore,
  ) {
    super();
    if (before === undefined) return;
    const { docs, rows, incidents, audited } = before;
    Object.assign(this, { docs, rows, incidents, audited });
  }

  override commitDocuments(write: DocumentWrite) {
    const taken = this.race.takenBy(write.audit);
    return this.#write('documents', () => {
      this.race.noteTaken(taken);
      return super.commitDocuments(write);
    });
  }
  override commitControl(write: ControlWrite): Promise<ControlCommit> {
    const taken = this.race.takenBy(write.audit);
    return this.#write('audit', () => {
      this.race.noteTaken(taken);
      return super.commitControl(write);
    });
  }
  override saveDelivery(delivery: AlertDelivery) {
    const given = structuredClone(delivery);
    if (!this.isDead) this.race.noteSaved(given);
    return this.#write(`${given.delivery_id} ${given.state}`, () => super.saveDelivery(given));
  }
  override documents(kind: DocumentKind) {
    return this.#read(() => super.documents(kind));
  }
  override delivery(tenantId: string, deliveryId: string) {
    return this.#read(() => super.delivery(tenantId, deliveryId));
  }
  override deliveries(query: Parameters<ProxyStore['deliveries']>[0]) {
    return this.#read(() => super.deliveries(query));
  }
  override pendingDeliveries() {
    return this.#read(() => super.pendingDeliveries());
  }
  override openIncidents() {
    return this.#read(async () => structuredClone(this.incidents));
  }

  commit(count = Number.POSITIVE_INFINITY): void {
    for (const write of this.#queue.splice(0, count)) write();
  }

  /** @param written how many of its writes reach the disk, though it never hears of it */
  die(written: number): void {
    this.commit(written);
    this.isDead = true;
    this.#queue.length = 0;
  }

  async port(what: string): Promise<void> {
    await this.race.port(what);
    if (this.isDead) await new Promise<void>(() => {});
  }

  async #read<Value>(read: () => Promise<Value>): Promise<Value> {
    await this.port('look');
    const value = await read();
    await this.port('seen');
    return value;
  }

  #write<Result>(what: string, write: () => Promise<Result>): Promise<Result> {
    const { race } = this;
    if (this.isDead) return new Promise(() => {});
    const { refused, commits } = race.acts;
    race.writeCount += 1;
    const isRefused = !race.isFree && refused.includes(race.writeCount);
    const count = commits[race.writeCount % commits.length];
    const written = new Promise<Result>((resolve, reject) => {
      this.#queue.push(() => {
        if (isRefused) reject(new ObservatoryError('store_busy'));
        else resolve(write());
      });
    });
    if (race.isFree) this.commit();
    else void this.port(`${isRefused ? 'refusal of ' : ''}${what}`).then(() => this.commit(count));
    return written;
  }
}

/**
 * Of an alert: who takes it, or hands it back (null), as one line of the audit says; undefined: what fires was written without it, and
 * the process died.
 */
interface Taken {
  alert: string;
  by: string | null | undefined;
  /** Of the firing that was meant. */
  sinceMs: number | undefined;
}

interface Attempt {
  deliveryId: string;
  channelId: string;
  isTaken: boolean;
}

class Race {
  store: RaceStore = new RaceStore(this);
  time = new FakeTime();
  isFree = true;
  writeCount = 0;
  alerts!: Awaited<ReturnType<typeof startAlerts>>;
  readonly trail: string[] = [];
  readonly #rules: { id: string; name: string }[] = [];
  readonly #channels: { id: string; urls: string[] }[] = [];
  /** Where nothing goes any more. */
  readonly #closedUrls = new Set<string>();
  readonly #removedRules = new Set<string>();
  /** Whose channels or agents somebody changed, or tried to. */
  readonly #touchedRules = new Set<string>();
  readonly #removedChannels = new Set<string>();
  readonly #incidents = new Set<Agent>();
  readonly #attempts: Attempt[] = [];
  readonly #everDead = new Set<string>();
  readonly #known = new Map<string, AlertDelivery>();
  /** By alert, as it was written last. */
  readonly #taken = new Map<string, Taken>();
  readonly #failures: unknown[] = [];
  #deathCount = 0;
  #serial = 0;
  #incidentCount = 0;
  #answerCount = 0;
  #isUp: Promise<void> = Promise.resolve();
  #dies: () => void = () => {};
  #died: Promise<void> = new Promise(() => {});

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {}

  async port(what: string): Promise<void> {
    if (!this.isFree) await this.scheduler.schedule(Promise.resolve(), what);
  }

  noteSaved(delivery: AlertDelivery): void {
    const { delivery_id, state, notice } = delivery;
    if (state === 'dead') this.#everDead.add(delivery_id);
    if (!this.#known.has(delivery_id) && this.#removedRules.has(notice.rule_id ?? ''))
      if (notice.phase !== 'recovered') this.#fail(`${notice.phase} of ${notice.rule_id}, which was removed`);
    this.#known.set(delivery_id, delivery);
    this.#note(`written: ${delivery_id} ${notice.phase} ${notice.agent_id} ${state}`);
  }

  takenBy(audit: DocumentWrite['audit']): Taken | undefined {
    const line = audit?.find(({ action }) => action === 'alert_rule.acknowledge');
    if (line === undefined) return undefined;
    const { rule_id, agent_id, acknowledged } = line.detail;
    const alert = `${rule_id} ${agent_id}`;
    const by = acknowledged === true ? line.operator_id : null;
    return { alert, by, sinceMs: this.#firing().get(alert)?.since_ms };
  }

  /** It is on disk. */
  noteTaken(taken: Taken | undefined): void {
    if (taken === undefined) return;
    const { alert, by, sinceMs } = taken;
    const before = this.#taken.get(alert);
    this.#note(`on disk: ${alert} since ${sinceMs} is with ${by}`);
    if (by !== null && typeof before?.by === 'string' && before.sinceMs === sinceMs)
      this.#fail(`${by} takes ${alert}, which ${before.by} has`);
    this.#taken.set(alert, taken);
  }

  /** Whose alert is in whose hands, in memory, is what was written of this firing of it. */
  #checkHands(): void {
    for (const [alert, { since_ms, acknowledged }] of this.#firing()) {
      const taken = this.#taken.get(alert);
      const has = taken?.sinceMs === since_ms ? taken.by : null;
      if (has !== undefined)
        expect([alert, since_ms, acknowledged?.by ?? null]).toEqual([alert, since_ms, has]);
    }
  }

  /** Who has it by what is written of what fires. */
  #onDisk(alert: string): string | null {
    const [ruleId, agentId] = alert.split(' ');
    const { body } = this.store.docs.get(`default/alert_rule/firing:${ruleId}`) ?? {};
    const { states = [] } = (body ?? {}) as { states?: FiringState[] };
    return states.find(({ agent_id }) => agent_id === agentId)?.acknowledged?.by ?? null;
  }

  /** What fires, by its rule and agent. */
  #firing(): Map<string, AlertRule['firing'][number]> {
    const rules = this.alerts.area.rules.list('default');
    return new Map(
      rules.flatMap(({ rule_id, firing }) =>
        firing.map((one) => [`${rule_id} ${one.agent_id}`, one] as const),
      ),
    );
  }

  async begin(): Promise<void> {
    await this.#start();
    for (const _ of [0, 1]) {
      const url = this.#newUrl();
      const { channel } = await this.alerts.area.channels.create(ADMIN, { ...WEBHOOK, url });
      this.#channels.push({ id: channel.channel_id, urls: [url] });
    }
    await this.#create(ADMIN, [0, 1]);
    await this.#create(ADMIN, [0]);
    this.isFree = false;
  }

  #note(what: string): void {
    this.trail.push(`${this.time.steadyMs()} ${what}`);
  }

  #fail(what: string): void {
    this.#note(`FAILED ${what}`);
    this.#failures.push(new Error(what));
  }

  #newUrl(): string {
    this.#serial += 1;
    return `https://hooks-${this.#serial}.example.org`;
  }

  async #start(): Promise<void> {
    const { store } = this;
    this.#died = new Promise((resolve) => {
      this.#dies = resolve;
    });
    const alerts = await startAlerts({
      store,
      time: this.time,
      answer: (sent) => this.#receive(store, sent),
    });
    if (!store.isDead) this.alerts = alerts;
  }

  async #receive(store: RaceStore, sent?: Sent): Promise<SendOutcome> {
    if (store.isDead || sent === undefined) return new Promise(() => {});
    const { url, headers } = sent;
    const deliveryId = headers['x-observatory-delivery'] ?? '';
    const channel = this.#channels.find(({ urls }) => urls.includes(url));
    if (this.#closedUrls.has(url)) this.#fail(`${deliveryId} is sent to ${url}, which is not in force`);
    this.#note(`sent: ${deliveryId} to ${url}`);
    // A test is in no queue.
    const isTest = !this.#known.has(deliveryId);
    if (!isTest && store.rows.get(deliveryId)?.state !== 'pending')
      this.#fail(`${deliveryId} is sent before it is on disk`);
    const says = this.isFree ? 'takes' : (this.acts.answers[this.#answerCount++] ?? 'takes');
    await store.port('receiver');
    this.#attempts.push({ deliveryId, channelId: channel?.id ?? '', isTaken: says === 'takes' });
    this.#note(`${says}: ${deliveryId}`);
    return says === 'takes' ? { ok: true } : failed(says, says === 'fails');
  }

  /** Everybody does one thing after the other. */
  async #actor<Act>(name: string, acts: readonly Act[], act: (one: Act) => Promise<unknown>): Promise<void> {
    try {
      for (const one of acts) {
        await this.port(`${name} ${JSON.stringify(one)}`);
        await this.#isUp;
        // Two firings begin in two moments.
        this.time.setWallClock(1);
        this.#note(`${name} ${JSON.stringify(one)}`);
        await Promise.race([act(one), this.#died]);
      }
    } catch (error) {
      this.#failures.push(error);
    }
  }

  async run(): Promise<void> {
    const { acts } = this;
    for (const by of ['ada', 'ben'] as const)
      void this.#actor(by, acts[by], (act) => this.#operate({ ...ADMIN, operator_id: by }, act));
    void this.#actor('agents', acts.agents, async (act) => this.#stopAnewOrStart(act));
    void this.#actor('clock', acts.clock, ({ ms }) => this.time.pass(ms));
    void this.#actor('death', acts.deaths, async (act) => this.#die(act));
    await this.#idle();
  }

  async #idle(): Promise<void> {
    await letAllCome(this.scheduler, this.acts.together);
  }

  async #operate(by: OperatorPrincipal, act: OperatorAct): Promise<void> {
    try {
      await this.#change(by, act);
      this.#note(`${by.operator_id} ${act.do} is answered`);
    } catch (error) {
      if (!(error instanceof ObservatoryError)) throw error;
      this.#note(`${by.operator_id} ${act.do}: ${error.code}`);
    }
  }

  async #change(by: OperatorPrincipal, act: OperatorAct): Promise<void> {
    const { rules, channels, deadLetters } = this.alerts.area;
    if (act.do === 'create') return this.#create(by, act.channels);
    if (act.do === 'retry') {
      const ids = [...this.#known.keys()];
      const id = ids[act.nth % ids.length];
      if (id !== undefined) await deadLetters.retry(by, id);
      return;
    }
    if ('rule' in act) {
      const { id = '' } = this.#rules[act.rule % this.#rules.length] ?? {};
      if (act.do === 'remove') {
        await rules.remove(by, id);
        this.#removedRules.add(id);
        return;
      }
      if ('agent' in act) return this.#acknowledge(by, id, act);
      const { patch } = act;
      if ('channels' in patch) {
        this.#touchedRules.add(id);
        await rules.update(by, id, { channel_ids: this.#idsOf(patch.channels) });
      } else if ('muteS' in patch)
        await rules.update(by, id, { muted_until_ms: this.time.nowMs() + patch.muteS * 1_000 });
      else await rules.update(by, id, patch);
      return;
    }
    const channel = this.#channels[act.channel % this.#channels.length];
    if (channel === undefined) return;
    if (act.do === 'test') await channels.test(by, channel.id);
    else if (act.do === 'retry all') await deadLetters.retryAll(by, act.channel > 1 ? null : channel.id);
    else if (act.do === 'remove channel') {
      this.#removedChannels.add(channel.id);
      await channels.remove(by, channel.id);
      for (const url of channel.urls) this.#closedUrls.add(url);
    } else {
      const url = this.#newUrl();
      const before = [...channel.urls];
      channel.urls.push(url);
      await channels.update(by, channel.id, { kind: 'webhook', url });
      for (const one of before) this.#closedUrls.add(one);
    }
  }

  /** Nobody takes what another one has, and what is answered is so. */
  async #acknowledge(by: OperatorPrincipal, ruleId: string, { do: what, agent }: Acknowledge): Promise<void> {
    const acknowledged = what === 'take';
    const mine = `${by.operator_id} has this alert in hand already.`;
    const shown = await this.alerts.area.rules
      .acknowledge(by, ruleId, { agent_id: agent, acknowledged })
      .catch((error: ObservatoryError) => {
        if (error.code === 'alert_acknowledged' && error.detail === mine) this.#fail(mine);
        throw error;
      });
    const has = shown.firing.find(({ agent_id }) => agent_id === agent)?.acknowledged?.by ?? null;
    if (has !== null && has !== (acknowledged ? by.operator_id : null))
      this.#fail(`${by.operator_id} is answered to ${what} that ${has} has it`);
  }

  #idsOf(channels: readonly number[]): string[] {
    return [...new Set(channels.map((one) => this.#channels[one % this.#channels.length]?.id ?? ''))];
  }

  async #create(by: OperatorPrincipal, channels: readonly number[]): Promise<void> {
    this.#serial += 1;
    const name = `rule ${this.#serial}`;
    const body = alertRuleBodySchema.parse({ name, type: 'kill_switch', cooldown_s: 0 });
    const rule = await this.alerts.area.rules.create(by, { ...body, channel_ids: this.#idsOf(channels) });
    this.#rules.push({ id: rule.rule_id, name });
  }

  /** Whoever is stopped and is to be is reactivated in between. */
  #stopAnewOrStart({ agent, isStopped }: Acts['agents'][number]): void {
    this.#stopOrStart({ agent, isStopped: false });
    this.time.setWallClock(1);
    this.#stopOrStart({ agent, isStopped });
  }

  #stopOrStart({ agent, isStopped }: Acts['agents'][number]): void {
    if (this.#incidents.has(agent) === isStopped) return;
    const { monitor } = this.alerts.area;
    const fact = { tenant_id: 'default', agent_id: agent, session_id: 's', at_ms: this.time.nowMs() };
    const { incidents } = this.store;
    if (!isStopped) {
      this.#incidents.delete(agent);
      incidents.splice(
        incidents.findIndex(({ incident }) => incident.agent_id === agent),
        1,
      );
      monitor.note({ kind: 'reactivated', ...fact });
      return;
    }
    this.#incidents.add(agent);
    this.#incidentCount += 1;
    const known = { incident_id: `inc-${this.#incidentCount}`, threshold: 10 };
    const incident = { ...known, ...fact, breakdown: { score: 13 } } as unknown as Incident;
    incidents.push({ tenant_id: 'default', incident });
    monitor.note({ kind: 'incident', ...fact, ...known, score: 13 });
    for (const [alert, { acknowledged, agent_id }] of this.#firing())
      if (agent_id === agent && acknowledged !== null) this.#fail(`${alert} begins anew in the hands of one`);
  }

  #die({ written, downMs }: Acts['deaths'][number]): void {
    const { store } = this;
    store.die(written);
    this.#deathCount += 1;
    for (const taken of this.#taken.values())
      if (this.#onDisk(taken.alert) !== taken.by) taken.by = undefined;
    this.#dies();
    this.store = new RaceStore(this, store);
    this.time = new FakeTime(this.time.nowMs() + downMs);
    this.#isUp = this.#start();
    this.#isUp.catch((error: unknown) => void this.#failures.push(error));
  }

  async check(): Promise<void> {
    this.#throw();
    this.isFree = true;
    this.store.commit();
    await this.#isUp;
    await turn();
    await turn();
    this.#throw();
    this.#checkHands();
    await this.time.pass(200_000);
    this.#throw();
    this.#checkDeliveries();
    await this.#checkDisk();
    this.#checkOpen();
    for (const agent of AGENTS) this.#stopOrStart({ agent, isStopped: false });
    await this.time.pass(10_000);
    this.#throw();
    this.#checkDeliveries();
    await this.#checkDisk();
    this.#checkOver();
  }

  #throw(): void {
    for (const failure of this.#failures) throw failure;
    expect(this.alerts.lines.filter(({ event }) => event === 'alert_rule_failed')).toEqual([]);
  }

  #checkDeliveries(): void {
    const rows = [...this.store.rows.values()];
    expect(rows.filter(({ state }) => state === 'pending')).toEqual([]);
    const last = new Map(this.alerts.published.map(({ payload }) => [payload.delivery_id, payload]));
    for (const shown of last.values()) expect(shown).toEqual(this.store.rows.get(shown.delivery_id));
    for (const { delivery_id, state, notice } of rows) {
      const what = `${delivery_id} ${notice.phase}`;
      const taken = this.#attempts.filter((one) => one.deliveryId === delivery_id && one.isTaken).length;
      if (this.#deathCount === 0) expect([what, taken]).toEqual([what, state === 'delivered' ? 1 : 0]);
      else if (state === 'delivered') expect([what, taken > 0]).toEqual([what, true]);
    }
    // The next process goes on as they are stored: what was refused and written again comes behind what was on its way meanwhile.
    if (this.#deathCount > 0 && this.acts.refused.length > 0) return;
    const order = new Map<string, string>();
    // What a process that died had not written down is sent again.
    for (const deliveryId of new Set(this.#attempts.flatMap((one) => (one.isTaken ? one.deliveryId : [])))) {
      const row = this.store.rows.get(deliveryId);
      if (row === undefined || this.#everDead.has(deliveryId)) continue;
      const { notice, channel_id } = row;
      const alert = `${notice.rule_id} ${notice.agent_id} ${channel_id}`;
      const before = order.get(alert) ?? '';
      if (notice.notice_id < before) expect([alert, notice.notice_id]).toEqual([alert, 'in order']);
      order.set(alert, notice.notice_id);
    }
  }

  /** What a start finds is what is in force. */
  async #checkDisk(): Promise<void> {
    const { area } = this.alerts;
    const again = new RaceStore(this);
    const { docs, rows, incidents } = structuredClone({
      docs: this.store.docs,
      rows: this.store.rows,
      incidents: this.store.incidents,
    });
    Object.assign(again, { docs, rows, incidents });
    const started = await startAlerts({ store: again, time: new FakeTime(this.time.nowMs()) });
    await turn();
    const rules = ({ area: { rules: desk } }: typeof started) =>
      desk.list('default').map((rule) => {
        const isVague = AGENTS.some((agent_id) => this.#isVague({ rule_id: rule.rule_id, agent_id }));
        return isVague ? { ...rule, firing: null, firing_count: null, firing_since_ms: null } : rule;
      });
    expect(rules(started)).toEqual(rules(this.alerts));
    const channels = ({ area: { channels: desk } }: typeof started) =>
      desk.list('default').map(({ circuit: _, ...channel }) => channel);
    expect(channels(started)).toEqual(channels(this.alerts));
    const told = started.sent.map(({ body }) => JSON.parse(body) as AlertNotice);
    expect(told.filter((notice) => !this.#isClosedLate(notice))).toEqual([]);
    const ids = new Set(area.rules.list('default').map(({ rule_id }) => `firing:${rule_id}`));
    const firing = [...docs.values()].filter(({ id }) => id.startsWith('firing:'));
    expect(firing.map(({ id }) => id).filter((id) => !ids.has(id))).toEqual([]);
    await started.area.stop();
  }

  /** Nobody knows of a notice that is on disk for some of its channels only: it counts as untold. */
  #isVague({ rule_id, agent_id }: Pick<AlertNotice, 'rule_id' | 'agent_id'>): boolean {
    return [...this.#known.values()].some(
      ({ delivery_id, notice }) =>
        notice.rule_id === rule_id && notice.agent_id === agent_id && !this.store.rows.has(delivery_id),
    );
  }

  /**
   * It counts as told once the channels that lack it are out of its rule: where nobody watches any more, a start says so then to those
   * who had it.
   */
  #isClosedLate({ rule_id, agent_id, phase }: AlertNotice): boolean {
    const rules = this.alerts.area.rules.list('default');
    const channelIds = rules.find((rule) => rule.rule_id === rule_id)?.channel_ids ?? [];
    const isLacked = ({ delivery_id, channel_id, notice }: AlertDelivery) =>
      notice.rule_id === rule_id &&
      notice.agent_id === agent_id &&
      !this.store.rows.has(delivery_id) &&
      !channelIds.includes(channel_id);
    return phase === 'recovered' && [...this.#known.values()].some(isLacked);
  }

  /** Of each alert, what its channel was told last. */
  #lastTold(): Map<string, AlertDelivery> {
    const rows = [...this.store.rows.values()].sort((a, b) =>
      a.notice.notice_id < b.notice.notice_id ? -1 : 1,
    );
    return new Map(
      rows.map((row) => [`${row.notice.rule_id} ${row.notice.agent_id} ${row.channel_id}`, row]),
    );
  }

  #checkOpen(): void {
    const told = this.#lastTold();
    for (const rule of this.alerts.area.rules.list('default'))
      for (const agent of AGENTS)
        for (const channelId of rule.channel_ids) {
          const isWatched = rule.enabled && (rule.agent_id === null || rule.agent_id === agent);
          const isOn = isWatched && this.#incidents.has(agent);
          const last = told.get(`${rule.rule_id} ${agent} ${channelId}`)?.notice;
          if (this.#touchedRules.has(rule.rule_id) || (last !== undefined && this.#isVague(last))) continue;
          const isTold = last !== undefined && last.phase !== 'recovered';
          expect([rule.name, agent, channelId, isTold]).toEqual([rule.name, agent, channelId, isOn]);
        }
  }

  #checkOver(): void {
    for (const [alert, { notice, channel_id }] of this.#lastTold()) {
      if (this.#touchedRules.has(notice.rule_id ?? '') || this.#removedChannels.has(channel_id)) continue;
      if (this.#isVague(notice)) continue;
      expect([alert, notice.phase]).toEqual([alert, 'recovered']);
    }
    const firing = this.alerts.area.rules.list('default').flatMap((rule: AlertRule) => rule.firing);
    expect(firing).toEqual([]);
  }
}

const channelNth = fc.nat({ max: 3 });
const ruleNth = fc.nat({ max: 2 });
const agent = fc.constantFrom<Agent>('a', 'a', 'b');
const some = fc.constantFrom([0], [1], [0, 1], []);
const operatorAct: fc.Arbitrary<OperatorAct> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create' as const), channels: some }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      rule: ruleNth,
      patch: fc.oneof(
        fc.record({ agent_id: fc.constantFrom(null, ...AGENTS) }),
        fc.record({ enabled: fc.boolean() }),
        fc.record({ muteS: fc.constantFrom(1, 5) }),
        fc.record({ channels: some }),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), rule: ruleNth }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('take' as const, 'take' as const, 'hand back' as const),
      rule: ruleNth,
      agent,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('move' as const, 'remove channel' as const, 'test' as const, 'retry all' as const),
      channel: channelNth,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), nth: fc.nat({ max: 6 }) }) },
);
const operatorActs = fc.array(operatorAct, { maxLength: 5 });
const few = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
const acts: fc.Arbitrary<Acts> = fc.record({
  ada: operatorActs,
  ben: operatorActs,
  agents: fc.array(fc.record({ agent, isStopped: fc.boolean() }), { maxLength: 8 }),
  clock: fc.array(fc.record({ ms: fc.constantFrom(1_000, 1_000, 6_000, 61_000) }), { maxLength: 4 }),
  deaths: fc.oneof(
    fc.constant<Acts['deaths']>([]),
    fc.array(fc.record({ written: fc.nat({ max: 3 }), downMs: fc.constantFrom(1, 2_000) }), { maxLength: 2 }),
  ),
  refused: fc.oneof(fc.constant<number[]>([]), fc.array(fc.integer({ min: 5, max: 40 }), { maxLength: 3 })),
  answers: fc.array(fc.constantFrom('takes' as const, 'fails' as const, 'refuses' as const), {
    maxLength: 4,
  }),
  commits: few,
  together: few,
});

it(
  'at once, in any order: who was told that it began hears that it is over, once and in order, and the disk has what is in force',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 60);
  },
  RACES_MS,
);
