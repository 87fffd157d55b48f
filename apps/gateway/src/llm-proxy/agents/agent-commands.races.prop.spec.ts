/**
 * Operators and the kill switch at once about one agent, or operators about all of them, at two gateways of one Redis; what they wait for comes in any order. Whatever
 * the order: nobody lets in what the kill switch stopped since, one operator wins, gateways agree, and memory is what the disk has.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AgentAct,
  type AgentPolicy,
  type AgentScope,
  ALL_AGENTS,
  type AuditDraft,
  agentScope,
  type DocumentWrite,
  type Incident,
  ObservatoryError,
  type StoredDocument,
} from '#contracts';
import { buildIncident, checkRaces, countingIds, FakeTime, RACES_MS, RaceOfActors, turn } from '#testing';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { FakeControlLog, logBehind, SILENT_EVENTS } from '../../shared-control/control-log.fixture.js';
import { SharedControl } from '../../shared-control/shared-control.js';
import { AgentCommands } from './agent-commands.js';
import { AgentDirectory } from './agent-directory.js';
import { IncidentDesk } from './incident-desk.js';

type Does =
  | 'reactivate'
  | 'deactivate'
  | 'stop as before'
  | 'stop by patch'
  | 'stop and limit'
  | 'limit'
  | 'let in'
  | 'switch';

interface Acts {
  /** All of them together, which the kill switch never stops; or one. */
  agent: typeof ALL_AGENTS | 'crawler';
  /** Of operators, by gateway. */
  operators: Does[][][];
  /** How often the kill switch fires, by gateway. */
  fires: number[];
  waits: number[];
  /** Of each store's writes, those that it refuses. */
  refused: number[];
  together: number[];
}

type Port = (what: string) => Promise<void>;

/** One gateway's: writes are committed in order, when the scheduler says; what is read is as it was at some moment in between. */
class RaceStore {
  readonly saved = new Map<string, StoredDocument>();
  readonly incidents: Incident[] = [];
  readonly audit: AuditDraft[] = [];
  refusedCount = 0;
  #nth = 0;
  readonly #queue: (() => void)[] = [];

  constructor(
    readonly port: Port,
    readonly refused: readonly number[],
  ) {}

  #write<Result>(what: string, run: () => Result): Promise<Result> {
    this.#nth += 1;
    const isRefused = this.refused.includes(this.#nth);
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        if (!isRefused) resolve(run());
        else {
          this.refusedCount += 1;
          reject(new ObservatoryError('store_busy'));
        }
      });
      void this.port(isRefused ? `refusal of ${what}` : what).then(() => this.#queue.shift()?.());
    });
  }

  commitDocuments({ saved = [], audit = [], reactivated }: DocumentWrite): Promise<void> {
    const documents = structuredClone(saved);
    return this.#write('policy', () => {
      for (const document of documents)
        this.saved.set(`${document.kind} ${document.id}`, document as StoredDocument);
      this.audit.push(...audit);
      if (reactivated === undefined) return;
      for (const incident of this.incidents)
        if (incident.reactivated_at_ms === null)
          Object.assign(incident, { reactivated_by: reactivated.by, reactivated_at_ms: reactivated.at_ms });
    });
  }
  appendIncident(_tenantId: string, incident: Incident): Promise<number> {
    return this.#write('incident', () => {
      const known = this.incidents.findIndex(({ incident_id }) => incident_id === incident.incident_id);
      return known === -1 ? this.incidents.push(structuredClone(incident)) : known + 1;
    });
  }
  async documents(kind: string): Promise<StoredDocument[]> {
    return structuredClone([...this.saved.values()].filter((document) => document.kind === kind));
  }
  async openIncidents() {
    const open = this.incidents.filter(({ reactivated_at_ms }) => reactivated_at_ms === null);
    return structuredClone(open.map((incident) => ({ tenant_id: 'default', incident })));
  }
  async incidentsPage() {
    await this.port('look');
    const items = structuredClone(this.incidents).reverse();
    await this.port('seen');
    return { items, next_cursor: null };
  }
}

const STOPS: ReadonlySet<Does> = new Set(['deactivate', 'stop as before', 'stop by patch', 'stop and limit']);

interface Deed {
  by: string;
  does: Does;
  begin: number;
  end: number;
  outcome: string | null;
}

