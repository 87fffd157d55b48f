/**
 * Operators and the kill switch at two gateways of one Redis stop one agent, let it in and limit it, while gateways are killed and
 * started anew; what they wait for comes in any order. Once both have heard all, both hold what was said last, but for what a gateway
 * that was killed had told nobody, and each disk has what is in force.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  type AgentAct,
  agentScope,
  controlWordSchema,
  type DocumentWrite,
  type Incident,
  ObservatoryError,
  type StoredDocument,
} from '#contracts';
import { deferred } from '#kernel';
import {
  buildIncident,
  checkRaces,
  countingIds,
  FakeTime,
  letAllCome,
  RACES_MS,
  RaceOfActors,
} from '#testing';
import { SettingsAudit } from '../auth/settings-audit.js';
import { AgentCommands } from '../llm-proxy/agents/agent-commands.js';
import { AgentDirectory } from '../llm-proxy/agents/agent-directory.js';
import { IncidentDesk } from '../llm-proxy/agents/incident-desk.js';
import { FakeControlLog, logBehind, SILENT_EVENTS } from './control-log.fixture.js';
import { readSaid } from './said.js';
import { SharedControl } from './shared-control.js';

const AGENT = 'crawler';
const SCOPE = agentScope('default', AGENT);
const IDS = ['A', 'B'] as const;

type Command = 'stop' | 'let in' | 'reactivate' | 'limit' | 'stop and limit' | 'fire' | 'look';
type Does = Command | 'kill' | 'wait' | 'redis away' | 'redis back';
interface Acts {
  /** By gateway, of several who act there at once. */
  actors: Does[][][];
  /** Of each store's writes, those that it refuses. */
  refused: number[];
  together: number[];
}

/** What a gateway finds again. */
class Disk {
  readonly documents = new Map<string, StoredDocument>();
  readonly incidents: Incident[] = [];
  readonly settings = new Map<string, unknown>();
}

/** From a start until it is killed: then nothing of it reaches the disk, the log or its operators. */
class Process {
  readonly agents: AgentDirectory;
  readonly commands: AgentCommands;
  readonly shared: SharedControl;
  readonly desk: IncidentDesk;
  isListening = false;
  isDead = false;
  readonly #died = deferred();
  readonly #queue: (() => void)[] = [];

