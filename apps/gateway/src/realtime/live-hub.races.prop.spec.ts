/**
 * Events published, snapshots read, sockets that come, leave, lose what is on its way and come back with the last number they heard,
 * in any order. Whatever the order: who follows a topic has, behind its snapshot, each event once and in order, and of its tenant
 * alone; or is told to begin anew.
 */
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  type Frame,
  type LiveEvent,
  ObservatoryError,
  type SubscribeAck,
  sessionTopic,
  TOPICS,
  type Topic,
} from '#contracts';
import { checkRaces, letAllCome, RACES_MS, RaceOfActors } from '#testing';
import { LiveHub } from './live-hub.js';
import { LiveSockets } from './live-sockets.js';

const TENANTS = ['one', 'two'] as const;
/** That leaves at once and is read from the store, that waits for a frame and is in memory, and both. */
const PLACES = [TOPICS.incidents, TOPICS.violations, sessionTopic('s')] as const;
const SESSION = sessionTopic('s');
/** So many of them are kept that a fourth pushes the first out. */
const LONG_CHARS = 5 * 1024 * 1024;
/** More than there are subscriptions at once. */
const TURNS_MAX = 20;

type Publish = { tenant: number; topic: number; count: number; isLong: boolean; isUrgent: boolean };
type ClientAct =
  | { do: 'subscribe'; topic: number; anew: boolean }
  | { do: 'unsubscribe'; topic: number }
  | { do: 'hear' }
  | { do: 'reconnect'; lostCount: number };
type Acts = {
  publishers: Publish[][];
  clients: { tenant: number; acts: ClientAct[] }[];
  frameCount: number;
  restartCount: number;
  /** Of the snapshots from the store, those that it refuses. */
  refused: readonly number[];
};

interface Item {
  id: string;
  kind: string;
}

interface View {
  seq: number;
  ids: string[];
}

/** What a client of the documented protocol keeps of one topic. */
interface Followed {
  view: View | null;
  /** Subscriptions without an answer. */
  openCount: number;
  /** Two were under way at once: what comes may have been had. */
  isLoose: boolean;
}

type Message = { topic: string; ack: SubscribeAck } | { topic: string; frame: Frame };

/** The rooms of Socket.IO, and what is on its way to each socket. */
class Wire {
  readonly rooms = new Map<string, Set<FakeSocket>>();
  readonly sockets = new Map<string, FakeSocket>();
  readonly adapter = { rooms: this.rooms };
  readonly #connections = new EventEmitter();
  use(): void {}
  on(event: string, listener: (socket: FakeSocket) => void): void {
    this.#connections.on(event, listener);
  }
  connect(socket: FakeSocket): void {
    this.#connections.emit('connection', socket);
  }
  to(room: string) {
    return {
      emit: (_event: string, frame: Frame) => {
        for (const socket of this.rooms.get(room) ?? []) socket.send({ topic: frame.topic, frame });
      },
    };
  }
}

class FakeSocket extends EventEmitter {
  readonly data: { principal: { tenant_id: string } };
  line: Message[] = [];
  #isOpen = true;

  constructor(
    readonly wire: Wire,
    tenantId: string,
  ) {
    super();
    this.data = { principal: { tenant_id: tenantId } };
  }

  send(message: Message): void {
    if (this.#isOpen) this.line.push(structuredClone(message));
  }
  override emit(event: string, ...args: unknown[]): boolean {
    if (event !== 'frame') return super.emit(event, ...args);
    const [frame] = args as [Frame];
    this.send({ topic: frame.topic, frame });
    return true;
  }
  join(room: string): void {
    this.wire.rooms.set(room, (this.wire.rooms.get(room) ?? new Set()).add(this));
  }
  leave(room: string): void {
    const members = this.wire.rooms.get(room);
    if (members?.delete(this) && members.size === 0) this.wire.rooms.delete(room);
  }
  close(): void {
    this.#isOpen = false;
    // As Socket.IO does: it is out of its rooms before it is told.
    for (const room of [...this.wire.rooms.keys()]) this.leave(room);
    super.emit('disconnect');
  }
}

class Client {
  readonly tenantId: string;
  readonly topics = new Map<string, Followed>();
  #socket: FakeSocket;
  #isAway = false;

  constructor(
    readonly race: Race,
    readonly name: string,
    tenant: number,
  ) {
    this.tenantId = TENANTS[tenant] as string;
    this.#socket = this.#connect();
  }