class Gateway {
  readonly store: RaceStore;
  readonly agents: AgentDirectory;
  readonly desk: IncidentDesk;
  readonly commands: AgentCommands;
  readonly shared: SharedControl;
  readonly deeds: Deed[] = [];
  readonly fired: { id: string; atTick: number }[] = [];
  /** As people saw each incident, in order. */
  readonly shown = new Map<string, (string | null)[]>();
  readonly notes: string[] = [];
  /** Moments at which its policy let it call, though it had been stopped since whoever let it in asked. */
  readonly wrong: string[] = [];

  constructor(
    readonly id: string,
    readonly race: Race,
  ) {
    const { time, acts } = race;
    const port: Port = (what) => race.port(`${id} ${what}`);
    this.store = new RaceStore(port, acts.refused);
    this.agents = this.directory(() => this.#look());
    this.desk = new IncidentDesk({
      agents: this.agents,
      windows: { forgetWhere: () => 0 },
      store: {
        appendIncident: this.store.appendIncident.bind(this.store),
        incidents: () => this.store.incidentsPage(),
      } as never,
      live: {
        publish: (_tenantId: string, _topic: string, { incident_id, reactivated_by }: Incident) =>
          void this.shown.set(incident_id, [...(this.shown.get(incident_id) ?? []), reactivated_by]),
      } as never,
      alerts: { note: ({ kind }) => void this.notes.push(kind) },
      events: { killed() {}, incidentUnsaved() {}, incidentLost() {} },
      timer: time,
      nowMs: () => time.nowMs(),
    });
    this.commands = new AgentCommands({
      agents: this.agents,
      incidents: this.desk,
      budgets: { policyChanged: () => port('budgets') },
      views: { touch() {} },
    });
    this.shared = new SharedControl({
      log: logBehind(race.log, port),
      gatewayId: id,
      store: { settings: async () => new Map(), saveSettings: () => port('cursor') },
      obey: async ({ by, left }) => {
        const act = left();
        if (act !== null && 'agent_id' in act)
          await this.commands.hear(by, act.agent_id, left as () => AgentAct | null);
      },
      isStored: () => this.commands.isStored,
      events: SILENT_EVENTS,
      ids: countingIds(),
      clock: time,
      timer: time,
    });
    this.desk.onOpened = (tenantId, incident) => this.commands.noteKilled(tenantId, incident);
    this.commands.tell = (word) => this.shared.tell(word);
  }

  directory(onPolicy = () => {}): AgentDirectory {
    const { time } = this.race;
    return new AgentDirectory({
      store: this.store,
      audit: new SettingsAudit({ commitControl: () => expect.unreachable() }, time),
      clock: time,
      timer: time,
      onPolicy,
      onClosed: () => {},
      onUnsaved: () => {},
    });
  }

  get policy(): AgentPolicy {
    return this.agents.policy(this.race.scope);
  }

  /** Who lets it in must have asked after it was stopped here last. */
  #look(): void {
    const stops = this.deeds
      .filter((deed) => STOPS.has(deed.does))
      .map(({ by, begin }) => ({ id: by, atTick: begin }));
    const last = [...stops, ...this.fired].toSorted((one, other) => one.atTick - other.atTick).at(-1);
    if (last === undefined || !this.policy.active) return;
    const isAsked = this.race.gateways.some((gateway) =>
      gateway.deeds.some(
        ({ does, begin }) =>
          (does === 'reactivate' || does === 'let in') && (gateway !== this || begin > last.atTick),
      ),
    );
    if (!isAsked) this.wrong.push(`${last.id} at ${this.race.tick()}`);
  }

  fire(): Promise<unknown> {
    const id = `${this.id}-${this.race.tick()}`;
    this.fired.push({ id, atTick: this.race.tick() });
    this.race.note(`${id} fires`);
    return this.desk.open(
      'default',
      buildIncident({ incident_id: id, agent_id: this.race.acts.agent, session_id: 's' }),
    );
  }