  constructor(readonly gateway: Gateway) {
    const { race, id, disk } = gateway;
    const { time } = race;
    this.agents = new AgentDirectory({
      store: {
        documents: async (kind: string) =>
          structuredClone([...disk.documents.values()].filter((document) => document.kind === kind)),
        openIncidents: async () =>
          structuredClone(
            disk.incidents
              .filter(({ reactivated_at_ms }) => reactivated_at_ms === null)
              .map((incident) => ({ tenant_id: 'default', incident })),
          ),
        commitDocuments: (write: DocumentWrite) => this.#commit(write),
      } as never,
      audit: new SettingsAudit({ commitControl: () => expect.unreachable() }, time),
      clock: time,
      timer: time,
      onPolicy: () => {},
      onClosed: () => {},
      onUnsaved: () => {},
    });
    this.desk = new IncidentDesk({
      agents: this.agents,
      windows: { forgetWhere: () => 0 },
      store: {
        appendIncident: (_tenantId: string, incident: Incident) =>
          this.#write('incident', () => disk.incidents.push(structuredClone(incident))),
        incidents: async () => ({ items: [], next_cursor: null }),
      } as never,
      live: { publish: () => {} } as never,
      alerts: { note: () => {} },
      events: { killed() {}, incidentUnsaved() {}, incidentLost() {} },
      timer: time,
      nowMs: () => time.nowMs(),
    });
    this.commands = new AgentCommands({
      agents: this.agents,
      incidents: this.desk,
      budgets: { policyChanged: () => this.port('budgets') },
      views: { touch() {} },
    });
    this.shared = new SharedControl({
      log: logBehind(
        race.log,
        (what) => this.port(what),
        () => gateway.isRedisAway,
      ),
      gatewayId: id,
      store: {
        settings: async () => new Map(disk.settings),
        saveSettings: (settings: ReadonlyMap<string, unknown>) =>
          this.#write('cursor', () => {
            for (const [name, value] of settings) disk.settings.set(name, value);
          }),
      } as never,
      obey: async ({ by, left }) => {
        const act = left();
        if (act !== null && 'agent_id' in act)
          await this.commands.hear(by, act.agent_id, left as () => AgentAct | null);
      },
      isStored: () => this.commands.isStored,
      events: SILENT_EVENTS,
      ids: gateway.ids,
      clock: time,
      timer: time,
    });
    this.desk.onOpened = (tenantId, incident) => this.commands.noteKilled(tenantId, incident);
    this.commands.tell = (word) => {
      if (this.isDead) return;
      gateway.told.push(JSON.stringify(word.act));
      this.shared.tell(word);
    };
  }

  async start(): Promise<void> {
    await this.agents.load();
    await this.shared.start();
    this.isListening = true;
  }

  die(): void {
    this.isDead = true;
    this.#died.resolve();
  }

  /** Resolves without the outcome where it dies before. */
  async inLife(outcome: Promise<unknown>): Promise<void> {
    await Promise.race([outcome, this.#died.promise]);
  }

  /** Nothing ever comes of what a dead process waits for. */
  async port(what: string): Promise<void> {
    await this.gateway.race.port(`${this.gateway.id}: ${what}`);
    if (this.isDead) await new Promise(() => {});
  }

  #commit({ saved = [], reactivated }: DocumentWrite): Promise<void> {
    const documents = structuredClone(saved);
    const { disk } = this.gateway;
    return this.#write('policy', () => {
      for (const document of documents)
        disk.documents.set(`${document.kind} ${document.id}`, document as StoredDocument);
      if (reactivated === undefined) return;
      for (const incident of disk.incidents)
        if (incident.reactivated_at_ms === null)
          Object.assign(incident, { reactivated_by: reactivated.by, reactivated_at_ms: reactivated.at_ms });
    });
  }

  /** In their order. */
  #write<Result>(what: string, run: () => Result): Promise<Result> {
    const isRefused = this.gateway.isNextRefused();
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        if (isRefused) reject(new ObservatoryError('store_busy'));
        else resolve(run());
      });
      void this.port(isRefused ? `refusal of ${what}` : what).then(() => this.#queue.shift()?.());
    });
  }
}

class Gateway {
  readonly disk = new Disk();
  readonly ids = countingIds();
  /** Acts, in their order; those that stand in the log come first. */
  told: string[] = [];
  process!: Process;
  isRedisAway = false;
  readonly #unanswered: Command[] = [];
  #writeCount = 0;
  #serial = 0;

  constructor(
    readonly race: Race,
    readonly id: (typeof IDS)[number],
  ) {}

  isNextRefused(): boolean {
    this.#writeCount += 1;
    return !this.race.isFree && this.race.acts.refused.includes(this.#writeCount);
  }

  async start(): Promise<void> {
    this.process = new Process(this);
    await this.process.inLife(this.process.start());
  }

  async act(does: Does): Promise<void> {
    if (does === 'kill') return this.kill();
    if (does === 'wait') return this.race.time.pass(1_000);
    if (does === 'redis away' || does === 'redis back') {
      this.isRedisAway = does === 'redis away';
      return;
    }
    const { process } = this;
    if (!process.isListening) return;
    this.#unanswered.push(does);
    await process.inLife(this.#command(process, does).catch((error) => this.#refused(error)));
    if (!process.isDead) this.#unanswered.splice(this.#unanswered.indexOf(does), 1);
  }

  #command({ commands, desk, shared }: Process, does: Command): Promise<unknown> {
    this.#serial += 1;
    const by = { operator_id: `${this.id}${this.#serial}`, tenant_id: 'default', role: 'admin' } as const;
    const session_calls_max = this.#serial * 2 + (this.id === 'A' ? 0 : 1);
    const reason = `${this.id} ${this.#serial}`;
    switch (does) {
      case 'stop':
        return commands.deactivate(by, AGENT, reason);
      case 'stop and limit':
        return commands.patchPolicy(by, AGENT, { active: false, reason, session_calls_max });
      case 'let in':
        return commands.patchPolicy(by, AGENT, { active: true, session_calls_max });
      case 'limit':
        return commands.patchPolicy(by, AGENT, { session_calls_max });
      case 'reactivate':
        return commands.reactivate(by, AGENT);
      case 'fire':
        return desk.open('default', buildIncident({ incident_id: reason, agent_id: AGENT, session_id: 's' }));
      case 'look':
        return shared.look();
    }
  }

  #refused(error: unknown): void {
    if (!(error instanceof ObservatoryError)) throw error;
  }

