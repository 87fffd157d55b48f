/**
 * The limiter that several gateways share. One script and one round trip for each operation; the clock is that of
 * Redis. It rejects fast, with a RedisFailure, when Redis is away or hangs: the caller decides what that means.
 *
 * A take that timed out takes nothing when Redis wakes up, and what it took already is given back when its reply comes: the call that
 * it stood for went on, and whoever made it tells what it used once it is over.
 */
import type { Cluster, Redis } from 'ioredis';
import type { BucketChange, LimitDecision, LimitWindow, RateLimiter } from '#contracts';
import { type Counted, checkAmount, checkWindow, describeDecision } from '#domain/policy';
import { type Clock, steadyClock } from '#kernel';
import { limitKey } from './limit-key.js';
import { CORRECT, SEED, TAKE, VALUES_PER_KEY } from './limit-scripts.js';
import { RedisFailure } from './redis-failure.js';
import { ReplicaExit } from './replica-exit.js';
import { ReplyDeadline } from './reply-deadline.js';
import { replyInTime } from './reply-in-time.js';

/** Most a call through the proxy waits for its limits. */
const REPLY_TIMEOUT_MS = 50;
/** Replies awaited at once; beyond it operations are rejected unsent, so that a hanging Redis costs bounded memory. */
const PENDING_COUNT_MAX = 10_000;

export interface RedisRateLimiterOptions {
  /** Of `connectRedis`, or a cluster's. It stays the caller's to close. */
  client: Redis | Cluster;
  /** Whose part of each counter it writes: the same after a restart, and no other gateway's. */
  gatewayId: string;
  replyTimeoutMs?: number;
  pendingCountMax?: number;
  /** Tests only: instead of the clock of Redis. Expiry stays real. */
  clock?: Clock;
}

/** Whole numbers, and texts of slots. */
type Reply = (number | string)[];
type Script = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<Reply>;
type Place = Omit<LimitWindow, 'limit' | 'amount'>;
type SendParameters<T extends Place> = [
  command: keyof LimitCommands,
  places: readonly T[],
  own: (place: T) => [number | string, number],
  ...further: (number | string)[],
];

/** Whether the sums of slots are believed, or made anew. */
type Sums = '' | 'recount';

interface LimitCommands {
  observatoryLimitTake: Script;
  observatoryLimitCorrect: Script;
  observatoryLimitSeed: Script;
}

export class RedisRateLimiter implements RateLimiter {
  readonly #commands: LimitCommands;
  readonly #gatewayId: string;
  readonly #replyTimeoutMs: number;
  readonly #pendingCountMax: number;
  readonly #clock: Clock | undefined;
  readonly #replicaExit: ReplicaExit;
  readonly #deadline: ReplyDeadline;
  #pendingCount = 0;

  constructor(options: RedisRateLimiterOptions) {
    const { client } = options;
    this.#gatewayId = options.gatewayId;
    this.#replyTimeoutMs = options.replyTimeoutMs ?? REPLY_TIMEOUT_MS;
    this.#pendingCountMax = options.pendingCountMax ?? PENDING_COUNT_MAX;
    this.#clock = options.clock;
    this.#replicaExit = new ReplicaExit(client, steadyClock);
    this.#deadline = new ReplyDeadline({ client, clock: steadyClock, timeoutMs: this.#replyTimeoutMs });
    client.defineCommand('observatoryLimitTake', { lua: TAKE });
    client.defineCommand('observatoryLimitCorrect', { lua: CORRECT });
    client.defineCommand('observatoryLimitSeed', { lua: SEED });
    this.#commands = client as unknown as LimitCommands;
  }

  /** Operations sent and not answered yet. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /**
   * The windows of one call should have one owner (`LimitWindow.key`). A single Redis takes others too; a cluster
   * refuses what lies in different slots, and the call rejects with the code CROSSSLOT.
   */
  async take(windows: readonly LimitWindow[], nowMs?: number): Promise<LimitDecision> {
    for (const window of windows) checkAmount(window.amount, 0);
    const first = await this.#takeInTime(windows);
    const reply = isDoubtful(windows, first) ? await this.#takeInTime(windows, 'recount') : first;
    const counted = windows.map((_, index) => countedAt(reply, index));
    const refused = windows.map((_, index) => hasRefused(reply, index));
    const begun = windows.map((_, index) => reply[placeOf(index) + 2] === 1);
    const isRefused = reply[1] === 1 ? null : refused;
    return describeDecision(windows, counted, begun, isRefused, reply[0] as number, nowMs);
  }

  async correct(changes: readonly BucketChange[], nowMs?: number): Promise<void> {
    await this.#change('observatoryLimitCorrect', changes, nowMs);
  }

