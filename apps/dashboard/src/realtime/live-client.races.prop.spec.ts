/**
 * A page that follows a topic while its gateway is slow, refuses, restarts or cuts it off, in any order in which what each sends
 * arrives. Whatever the order: what is shown is what happened, from the beginning on, each once and in order, it never goes back, and
 * once all has come it is all that happened: nothing waits for the next event.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Frame, LiveEvent, SubscribeAck } from '#contracts';
import { checkRaces, letAllCome, RACES_MS, turn } from '#testing';
import { LiveClient, type LiveSocket } from './live-client';

const TOPIC = 'gateway:messages';
/** Events that a subscriber can catch up on. */
const RECENT_COUNT = 3;
/** Longer than any wait of the client. */
const QUIET_MS = 20_000;

type Act = { do: 'publish' | 'lose' | 'restart' | 'use' | 'leave' } | { do: 'pass'; ms: number };
interface Acts {
  gateway: Act[];
  page: Act[];
  /** Of the subscriptions, those that are refused for now. */
  refused: readonly number[];
  together: number[];
}

type Listener = (...args: unknown[]) => void;
type Acknowledge = (ack: SubscribeAck) => void;

/** One connection: what either side sends arrives in order, or with its end not at all. */
class Connection {
  isOpen = true;
  readonly #queues = { up: [] as (() => void)[], down: [] as (() => void)[] };
  /** The subscription whose events it gets. */
  isJoined = false;
  /** From a subscription to the end of it: what is read for one that ended is of no use to its successor. */
  following: object | null = null;

  constructor(readonly race: Race) {}

  async carry(way: 'up' | 'down', what: string, arrive: () => void): Promise<void> {
    this.#queues[way].push(arrive);
    await this.race.port(`${way} ${what}`);
    const next = this.#queues[way].shift();
    if (this.isOpen) next?.();
  }
}

