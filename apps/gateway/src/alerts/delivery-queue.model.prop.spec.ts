/**
 * Whatever receivers, the store, operators, the clock and the process do: no delivery is lost, none arrives twice without a crash
 * in between, what is told of one alert goes in its order, and each attempt comes when it is due and not before. The reference
 * counts by the time that has passed; where somebody set the clock, it knows the earliest and the latest.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { it } from 'vitest';
import { type AlertDelivery, type AlertNotice, type LivePublisher, ObservatoryError } from '#contracts';
import type { SendOutcome } from '#domain/alerts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { FakeTime, modelRuns, RACES_MS, turn } from '#testing';
import { AlertTelemetry } from './alert-telemetry.js';
import { MemoryAlertStore, WEBHOOK } from './alerts.fixture.js';
import { CHANNEL_GONE } from './channel-record.js';
import { DeliveryQueue } from './delivery-queue.js';

const AGENTS = 3;
const CHANNELS = 2;
/** As docs/clients.md has them: ten attempts in about eight hours, and `Retry-After` heeded up to an hour. */
const WAITS_S = [1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400];
const JITTER = 0.2;
const ASKED_MS_MAX = HOUR_MS;
const FAILURES_MAX = 5;
const REST_MS = MINUTE_MS;
const REST_MS_MAX = 15 * MINUTE_MS;
const WRITE_AGAIN_MS = 5_000;
const DRAIN_MS = 3_000;
const SLOW_MS = 500;
const TELEMETRY = new AlertTelemetry(new FakeTime(), pino({ level: 'silent' }), new Registry(), () => 0);
const NEVER = Number.POSITIVE_INFINITY;
const EVER = Number.NEGATIVE_INFINITY;

type Mode = 'taking' | 'refusing' | 'slow';
interface Answer {
  says: 'takes' | 'fails' | 'refuses' | 'rests';
  restMs: number;
  afterMs: number;
}

/** Not before `min`, and not after `max` if nothing else keeps it, by the time that has passed. */
interface Due {
  min: number;
  max: number;
  /** Now, as soon as the store has taken anything. */
  isHastened?: boolean;
}

interface Letter {
  id: string;
  /** In which it was told. */
  place: number;
  agent: string;
  channelId: string;
  state: 'waiting' | 'delivered' | 'dead' | 'lost';
  attempts: number;
  /** What the next write has to say, where an attempt ended; null: nothing happened. */
  ended: { states: AlertDelivery['state'][]; wait: Due | null } | null;
  isRunning: boolean;
  due: Due;
  /** Its age counts from some moment between. */
  since: Due;
  /** What was given to the store last, and whether it took that. */
  written: string | null;
  isOnDisk: boolean;
  /** The store is taking it. */
  isWriting: boolean;
  /** Of operators, under way. */
  retries: number;
  wasTaken: boolean;
  wasDead: boolean;
}

interface Channel {
  id: string;
  isGone: boolean;
  answer: Answer;
  failures: number;
  restMs: number;
  /** Null: it is closed. */
  rest: Due | null;
  /** Somebody set the clock since it was closed: how long it rests is not known. */
  isVague: boolean;
  wokenCount: number;
  running: number;
}

/** A process, until it dies. */
class Process {
  isDead = false;
  isStopping = false;
  writesLeft = NEVER;
  writing = 0;
  constructor(
    readonly time: FakeTime,
    readonly beganMs: number,
  ) {}
  get nowMs(): number {
    return this.beganMs + this.time.steadyMs();
  }
}

class Run {
  readonly trail: string[] = [];
  readonly #disk = new MemoryAlertStore();
  readonly #letters: Letter[] = [];
  readonly #channels: Channel[] = [];
  /** Those that were removed, too. */
  readonly #known = new Map<string, Channel>();
  readonly #random: () => number;
  #mode: Mode = 'taking';
  #modeSinceMs = EVER;
  #process = new Process(new FakeTime(), 0);
  #queue: DeliveryQueue = this.#open(this.#process);
  #writes = Promise.resolve();
  #ids = 0;
  #downMs = 0;

  constructor(drawings: number[]) {
    let at = 0;
    this.#random = () => drawings[at++ % drawings.length] ?? 0;
    for (let n = 0; n < CHANNELS; n += 1) this.#channels.push(this.#newChannel());
  }