  async seed(changes: readonly BucketChange[], nowMs: number): Promise<void> {
    await this.#change('observatoryLimitSeed', changes, nowMs);
  }

  async #takeInTime(windows: readonly LimitWindow[], sums: Sums = ''): Promise<Reply> {
    const first = await this.#takeOnce(windows, sums);
    // In time, and yet too late: a clock was moved. Which way the reply has told.
    const reply = wasTooLate(first) ? await this.#takeOnce(windows, sums) : first;
    if (wasTooLate(reply)) throw new RedisFailure('timeout');
    return reply;
  }

  #takeOnce(windows: readonly LimitWindow[], sums: Sums): Promise<Reply> {
    const [first] = windows;
    return this.#deadline.asked(first === undefined ? '' : limitKey(first), async (untilMs) => {
      const reply = this.#send(
        'observatoryLimitTake',
        windows,
        ({ limit, amount }) => [limit, amount],
        untilMs,
        sums,
      );
      try {
        return await this.#awaited(reply);
      } catch (failure) {
        reply.then((late) => this.#giveBack(windows, late)).catch(() => {});
        throw failure;
      }
    });
  }

  async #giveBack(windows: readonly LimitWindow[], reply: Readonly<Reply>): Promise<void> {
    const [takenAtMs, isAllowed] = reply;
    if (typeof takenAtMs !== 'number' || isAllowed !== 1) return;
    await this.correct(windows.map((window) => ({ ...window, takenAtMs, amount: -window.amount })));
  }

  async #change(
    command: keyof LimitCommands,
    changes: readonly BucketChange[],
    nowMs: number | undefined,
  ): Promise<void> {
    if (changes.length === 0) return;
    for (const { amount } of changes) checkAmount(amount, Number.MIN_SAFE_INTEGER);
    await this.#run(command, changes, ({ takenAtMs, amount }) => [takenAtMs ?? '', amount], nowMs ?? '');
  }

  /** @throws RedisFailure; RangeError before anything is sent */
  async #run<T extends Place>(...what: SendParameters<T>): Promise<Reply> {
    return this.#awaited(this.#send(...what));
  }

  /** @throws RedisFailure where it comes too late, or never */
  #awaited(reply: Promise<Reply>): Promise<Reply> {
    return replyInTime(reply, this.#replyTimeoutMs).catch((failure: RedisFailure) => {
      this.#replicaExit.failed(failure);
      throw failure;
    });
  }

  /** @throws RedisFailure, RangeError; then nothing was sent */
  #send<T extends Place>(...[command, places, own, ...further]: SendParameters<T>): Promise<Reply> {
    const keys: string[] = [];
    const values: (string | number)[] = [this.#clock?.nowMs() ?? '', this.#gatewayId];
    for (const place of places) {
      checkWindow(place);
      keys.push(limitKey(place));
      values.push(place.kind === 'calendar' ? 1 : 0, place.windowMs, place.startMs ?? 0, ...own(place));
    }
    if (this.#pendingCount >= this.#pendingCountMax) throw new RedisFailure('busy');
    this.#pendingCount += 1;
    const reply = this.#commands[command](keys.length, ...keys, ...values, ...further);
    const settled = (): void => {
      this.#pendingCount -= 1;
    };
    reply.then(settled, settled);
    return reply;
  }
}

const wasTooLate = (reply: Readonly<Reply>): boolean => reply.length === 1;

/** Where what a reply says of a key begins. */
const placeOf = (index: number): number => 2 + index * VALUES_PER_KEY;

const hasRefused = (reply: Readonly<Reply>, index: number): boolean => reply[placeOf(index) + 1] === 1;

/** It refused for a sum that its slots do not make: somebody else has written there. */
const isDoubtful = (windows: readonly LimitWindow[], reply: Readonly<Reply>): boolean =>
  windows.some(
    ({ amount, limit }, index) =>
      hasRefused(reply, index) &&
      reply[placeOf(index) + 3] !== '' &&
      countedAt(reply, index).used + amount <= limit,
  );

/** Where the slots are told they are what counts. */
function countedAt(reply: Readonly<Reply>, index: number): Counted {
  const at = placeOf(index);
  const text = reply[at + 3] as string;
  if (text === '') return { used: reply[at] as number, slots: [] };
  const slots = slotsOf(text);
  return { used: slots.reduce((sum, [, amount]) => sum + amount, 0), slots: slots.flat() };
}

/** Those of several gateways in one order. */
function slotsOf(text: string): [startMs: number, amount: number][] {
  return text
    .trimEnd()
    .split(' ')
    .map((slot) => slot.split(':').map(Number) as [startMs: number, amount: number])
    .filter(
      ([startMs, amount]) => Number.isSafeInteger(startMs) && Number.isSafeInteger(amount) && amount > 0,
    )
    .sort(([one], [other]) => one - other);
}