  async act(act: ClientAct): Promise<void> {
    if (this.#isAway) return;
    if (act.do === 'subscribe') this.#subscribe(PLACES[act.topic] as Topic, act.anew);
    else if (act.do === 'unsubscribe') {
      const topic = PLACES[act.topic] as Topic;
      this.hear();
      this.topics.delete(topic);
      this.#socket.emit('unsubscribe', { topic });
    } else if (act.do === 'reconnect') await this.reconnect(act.lostCount);
    else this.hear();
  }

  async reconnect(lostCount: number): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    const { line } = this.#socket;
    line.length = Math.max(0, line.length - lostCount);
    this.hear();
    this.#socket.close();
    await this.race.port(`${this.name} is away`);
    this.#isAway = false;
    this.#socket = this.#connect();
    for (const [topic, followed] of this.topics) {
      Object.assign(followed, { openCount: 0, isLoose: false });
      this.#subscribe(topic as Topic, false);
    }
  }

  leave(): void {
    this.hear();
    this.#socket.close();
  }

  hear(): void {
    for (const message of this.#socket.line.splice(0)) {
      const followed = this.topics.get(message.topic);
      if (followed === undefined) continue;
      if ('ack' in message) this.#onAck(followed, message.ack);
      else this.#onFrame(message.topic, followed, message.frame);
    }
  }

  #connect(): FakeSocket {
    const socket = new FakeSocket(this.race.wire, this.tenantId);
    this.race.wire.connect(socket);
    return socket;
  }

  #subscribe(topic: Topic, anew: boolean): void {
    this.hear();
    const followed = this.topics.get(topic) ?? { view: null, openCount: 0, isLoose: false };
    this.topics.set(topic, followed);
    followed.isLoose ||= followed.openCount > 0;
    followed.openCount += 1;
    if (anew) followed.view = null;
    const socket = this.#socket;
    const seq = followed.view?.seq;
    socket.emit('subscribe', { topic, ...(seq !== undefined && { after_seq: seq }) }, (ack: SubscribeAck) => {
      // Of what was unsubscribed from, or is asked for anew, nobody waits for an answer.
      if (this.topics.get(topic) === followed) socket.send({ topic, ack });
    });
  }

  #onAck(followed: Followed, ack: SubscribeAck): void {
    followed.openCount -= 1;
    this.race.trail.push(`  ${this.name} hears ${JSON.stringify(ack)}`);
    if (ack.status === 'error') {
      expect(ack.reason).toBe('store_busy');
      // Another that is under way may yet be answered.
      if (followed.openCount === 0) followed.view = null;
    } else if (ack.kind === 'deltas') {
      this.#take(ack.topic, followed, ack.events);
      expect(followed.view?.seq).toBeGreaterThanOrEqual(ack.seq);
    } else {
      followed.view = { seq: ack.seq, ids: (ack.snapshot as Item[]).map(({ id }) => id) };
    }
  }

  #onFrame(topic: string, followed: Followed, frame: Frame): void {
    this.race.trail.push(`  ${this.name} hears ${JSON.stringify(frame)}`);
    expect(frame.events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: frame.to_seq - frame.from_seq + 1 }, (_, nth) => frame.from_seq + nth),
    );
    // Without a snapshot, or where one is awaited, there is nothing to build on.
    if (followed.view === null) return;
    if (!followed.isLoose) expect([topic, frame.from_seq]).toEqual([topic, followed.view.seq + 1]);
    this.#take(topic, followed, frame.events);
  }

  #take(topic: string, { view }: Followed, events: readonly LiveEvent[]): void {
    if (view === null) throw new Error(`${topic}: what follows a snapshot that nobody gave`);
    for (const { seq, payload } of events) {
      const { id } = payload as Item;
      this.race.noteHeard(this.tenantId, topic, seq, id);
      if (seq <= view.seq) continue;
      expect([topic, seq]).toEqual([topic, view.seq + 1]);
      view.seq = seq;
      // A snapshot may be newer than its number.
      if (!view.ids.includes(id)) view.ids.push(id);
    }
  }
}