  async apply(act: Act): Promise<void> {
    this.trail.push(`${this.#process.nowMs} ${JSON.stringify(act)}`);
    const process = this.#process;
    switch (act.do) {
      case 'tell':
        this.#tell(act.agent, this.#channels[act.channel] as Channel);
        break;
      case 'receiver':
        (this.#channels[act.channel] as Channel).answer = act.answer;
        break;
      case 'wait':
        await process.time.pass(act.ms);
        break;
      case 'clock':
        this.#setClock(act.byMs);
        break;
      case 'store':
        this.#mode = act.mode;
        this.#modeSinceMs = process.nowMs;
        break;
      case 'change':
        this.#wake(this.#channels[act.channel] as Channel);
        break;
      case 'remove': {
        const channel = this.#channels[act.channel] as Channel;
        channel.isGone = true;
        this.#wake(channel);
        await settle();
        this.#check();
        this.#channels[act.channel] = this.#newChannel();
        break;
      }
      case 'retry': {
        const letter = this.#letters[act.nth % this.#letters.length];
        if (letter !== undefined) void this.#retry(letter, process);
        break;
      }
      case 'stop':
        await this.#stop(act.downMs);
        break;
      case 'die':
        this.#downMs = act.downMs;
        process.writesLeft = act.writes;
        process.isDead = act.writes === 0;
        break;
    }
    await settle();
    if (this.#process.isDead) await this.#next(this.#downMs);
    this.#check();
  }

  /** Receivers and the store are well: whatever waits arrives. */
  async end(): Promise<void> {
    this.#process.writesLeft = NEVER;
    await this.apply({ do: 'store', mode: 'taking' });
    const answer: Answer = { says: 'takes', restMs: 0, afterMs: 0 };
    for (let channel = 0; channel < CHANNELS; channel += 1)
      await this.apply({ do: 'receiver', channel, answer });
    for (const ms of [11_000, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, DAY_MS, DAY_MS, DAY_MS])
      await this.apply({ do: 'wait', ms });
    must(!this.#letters.some(({ state }) => state === 'waiting'), 'one waits for ever');
    must(this.#queue.pendingCount === 0, 'one is kept for ever');
    must(this.#process.time.timerCount === 0, 'it wakes for nothing');
    await this.#queue.drain();
  }

  #newChannel(): Channel {
    this.#ids += 1;
    const answer: Answer = { says: 'takes', restMs: 0, afterMs: 0 };
    const closed = { failures: 0, restMs: 0, rest: null, isVague: false, wokenCount: 0, running: 0 };
    const channel = { id: `chn_${this.#ids}`, isGone: false, answer, ...closed };
    this.#known.set(channel.id, channel);
    return channel;
  }

  #channel(id: string): Channel {
    const channel = this.#known.get(id);
    if (channel === undefined) throw new Error(`unknown channel ${id}`);
    return channel;
  }

  #open(process: Process): DeliveryQueue {
    return new DeliveryQueue({
      store: {
        saveDelivery: (delivery) => this.#save(process, delivery),
        delivery: (tenantId, id) => this.#read(() => this.#disk.delivery(tenantId, id)),
        pendingDeliveries: () => this.#disk.pendingDeliveries(),
      },
      live: { publish: () => {} } as unknown as LivePublisher,
      clock: process.time,
      timer: process.time,
      ids: { next: () => String(++this.#ids) },
      random: () => this.#random(),
      telemetry: TELEMETRY,
      openChannel: (_, id) => (this.#channel(id).isGone ? CHANNEL_GONE : { ...WEBHOOK, name: id }),
      send: (_, notice, id) => this.#send(process, notice, id),
    });
  }

  #tell(agent: number, channel: Channel): void {
    const place = this.#letters.length;
    const notice = { notice_id: `ntc_${place}`, tenant_id: 'default', rule_id: 'r', agent_id: `a${agent}` };
    const { nowMs } = this.#process;
    const letter: Letter = {
      id: '',
      place,
      agent: `a${agent}`,
      channelId: channel.id,
      state: 'waiting',
      attempts: 0,
      ended: null,
      isRunning: false,
      due: { min: EVER, max: nowMs },
      since: { min: nowMs, max: nowMs },
      written: null,
      isOnDisk: false,
      isWriting: false,
      retries: 0,
      wasTaken: false,
      wasDead: false,
    };
    this.#letters.push(letter);
    this.#hasten(letter);
    this.#queue.enqueue({ type: 'kill_switch', phase: 'firing', ...notice } as AlertNotice, channel.id);
    must(letter.id !== '' || this.#process.isDead, 'it was not given to the store at once');
  }

  /** What it stands behind is tried now. */
  #hasten(letter: Letter): void {
    const first = this.#alertOf(letter).find(({ state }) => state === 'waiting');
    if (first !== undefined && !first.isRunning) first.due = hastened(first.due);
  }

  #alertOf({ agent, channelId }: Letter): Letter[] {
    return this.#letters.filter((one) => one.agent === agent && one.channelId === channelId);
  }

  #wake(channel: Channel): void {
    channel.wokenCount += 1;
    Object.assign(channel, { failures: 0, restMs: 0, rest: null, isVague: false });
    for (const one of this.#letters)
      if (one.channelId === channel.id)
        one.due = { min: EVER, max: Math.min(one.due.max, this.#process.nowMs) };
    this.#queue.wakeChannel(channel.id);
  }

  #setClock(byMs: number): void {
    this.#process.time.setWallClock(byMs);
    const vague = (due: Due): Due => ({ ...due, min: EVER, max: due.max + Math.max(0, -byMs) });
    for (const one of this.#letters) one.due = vague(one.due);
    for (const one of this.#channels) {
      one.isVague ||= one.rest !== null;
      if (one.rest === null) continue;
      // It was to end in the moment in which it was hastened, and that is to come again.
      const isOver = one.rest.isHastened && byMs < 0;
      one.rest = vague(isOver ? { min: EVER, max: this.#process.nowMs } : one.rest);
    }
  }

  async #read<Value>(value: () => Promise<Value>): Promise<Value> {
    const { time } = this.#process;
    const read = await value();
    if (this.#mode === 'slow') await new Promise<void>((resolve) => time.after(SLOW_MS, resolve));
    return read;
  }

  async #retry(letter: Letter, process: Process): Promise<void> {
    letter.retries += 1;
    try {
      const answer = await this.#queue.retry('default', letter.id, () => this.#read(async () => {}));
      if (process.isDead) return;
      const isSame = letter.state === (answer.state === 'pending' ? 'waiting' : answer.state);
      if (!isSame && letter.ended === null)
        this.#fail(`${letter.id}: Retry says ${answer.state}, and it is ${letter.state}`);
    } catch (error) {
      if (process.isDead) return;
      const code = error instanceof ObservatoryError ? error.code : String(error);
      const isGone = this.#channel(letter.channelId).isGone;
      const isRight = code === 'delivery_not_found' || (code === 'alert_channel_not_found' && isGone);
      if (!isRight) this.#fail(`${letter.id}: Retry says ${code}`);
    } finally {
      letter.retries -= 1;
    }
  }

  #save(process: Process, delivery: AlertDelivery): Promise<number> {
    process.writesLeft -= 1;
    if (process.writesLeft < 0) process.isDead = true;
    if (process.isDead) return new Promise(() => {});
    const letter = this.#letters.find(({ id, place }) =>
      id === '' ? delivery.notice.notice_id === `ntc_${place}` : id === delivery.delivery_id,
    ) as Letter;
    letter.id = delivery.delivery_id;
    this.#hear(letter, delivery, process);
    letter.isOnDisk = false;
    if (this.#mode === 'refusing') return Promise.reject(new Error('store_full'));
    const given = structuredClone(delivery);
    process.writing += 1;
    letter.isWriting = true;
    const isSlow = this.#mode === 'slow';
    const written = this.#writes.then(async () => {
      if (isSlow) await new Promise<void>((resolve) => process.time.after(SLOW_MS, resolve));
      if (process.isDead) return new Promise<number>(() => {});
      process.writing -= 1;
      Object.assign(letter, { isOnDisk: true, isWriting: false });
      const hastenedDues = [
        ...this.#letters.map(({ due }) => due),
        ...this.#channels.map(({ rest }) => rest),
      ];
      for (const due of hastenedDues)
        if (due?.isHastened) Object.assign(due, { isHastened: false, max: Math.min(due.max, process.nowMs) });
      return this.#disk.saveDelivery(given);
    });
    this.#writes = written.then(() => {});
    return written;
  }

  /** Whether what is to be written is what happened. */
  #hear(letter: Letter, delivery: AlertDelivery, { time, nowMs }: Process): void {
    const { state, attempt_count, next_attempt_at_ms } = delivery;
    const said = JSON.stringify([state, attempt_count, next_attempt_at_ms]);
    const isFirst = letter.written === null;
    if (letter.written === said && letter.ended === null) {
      // Or it is what the store had refused, written again since another of its alert was told.
      if (letter.retries > 0 && letter.state === 'waiting') this.#bringForward(letter, letter.since.min);
      return;
    }
    letter.written = said;
    const what = `${letter.id}: written as ${said}`;
    const waitMs = (next_attempt_at_ms ?? 0) - time.nowMs();
    const { ended } = letter;
    letter.ended = null;
    if (ended !== null) {
      if (!ended.states.includes(state)) this.#fail(`${what}, not ${ended.states}`);
      if (attempt_count !== letter.attempts) this.#fail(`${what} after ${letter.attempts} attempts`);
      letter.state = state === 'pending' ? 'waiting' : state;
      if (state === 'pending') {
        const { min, max } = ended.wait as Due;
        if (waitMs < min || waitMs > max) this.#fail(`${what}: waits for ${waitMs} ms`);
        letter.due = { min: nowMs + waitMs, max: nowMs + waitMs };
      }
      letter.wasDead ||= state === 'dead';
      return;
    }
    if (isFirst) {
      if (state !== 'pending' || attempt_count !== 0) this.#fail(what);
      return;
    }
    if (state === 'dead' && letter.state === 'waiting' && this.#channel(letter.channelId).isGone) {
      Object.assign(letter, { state: 'dead', wasDead: true });
      return;
    }
    if (letter.retries === 0 || state !== 'pending' || letter.state === 'delivered') this.#fail(what);
    const attempts = letter.state === 'dead' ? 0 : letter.attempts;
    if (attempt_count !== attempts || waitMs !== 0) this.#fail(`${what} by Retry`);
    this.#bringForward(letter);
  }

  /** @param sinceMs from when on its age may count: from now, if it is certain that it was brought forward */
  #bringForward(letter: Letter, sinceMs = this.#process.nowMs): void {
    const { nowMs } = this.#process;
    if (letter.state === 'dead') Object.assign(letter, { state: 'waiting', attempts: 0 });
    letter.due = hastened({ min: EVER, max: NEVER });
    letter.since = { min: sinceMs, max: nowMs };
    this.#hasten(letter);
    const channel = this.#channel(letter.channelId);
    const { rest } = channel;
    if (rest !== null) channel.rest = hastened({ ...rest, max: Math.max(rest.max, nowMs) });
  }

  async #send(process: Process, notice: AlertNotice, id: string): Promise<SendOutcome> {
    if (process.isDead) return new Promise(() => {});
    const letter = this.#letters.find((one) => one.id === id) as Letter;
    const channel = this.#channel(letter.channelId);
    const { nowMs } = process;
    const what = `${id} (${letter.agent}) at ${nowMs}`;
    this.trail.push(`    sent ${what}, ${channel.answer.says}`);
    const alert = this.#alertOf(letter);
    const before = alert.find(({ state, place }) => state === 'waiting' && place < letter.place);
    if (notice.agent_id !== letter.agent || channel.isGone) this.#fail(`${what}: sent to nobody`);
    if (letter.state !== 'waiting') this.#fail(`${what}: sent though ${letter.state}`);
    if (this.#disk.rows.get(id)?.state !== 'pending' || !letter.isOnDisk) this.#fail(`${what}: not on disk`);
    if (before !== undefined) this.#fail(`${what}: sent before ${before.id}`);
    if (alert.some(({ isRunning }) => isRunning)) this.#fail(`${what}: two of one alert`);
    if (nowMs < letter.due.min) this.#fail(`${what}: due ${letter.due.min}`);
    if (nowMs < (channel.rest?.min ?? EVER)) this.#fail(`${what}: ${channel.id} rests`);
    if (channel.running >= (channel.rest === null ? 2 : 1)) this.#fail(`${what}: no place`);
    if (process.isStopping) this.#fail(`${what}: sent while it stops`);
    letter.isRunning = true;
    channel.running += 1;
    const { wokenCount, answer } = channel;
    if (answer.afterMs > 0) await new Promise<void>((resolve) => process.time.after(answer.afterMs, resolve));
    else await Promise.resolve();
    if (process.isDead) return new Promise(() => {});
    letter.isRunning = false;
    channel.running -= 1;
    letter.attempts += 1;
    return this.#ended(letter, channel, answer, channel.wokenCount === wokenCount);
  }

  #ended(letter: Letter, channel: Channel, { says, restMs }: Answer, isCurrent: boolean): SendOutcome {
    const { nowMs } = this.#process;
    if (says === 'takes') {
      letter.state = 'delivered';
      letter.wasTaken = true;
      letter.ended = { states: ['delivered'], wait: null };
      Object.assign(channel, { failures: 0, restMs: 0, rest: null, isVague: false });
      return { ok: true };
    }
    const outcome = { ok: false, retryable: says !== 'refuses', reason: says } as const;
    const retryAfterMs = says === 'rests' ? restMs : null;
    if (!isCurrent) letter.ended = { states: ['pending'], wait: { min: 0, max: 0 } };
    else if (says === 'refuses') letter.ended = { states: ['dead'], wait: null };
    else {
      this.#noteFailure(channel, retryAfterMs);
      const waitMs = (WAITS_S[letter.attempts - 1] ?? 0) * 1_000;
      const askedMs = Math.min(retryAfterMs ?? 0, ASKED_MS_MAX);
      const wait = {
        min: Math.max(askedMs, Math.floor(waitMs * (1 - JITTER))),
        max: Math.max(askedMs, Math.ceil(waitMs * (1 + JITTER))),
      };
      const isLast = letter.attempts > WAITS_S.length || nowMs - letter.since.max >= DAY_MS;
      const mayBeLast = isLast || nowMs - letter.since.min >= DAY_MS;
      letter.ended = { states: isLast ? ['dead'] : mayBeLast ? ['dead', 'pending'] : ['pending'], wait };
    }
    if (letter.ended.wait === null) letter.state = 'dead';
    return { ...outcome, retryAfterMs };
  }