  async kill(): Promise<void> {
    const { process, race } = this;
    process.die();
    const heard = race.log.entries.filter(({ text }) => readSaid(text)?.from === this.id).length;
    for (const text of this.told.splice(heard)) {
      race.note(`${this.id} had told nobody: ${text}`);
      for (const name of decided(JSON.parse(text) as AgentAct)) race.untold.add(name);
    }
    for (const does of this.#unanswered.splice(0))
      for (const name of MAY_DECIDE[does] ?? []) race.untold.add(name);
    await this.start();
    race.note(`${this.id} started: active ${this.process.agents.policy(SCOPE).active}`);
  }
}

/** Of a command that was never answered: it may be on disk. */
const MAY_DECIDE: Partial<Record<Command, readonly string[]>> = {
  stop: ['active'],
  fire: ['active'],
  reactivate: ['active'],
  limit: ['session_calls_max'],
  'let in': ['active', 'session_calls_max'],
  'stop and limit': ['active', 'session_calls_max'],
};

const decided = (act: AgentAct): string[] =>
  act.kind === 'killed' ? ['active'] : Object.keys(act.patch).filter((name) => name !== 'reason');

class Race extends RaceOfActors {
  readonly time = new FakeTime();
  readonly log = new FakeControlLog();
  readonly gateways = IDS.map((id) => new Gateway(this, id));
  /** What nobody will hear of any more: fields of the policy. */
  readonly untold = new Set<string>();

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
  }

  async begin(): Promise<void> {
    this.isFree = true;
    for (const gateway of this.gateways) await gateway.start();
    this.isFree = false;
  }

  async run(): Promise<void> {
    for (const [at, gateway] of this.gateways.entries())
      for (const [nth, acts] of (this.acts.actors[at] ?? []).entries())
        void this.actor(`${gateway.id}${nth}`, acts, (does) => gateway.act(does));
    // Who waits for time alone goes on behind what the scheduler knows.
    for (let nth = 0; nth < 20 && this.busyCount > 0; nth += 1)
      await letAllCome(this.scheduler, this.acts.together);
    expect(this.busyCount).toBe(0);
    this.isFree = true;
    for (const gateway of this.gateways) gateway.isRedisAway = false;
    for (let round = 0; round < 6; round += 1)
      for (const { process } of this.gateways) {
        await process.shared.lookAnew();
        await this.time.pass(2_000);
      }
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    const stands = (agents: AgentDirectory) => {
      const { active, session_calls_max } = agents.policy(SCOPE);
      return { active, session_calls_max };
    };
    const said: Record<string, unknown> = { active: true, session_calls_max: null };
    for (const { text } of this.log.entries) {
      const { act } = controlWordSchema.parse(JSON.parse(text));
      if (act.kind === 'killed') said.active = false;
      else if (act.kind === 'policy') Object.assign(said, act.patch, { reason: undefined });
    }
    for (const gateway of this.gateways) {
      const { process, id, race } = gateway;
      this.note(`${id} ends: ${JSON.stringify(stands(process.agents))}`);
      expect([id, process.shared.waitingCount]).toEqual([id, 0]);
      const now = stands(process.agents);
      for (const [name, value] of Object.entries(now))
        if (!race.untold.has(name)) expect([id, name, value]).toEqual([id, name, said[name]]);
      const again = new Process(gateway);
      await again.agents.load();
      expect([id, stands(again.agents)]).toEqual([id, now]);
    }
  }
}

const does = fc.constantFrom<Does>(
  'stop',
  'stop',
  'let in',
  'reactivate',
  'reactivate',
  'limit',
  'stop and limit',
  'fire',
  'kill',
  'look',
  'look',
  'wait',
  'redis away',
  'redis back',
);
const actors = fc.array(fc.array(does, { maxLength: 5 }), { maxLength: 3 });
const acts: fc.Arbitrary<Acts> = fc.record({
  actors: fc.tuple(actors, actors) as fc.Arbitrary<Does[][][]>,
  refused: fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 3 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
});
afterAll(() => {
  vi.useRealTimers();
});

it(
  'gateways that are killed and started end as they were told last',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 300);
  },
  RACES_MS,
);