  async command(by: string, does: Does): Promise<void> {
    const commander = { operator_id: by, tenant_id: 'default', role: 'admin' } as const;
    const serial = this.race.tick();
    const deed: Deed = { by, does, begin: serial, end: Number.POSITIVE_INFINITY, outcome: null };
    this.deeds.push(deed);
    const { commands } = this;
    const { agent } = this.race.acts;
    const act = async (): Promise<string> => {
      if (does === 'reactivate') return commands.reactivate(commander, agent);
      if (does === 'deactivate' || does === 'stop as before') {
        const stopped = commands.deactivate(
          commander,
          agent,
          does === 'deactivate' ? `${by} ${serial}` : 'as before',
        );
        expect([deed, this.policy.active]).toEqual([deed, false]);
        return String(await stopped);
      }
      if (does === 'stop by patch') {
        const stopped = commands.patchPolicy(commander, agent, { active: false });
        expect([deed, this.policy.active]).toEqual([deed, false]);
        return `stopped ${(await stopped).active}`;
      }
      // All of them together have none: a limit, then.
      if (does === 'switch' && agent !== ALL_AGENTS)
        return String(
          (await commands.patchKillSwitch(commander, agent, { threshold: 1 + (serial % 50) })).threshold,
        );
      const patch = {
        session_calls_max: serial,
        ...(does === 'let in' && { active: true }),
        ...(does === 'stop and limit' && { active: false, reason: `${by} ${serial}` }),
      };
      const changed = commands.patchPolicy(commander, agent, patch);
      if (STOPS.has(does)) expect([deed, this.policy.active]).toEqual([deed, false]);
      const { session_calls_max, active } = await changed;
      return `${session_calls_max} ${active}`;
    };
    deed.outcome = await act().catch((error: unknown) => {
      if (!(error instanceof ObservatoryError)) throw error;
      return error.detail?.startsWith('The stop is in force') ? 'in force' : error.code;
    });
    deed.end = this.race.tick();
    this.race.note(`${this.id} ${by} ${does} ${serial} was answered ${deed.outcome}`);
    const isIn = deed.outcome === 'reactivated' || deed.outcome === 'already_active';
    if (isIn && !this.policy.active) {
      const isStopped = this.fired.some(({ atTick }) => atTick > deed.begin);
      const isOther = this.race.gateways.some(
        (gateway) =>
          // That of another is heard some time after it.
          gateway.deeds.some((one) => STOPS.has(one.does) && (gateway !== this || one.end > deed.begin)) ||
          (gateway !== this && gateway.fired.length > 0),
      );
      expect([deed, isStopped || isOther]).toEqual([deed, true]);
    }
  }
}