  #noteFailure(channel: Channel, askedMs: number | null): void {
    const { nowMs } = this.#process;
    channel.failures += 1;
    const restsTillMs = channel.rest?.max ?? EVER;
    if (channel.isVague) {
      channel.rest = { min: EVER, max: nowMs + REST_MS_MAX };
      return;
    }
    let tillMs = restsTillMs;
    if (channel.failures >= FAILURES_MAX && nowMs >= restsTillMs) {
      channel.restMs = Math.min(channel.restMs * 2 || REST_MS, REST_MS_MAX);
      tillMs = nowMs + channel.restMs;
    }
    if (askedMs !== null) tillMs = Math.max(tillMs, nowMs + Math.min(askedMs, REST_MS_MAX));
    channel.rest = tillMs === EVER ? null : { min: tillMs, max: tillMs };
  }

  async #stop(downMs: number): Promise<void> {
    const process = this.#process;
    const isQuiet = this.#isWritten();
    process.isStopping = true;
    let isOver = false;
    const stopped = this.#queue.drain().then(() => {
      isOver = true;
    });
    await settle();
    if (!isOver) await process.time.pass(DRAIN_MS);
    await settle();
    if (process.isDead) return;
    must(isOver, 'it does not stop');
    await stopped;
    if (isQuiet && process.writing === 0)
      for (const { id, state, isRunning } of this.#letters) {
        const row = this.#disk.rows.get(id);
        if (state === 'lost' || isRunning) continue;
        must(
          row?.state === (state === 'waiting' ? 'pending' : state),
          `${id}: ${state}, and on disk ${row?.state}`,
        );
      }
    process.isDead = true;
    this.#downMs = downMs;
  }

  /** Another process. What was not on disk never was. */
  async #next(downMs: number): Promise<void> {
    const last = this.#process;
    this.#writes = Promise.resolve();
    const process = new Process(new FakeTime(last.time.nowMs() + downMs), last.nowMs + downMs);
    this.#process = process;
    this.trail.push(`    another process at ${process.nowMs}`);
    if (this.#mode !== 'taking') this.#modeSinceMs = process.nowMs;
    for (const channel of this.#known.values())
      Object.assign(channel, { failures: 0, restMs: 0, rest: null, isVague: false, running: 0 });
    for (const letter of this.#letters) this.#readDisk(letter, process);
    this.#queue = this.#open(process);
    await this.#queue.resume();
    await settle();
  }

  #readDisk(letter: Letter, { time, nowMs }: Process): void {
    const row = this.#disk.rows.get(letter.id);
    Object.assign(letter, { isRunning: false, ended: null, isOnDisk: true, isWriting: false, retries: 0 });
    if (row === undefined) {
      letter.state = 'lost';
      return;
    }
    const { state, attempt_count, next_attempt_at_ms, created_at_ms } = row;
    must(state !== 'delivered' || letter.wasTaken, `${letter.id} was never delivered`);
    must(state !== 'dead' || letter.wasDead, `${letter.id} was never dead`);
    letter.state = state === 'pending' ? 'waiting' : state;
    letter.attempts = attempt_count;
    letter.written = JSON.stringify([state, attempt_count, next_attempt_at_ms]);
    const longestMs =
      attempt_count === 0
        ? 0
        : Math.max((WAITS_S[attempt_count - 1] ?? 0) * 1_000 * (1 + JITTER), ASKED_MS_MAX);
    const waitMs = Math.min((next_attempt_at_ms ?? created_at_ms) - time.nowMs(), longestMs);
    letter.due = { min: nowMs + waitMs, max: nowMs + Math.max(0, waitMs) };
    letter.since = {
      min: nowMs - Math.max(0, time.nowMs() - created_at_ms),
      max: nowMs + Math.max(0, waitMs),
    };
  }

  /** The store has taken all that it was given, and refused nothing for as long as it takes to ask again. */
  #isWritten(): boolean {
    const { writing, nowMs } = this.#process;
    return this.#mode === 'taking' && writing === 0 && nowMs - this.#modeSinceMs >= WRITE_AGAIN_MS;
  }

  #check(): void {
    if (this.#failure !== null) throw new Error(this.#failure);
    const { nowMs, isDead } = this.#process;
    if (isDead) return;
    const pending = new Set<string>();
    for (const letter of this.#letters) {
      const { id, state, due, isOnDisk } = letter;
      if (state !== 'lost' && this.#isWritten()) {
        const row = this.#disk.rows.get(id);
        must(
          isOnDisk && row?.state === (state === 'waiting' ? 'pending' : state),
          `${id}: ${state}, on disk ${row?.state}`,
        );
      }
      if (state !== 'waiting') continue;
      const alert = `${letter.agent} ${letter.channelId}`;
      const isFirst = !pending.has(alert);
      pending.add(alert);
      const channel = this.#channel(letter.channelId);
      const hasPlace = channel.running < (channel.rest === null && !channel.isVague ? 2 : 1);
      // What came of an attempt keeps its place until it is written.
      const isWriting = this.#letters.some((one) => one.channelId === channel.id && one.isWriting);
      const isBusy = this.#alertOf(letter).some(({ isRunning }) => isRunning);
      const isBarred = !isFirst || !isOnDisk || isBusy || isWriting || !hasPlace;
      const isKept = isBarred || nowMs < (channel.rest?.max ?? EVER);
      must(isKept || nowMs < due.max, `${id} was due at ${due.max}, and waits at ${nowMs}`);
    }
  }

  #failure: string | null = null;
  /** Where the queue would take what is thrown for an answer. */
  #fail(what: string): void {
    this.trail.push(`    FAILED ${what}`);
    this.#failure ??= what;
  }
}