class Race implements LiveSocket {
  isFree = false;
  readonly trail: string[] = [];
  readonly #client: LiveClient;
  readonly #listeners = new Map<string, Listener>();
  readonly #leaves: (() => void)[] = [];
  readonly #failures: unknown[] = [];
  #connection: Connection | null = null;
  /** Its numbers begin anew, further on, with each start of the gateway. */
  #log = { startSeq: 0, startCount: 0 };
  #happenedCount = 0;
  #subscribedCount = 0;
  #shownCount = 0;

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {
    this.#client = new LiveClient({
      socket: this,
      nowMs: () => 0,
      random: () => 0.5,
      schedule: (flush) => void this.port('paint').then(flush),
      onRefused: () => {},
    });
    this.#client.start();
    this.#use();
  }

  async port(what: string): Promise<void> {
    if (!this.isFree) await this.scheduler.schedule(Promise.resolve(), what);
  }

  on(event: string, listener: (...args: never[]) => void): void {
    this.#listeners.set(event, listener as Listener);
  }
  disconnect(): void {}
  connect(): void {
    void this.port('connect').then(() => {
      if (this.#connection?.isOpen) return;
      this.#connection = new Connection(this);
      this.#receive('connect');
    });
  }
  emit(event: string, body: { after_seq?: number }, ack?: Acknowledge): void {
    const connection = this.#connection as Connection;
    void connection.carry('up', `${event} ${JSON.stringify(body)}`, () => {
      if (event === 'subscribe') void this.#subscribe(connection, body.after_seq, ack as Acknowledge);
      else Object.assign(connection, { isJoined: false, following: null });
    });
  }

  #receive(event: string, ...args: unknown[]): void {
    this.trail.push(`the page gets ${event} ${JSON.stringify(args)}`);
    this.#listeners.get(event)?.(...args);
  }

  get #seq(): number {
    return this.#log.startSeq + this.#happenedCount - this.#log.startCount;
  }

  #events(afterSeq: number): LiveEvent[] {
    const missed = this.#seq - afterSeq;
    return Array.from({ length: missed }, (_, index) => ({
      seq: afterSeq + index + 1,
      payload: this.#happenedCount - missed + index + 1,
    }));
  }

  /** Null: some of them are not kept, or the number is none of this start. */
  #since(afterSeq: number): LiveEvent[] | null {
    const missed = this.#seq - afterSeq;
    return missed < 0 || missed > Math.min(RECENT_COUNT, this.#happenedCount - this.#log.startCount)
      ? null
      : this.#events(afterSeq);
  }

  /** As the sockets of the gateway do. */
  async #subscribe(connection: Connection, afterSeq: number | undefined, ack: Acknowledge): Promise<void> {
    const answer = (body: SubscribeAck) =>
      void connection.carry('down', JSON.stringify(body), () => ack(body));
    this.#subscribedCount += 1;
    const isRefused = !this.isFree && this.acts.refused.includes(this.#subscribedCount);
    connection.isJoined = false;
    connection.following ??= {};
    const { following } = connection;
    const deltas = afterSeq === undefined ? null : this.#since(afterSeq);
    if (deltas !== null) {
      answer({ status: 'ok', kind: 'deltas', topic: TOPIC, seq: this.#seq, events: deltas });
      connection.isJoined = true;
      return;
    }
    await this.port('turn');
    const seq = this.#seq;
    const snapshot = Array.from({ length: this.#happenedCount }, (_, index) => index + 1);
    await this.port('read');
    if (!connection.isOpen) return;
    if (isRefused) answer({ status: 'error', reason: 'store_busy', detail: 'Busy.' });
    else if (connection.following !== following)
      answer({ status: 'error', reason: 'unsubscribed', detail: 'Gone.' });
    else {
      const kind = afterSeq === undefined ? 'snapshot' : 'reset';
      answer({ status: 'ok', kind, topic: TOPIC, seq, snapshot });
      if (this.#seq > seq) this.#send(connection, seq);
      connection.isJoined = true;
    }
  }

  #send(connection: Connection, afterSeq: number): void {
    const frame: Frame = {
      topic: TOPIC,
      from_seq: afterSeq + 1,
      to_seq: this.#seq,
      events: this.#events(afterSeq),
    };
    void connection.carry('down', JSON.stringify(frame), () => this.#receive('frame', frame));
  }

  #use(): void {
    this.#leaves.push(this.#client.use(TOPIC, () => this.#look()));
  }

  #look(): void {
    const shown = this.#client.read(TOPIC).data as number[] | null;
    // Nobody has looked for a while, and the next has not been told yet.
    if (shown === null) return;
    this.trail.push(`shown ${shown.length}`);
    try {
      expect(shown).toEqual(shown.map((_, index) => index + 1));
      expect(shown.length).toBeGreaterThanOrEqual(this.#shownCount);
    } catch (error) {
      this.#failures.push(error);
    }
    this.#shownCount = shown.length;
  }

  #act(act: Act): void {
    this.trail.push(JSON.stringify(act));
    switch (act.do) {
      case 'publish':
        this.#happenedCount += 1;
        if (this.#connection?.isJoined) this.#send(this.#connection, this.#seq - 1);
        return;
      case 'restart':
        this.#log = { startSeq: this.#seq + 100, startCount: this.#happenedCount };
        this.#lose();
        return;
      case 'lose':
        this.#lose();
        return;
      case 'use':
        this.#use();
        return;
      case 'leave':
        this.#leaves.pop()?.();
        return;
      case 'pass':
        vi.advanceTimersByTime(act.ms);
    }
  }

  #lose(): void {
    if (!this.#connection?.isOpen) return;
    this.#connection.isOpen = this.#connection.isJoined = false;
    this.#receive('disconnect');
  }

  async #actor(acts: readonly Act[]): Promise<void> {
    for (const act of acts) {
      await this.port(JSON.stringify(act));
      this.#act(act);
    }
  }

  async run(): Promise<void> {
    void this.#actor(this.acts.gateway);
    void this.#actor(this.acts.page);
    await letAllCome(this.scheduler, this.acts.together);
  }

  async check(): Promise<void> {
    this.#use();
    for (let round = 0; round < 3; round += 1) {
      this.isFree = true;
      vi.advanceTimersByTime(QUIET_MS);
      for (let nth = 0; nth < 5; nth += 1) await turn();
    }
    this.#look();
    for (const leave of this.#leaves) leave();
    this.#client.stop();
    for (const failure of this.#failures) throw failure;
    expect(this.#client.read(TOPIC).data).toBeNull();
    expect(this.#shownCount).toBe(this.#happenedCount);
  }
}

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const gatewayAct = fc.constantFrom<Act[]>(
  { do: 'publish' },
  { do: 'publish' },
  { do: 'publish' },
  { do: 'publish' },
  { do: 'publish' },
  { do: 'lose' },
  { do: 'restart' },
);
const pageAct = fc.constantFrom<Act[]>(
  { do: 'use' },
  { do: 'leave' },
  { do: 'pass', ms: 500 },
  { do: 'pass', ms: 500 },
  { do: 'pass', ms: 500 },
  { do: 'pass', ms: 10_000 },
  { do: 'pass', ms: 10_000 },
);
const acts: fc.Arbitrary<Acts> = fc.record({
  gateway: fc.array(gatewayAct, { minLength: 5, maxLength: 12 }),
  page: fc.array(pageAct, { minLength: 4, maxLength: 10 }),
  refused: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'a page shows all that happened, each once and in order, however slow and faulty the gateway is',
  {
    timeout: RACES_MS,
  },
  () => checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 1_000),
);