class Race extends RaceOfActors {
  readonly time = new FakeTime();
  readonly log = new FakeControlLog();
  readonly scope: AgentScope;
  readonly gateways: Gateway[];
  #ticks = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    this.scope = agentScope('default', acts.agent);
    this.gateways = acts.operators.map((_, at) => new Gateway('AB'[at] as string, this));
  }

  tick(): number {
    this.#ticks += 1;
    return this.#ticks;
  }
  override note(what: string): void {
    this.trail.push(`${this.tick()} ${what}`);
  }
  async run(): Promise<void> {
    for (const [at, gateway] of this.gateways.entries()) {
      for (const [nth, does] of (this.acts.operators[at] ?? []).entries()) {
        const name = `${gateway.id.toLowerCase()}${nth}`;
        void this.actor(name, does, (one) => gateway.command(name, one));
      }
      void this.actor(
        `kill switch of ${gateway.id}`,
        Array.from({ length: this.acts.agent === ALL_AGENTS ? 0 : (this.acts.fires[at] ?? 0) }, () => ''),
        () => gateway.fire(),
      );
    }
    void this.actor('clock', this.acts.waits, (ms) => this.time.pass(ms));
    await this.#idle();
    expect(this.busyCount).toBe(0);
    // What was refused is written again, and every gateway hears all.
    for (let round = 0; round < 4; round += 1) {
      void this.time.pass(5_000);
      await this.#idle();
      for (const { shared } of this.gateways) void shared.look();
      await this.#idle();
    }
  }

  async #idle(): Promise<void> {
    await turn();
    for (let nth = 0; ; nth += 1) {
      if (this.scheduler.count() === 0) {
        await turn();
        await turn();
        await turn();
        if (this.scheduler.count() === 0) return;
      }
      await this.scheduler.waitOne();
      const { together } = this.acts;
      if (nth % (together[nth % together.length] ?? 1) === 0) await turn();
    }
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    const isRefused = this.gateways.some(({ store }) => store.refusedCount > 0);
    for (const gateway of this.gateways) {
      const { agents, store, shown, wrong, policy } = gateway;
      expect(wrong).toEqual([]);
      // What a start reads is what is in force.
      const again = gateway.directory();
      await again.load();
      const brief = ({ updated_at_ms: _, ...rest }: AgentPolicy) => rest;
      expect(brief(again.policy(this.scope))).toEqual(brief(policy));
      expect(again.killSwitch(this.scope)).toEqual(agents.killSwitch(this.scope));
      if (policy.active)
        expect([agents.openIncidentId(this.scope), await store.openIncidents()]).toEqual([null, []]);
      this.#checkAudit(gateway);
      for (const [id, states] of shown) {
        const kept = store.incidents.find(({ incident_id }) => incident_id === id);
        expect([id, states.at(-1)]).toEqual([id, kept?.reactivated_by]);
        const first = states.findIndex((by) => by !== null);
        if (first !== -1) expect([id, states.slice(first).includes(null)]).toEqual([id, false]);
      }
      expect(gateway.shared.waitingCount).toBe(0);
    }
    const [first, ...others] = this.gateways.map(({ policy, agents }) => ({
      active: policy.active,
      calls: policy.session_calls_max,
      threshold: agents.killSwitch(this.scope).threshold,
    }));
    if (!isRefused) for (const other of others) expect(other).toEqual(first);
  }

  /** It is let in once for each time that it was stopped, and each operator is told what is on record. */
  #checkAudit({ id, store, deeds }: Gateway): void {
    let isActive = true;
    for (const { action, operator_id } of store.audit) {
      if (action === 'agent.reactivate') {
        expect([action, operator_id, isActive]).toEqual([action, operator_id, false]);
        isActive = true;
      } else if (action === 'agent.deactivate') isActive = false;
    }
    for (const by of new Set(deeds.map((deed) => deed.by))) {
      const own = deeds.filter((deed) => deed.by === by);
      const wonCount = own.filter(({ outcome }) => outcome === 'reactivated').length;
      const lines = store.audit.filter(
        ({ operator_id, action }) => operator_id === by && action === 'agent.reactivate',
      );
      const spareCount = own.filter(
        ({ does, outcome }) => does === 'let in' || outcome === 'stopped_again',
      ).length;
      expect([by, lines.length >= wonCount && lines.length <= wonCount + spareCount]).toEqual([by, true]);
      // Also what the store refused at first.
      const isWritten = ({ outcome }: Deed) => outcome === 'true' || outcome === 'in force';
      const stops = own.filter((deed) => deed.does === 'deactivate' && isWritten(deed)).length;
      const news = own.filter((deed) => deed.does === 'stop as before' && deed.outcome === 'true').length;
      const other = own.filter(({ does }) => STOPS.has(does) && does !== 'deactivate').length;
      const stopLines = store.audit.filter(
        ({ operator_id, action }) => operator_id === by && action === 'agent.deactivate',
      );
      expect([by, stopLines.length >= stops + news, stopLines.length <= stops + other]).toEqual([
        by,
        true,
        true,
      ]);
    }
    // As they came into force here: an operator's, which names its moment, and those of the kill switch.
    const moments = store.audit.flatMap(
      ({ action, detail: { reason, incident_id, gateway_id, ...others } }) =>
        action !== 'agent.deactivate' || gateway_id !== undefined || others.session_calls_max !== undefined
          ? []
          : [
              Number(/^(?:[ab]\d |%-)(\d+)$/.exec(String(reason ?? incident_id).replace(id, '%'))?.[1]),
            ].filter(Number.isFinite),
    );
    expect(moments).toEqual([...new Set(moments)].toSorted((one, other) => one - other));
  }
}

const does = fc.constantFrom<Does>(
  'reactivate',
  'reactivate',
  'reactivate',
  'deactivate',
  'stop as before',
  'stop by patch',
  'stop and limit',
  'limit',
  'let in',
  'switch',
);
const acts: fc.Arbitrary<Acts> = fc.record({
  agent: fc.oneof({ weight: 4, arbitrary: fc.constant('crawler') }, fc.constant(ALL_AGENTS)),
  operators: fc.oneof(
    { weight: 2, arbitrary: fc.tuple(fc.array(fc.array(does, { maxLength: 4 }), { maxLength: 3 })) },
    {
      weight: 3,
      arbitrary: fc.tuple(
        fc.array(fc.array(does, { maxLength: 3 }), { maxLength: 2 }),
        fc.array(fc.array(does, { maxLength: 3 }), { maxLength: 2 }),
      ),
    },
  ),
  fires: fc.array(fc.nat({ max: 2 }), { minLength: 2, maxLength: 2 }),
  waits: fc.array(fc.constantFrom(1, 5_000), { maxLength: 2 }),
  refused: fc.oneof(fc.constant([]), fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 3 })),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
}) as fc.Arbitrary<Acts>;

it(
  'at once, in any order: who was stopped since is not let in, one operator wins, and all gateways and their disks agree',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 400);
  },
  RACES_MS,
);