const hastened = (due: Due): Due => ({ ...due, min: EVER, isHastened: true });

function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

async function settle(): Promise<void> {
  for (let n = 0; n < 6; n += 1) await turn();
}

const channel = fc.nat(CHANNELS - 1);
const downMs = fc.constantFrom(1, 2_000, 10 * MINUTE_MS, 5 * HOUR_MS, 25 * HOUR_MS);
const answer: fc.Arbitrary<Answer> = fc.record({
  says: fc.constantFrom('takes', 'fails', 'fails', 'refuses', 'rests'),
  restMs: fc.constantFrom(1_000, 90_000, 20 * MINUTE_MS, 3 * HOUR_MS),
  afterMs: fc.constantFrom(0, 0, 2_000, 10_000),
});
const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('tell' as const), agent: fc.nat(AGENTS - 1), channel }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('receiver' as const), channel, answer }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(
        100,
        1_200,
        6_000,
        40_000,
        150_000,
        15 * MINUTE_MS,
        HOUR_MS,
        5 * HOUR_MS,
        25 * HOUR_MS,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      byMs: fc.constantFrom(-3 * HOUR_MS, -MINUTE_MS, -20, 20, MINUTE_MS, 3 * HOUR_MS, 2 * DAY_MS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      mode: fc.constantFrom<Mode>('taking', 'taking', 'refusing', 'slow'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change' as const), channel }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), channel }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), nth: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), downMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), downMs, writes: fc.nat(4) }) },
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

it(
  'deliveries go once, in time and in order, whatever receivers, the store, the clock and the process do',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 }),
        fc.array(act, { maxLength: 60, size: 'max' }),
        async (drawings, acts) => {
          const run = new Run(drawings);
          try {
            for (const one of acts) await run.apply(one);
            await run.end();
          } catch (error) {
            (error as Error).message += `\n${run.trail.join('\n')}`;
            throw error;
          }
        },
      ),
      modelRuns(25),
    );
  },
  RACES_MS,
);