class Race extends RaceOfActors {
  wire = new Wire();
  #hub!: LiveHub;
  readonly #clients: Client[] = [];
  readonly #happened = new Map<string, Item[]>();
  readonly #heard = new Map<string, string>();
  #reserved = 0;
  #serial = 0;
  #lookCount = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
  }

  async begin(): Promise<void> {
    await this.#start();
    for (const [nth, { tenant }] of this.acts.clients.entries())
      this.#clients.push(new Client(this, `client ${nth}`, tenant));
  }

  async run(): Promise<void> {
    const { publishers, clients, frameCount, restartCount } = this.acts;
    for (const [nth, acts] of publishers.entries())
      void this.actor(`publisher ${nth}`, acts, (act) => this.#publish(act));
    for (const [nth, { acts }] of clients.entries())
      void this.actor(`client ${nth}`, acts, (act) => this.#clients[nth]?.act(act));
    void this.actor('frame', new Array(frameCount).fill(0), () => this.#hub.flush());
    void this.actor('restart', new Array(restartCount).fill(0), () => this.#restart());
    // Each snapshot waits for a turn of its own, behind those that were asked for before.
    for (let turns = 0; turns < TURNS_MAX; turns += 1) await letAllCome(this.scheduler, [1]);
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    this.isFree = true;
    this.#hub.flush();
    for (const client of this.#clients) {
      client.hear();
      for (const [topic, { view, openCount }] of client.topics) {
        expect([client.name, topic, openCount]).toEqual([client.name, topic, 0]);
        if (view === null) continue;
        const happened = this.#of(client.tenantId, topic).map(({ id }) => id);
        expect([client.name, topic, view.ids]).toEqual([client.name, topic, happened]);
      }
      client.leave();
    }
    expect([...this.#hub.watchedTenants()]).toEqual([]);
    expect(this.wire.rooms.size).toBe(0);
    this.#hub.stop();
  }

  /** A number stands for the same event, whoever hears it. */
  noteHeard(tenantId: string, topic: string, seq: number, id: string): void {
    const place = `${tenantId} ${topic} ${seq}`;
    expect([place, this.#heard.get(place) ?? id]).toEqual([place, id]);
    this.#heard.set(place, id);
    expect(id.startsWith(`${tenantId} ${topic} `)).toBe(true);
  }

  async #start(): Promise<void> {
    this.wire = new Wire();
    this.#hub = new LiveHub({
      reserveSequences: async (count) => {
        this.#reserved += count;
        return this.#reserved - count;
      },
      onReserveFailed: () => {},
    });
    const sockets = new LiveSockets({
      namespace: this.wire as never,
      hub: this.#hub,
      authenticate: () => ({ ok: false, code: 'unauthorized' }),
      events: { connected: () => {}, subscribeFailed: () => {} },
    });
    await this.#hub.start((tenantId, frame) => sockets.send(tenantId, frame));
    this.#hub.provideSnapshot(TOPICS.violations, (tenantId) => [...this.#of(tenantId, TOPICS.violations)]);
    this.#hub.provideSnapshot(TOPICS.incidents, (tenantId) => this.#read(tenantId, TOPICS.incidents));
    this.#hub.provideSnapshot('session:', (tenantId) => this.#read(tenantId, SESSION));
  }

  async #restart(): Promise<void> {
    const clients = [...this.#clients];
    this.#hub.stop();
    await this.#start();
    await Promise.all(clients.map((client) => client.reconnect(1)));
  }

  async #read(tenantId: string, topic: Topic): Promise<Item[]> {
    this.#lookCount += 1;
    const isRefused = this.acts.refused.includes(this.#lookCount);
    await this.port('look');
    const seen = [...this.#of(tenantId, topic)];
    await this.port('seen');
    if (isRefused) throw new ObservatoryError('store_busy');
    return seen;
  }

  #publish({ tenant, topic: place, count, isLong, isUrgent }: Publish): void {
    const tenantId = TENANTS[tenant] as string;
    const topic = PLACES[place] as Topic;
    for (let nth = 0; nth < count; nth += 1) {
      this.#serial += 1;
      const isStep = topic === SESSION && !isUrgent;
      const item = { id: `${tenantId} ${topic} ${this.#serial}`, kind: isStep ? 'step' : 'control' };
      this.#of(tenantId, topic).push(item);
      // As steps are: for who comes back they count, whether or not their session is watched.
      if (isStep) this.#hub.publish(tenantId, TOPICS.messages, item as never);
      if (isStep && !this.#hub.isSessionWatched(tenantId, 's')) continue;
      this.#hub.publish(tenantId, topic, item as never, isLong ? LONG_CHARS : 10);
    }
  }

  #of(tenantId: string, topic: string): Item[] {
    const key = `${tenantId} ${topic}`;
    const items = this.#happened.get(key) ?? [];
    this.#happened.set(key, items);
    return items;
  }
}

const tenant = fc.constantFrom(0, 0, 0, 1);
const topic = fc.constantFrom(0, 1, 2, 2);
const publish: fc.Arbitrary<Publish> = fc.record({
  tenant,
  topic,
  count: fc.constantFrom(1, 1, 2, 5),
  isLong: fc.boolean(),
  isUrgent: fc.boolean(),
});
const clientAct: fc.Arbitrary<ClientAct> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('subscribe' as const), topic, anew: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unsubscribe' as const), topic }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hear' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('reconnect' as const), lostCount: fc.constantFrom(0, 0, 1, 2) }),
  },
);
const acts: fc.Arbitrary<Acts> = fc.record({
  publishers: fc.array(fc.array(publish, { maxLength: 6 }), { minLength: 1, maxLength: 2 }),
  clients: fc.array(fc.record({ tenant, acts: fc.array(clientAct, { maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  frameCount: fc.nat({ max: 4 }),
  restartCount: fc.constantFrom(0, 0, 0, 1),
  refused: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 1 }),
});

// The hub's own frames would come by the time of day.
beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

it(
  'at once, in any order: who follows a topic has each event once and in order, or begins anew',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 400);
  },
  RACES_MS,
);
