/**
 * Moves writes from the queue to the writing thread: decides what is let in, when a batch leaves, and what a
 * failure means to those who wait.
 *
 * Both threads are to be busy. An idle one gets a batch at the end of the tick, so that the writes of one tick share
 * it, or at once where enough have come: else it would wait while this one reads on, and this one, with every sender
 * waiting, while it writes. A busy one gets the next batch with its answer, or ahead of it once as many rows wait as
 * it has: a slow disk then gets few large batches and a fast one its next without a pause.
 */
import { ObservatoryError, type StepCommit, type StepRow } from '#contracts';
import type { Clock } from '#kernel';
import { DiskWatch } from './disk-watch.js';
import {
  type OperationResult,
  type Primitive,
  type RoomAsked,
  roomAskedBy,
  type WriteCallName,
  type WriteCalls,
} from './protocol.js';
import type { CallBatch } from './proxy/proxy-protocol.js';
import type { StoreEvent } from './store-event.js';
import { ThreadError, toError } from './thread-failure.js';
import type { ThreadLink } from './thread-link.js';
import { type WriteBatch, WriteQueue } from './write-queue.js';

/** Rows that are worth a commit of their own. */
const WORTHY_ROWS = 32;
/** Rows waiting that leave ahead, however many are in flight. */
const AHEAD_ROWS = 250;
const IN_FLIGHT_MAX = 2;
/** Room beyond the bound for writes other than steps: an operator's command must not wait behind a flood. */
const RESERVED_COUNT = 1_000;
/** Block that must fit on the disk before it counts as having room again: about what one large batch writes. */
const RECOVERY_PROBE_BYTES = 256 * 1024;
const LIGHT_PROBE_BYTES = 1;

const BUSY_RETRY_SECONDS = 1;
const FULL_RETRY_SECONDS = 5;

export interface WritePumpOptions {
  link: ThreadLink;
  clock: Clock;
  /** Must not throw. */
  onEvent: (event: StoreEvent) => void;
  /** After each commit. @param bytes of its rows, about */
  onCommitted: (bytes: number) => void;
  /** Of one tenant's steps and violations; of all writes together SHARING_TENANTS times as many. */
  queueCountMax: number;
  queueBytesMax: number;
}

/** Without a write under way: a map whose keys come and go with every write is made anew again and again. */
const TENANTS_REMEMBERED = 1_000;

/** Tenants that have to fill their room before another finds none. */
const SHARING_TENANTS = 2;

/** The tenant whose room a write takes, or who may use the room beyond the bound: operators, and the gateway itself. */
type Admission = string | typeof RESERVED;
const RESERVED = Symbol('reserved');
/** No tenant's id: calls are written for several at once, and have a room of their own. */
const CALLS = '';

export class WritePump {
  readonly #options: WritePumpOptions;
  readonly #queue = new WriteQueue();
  readonly #disk: DiskWatch;
  /** Rows and bytes of each tenant that are not settled. */
  readonly #ofTenants = new Map<string, { count: number; bytes: number }>();
  #inFlight = 0;
  #rowsInFlight = 0;
  #scheduled = false;
  #stopped: 'closing' | 'dead' | null = null;
  #drained: (() => void)[] = [];

  constructor(options: WritePumpOptions) {
    this.#options = options;
    this.#disk = new DiskWatch(options.clock);
  }

  get queuedCount(): number {
    return this.#queue.count;
  }

  /** Also has the disk tried again, at most once a second, while it is full. Who is refused here gives nothing, so that it is told of here. */
  refusal(tenantId: string): 'store_busy' | 'store_full' | null {
    const reason = this.#refusal(tenantId);
    if (reason !== null) this.#options.onEvent({ kind: 'refused', reason, rowCount: 1 });
    return reason;
  }

  #refusal(tenantId: string): 'store_busy' | 'store_full' | null {
    if (this.#stopped !== null) return 'store_busy';
    if (this.#disk.isFull) {
      if (this.#disk.claimAttempt()) this.#tryDisk();
      return 'store_full';
    }
    return this.#isFull(tenantId, 1) ? 'store_busy' : null;
  }

  async probe(): Promise<void> {
    const wasFull = this.#disk.isFull;
    await this.call('probe', [wasFull ? RECOVERY_PROBE_BYTES : LIGHT_PROBE_BYTES]);
  }

  /** @param rows of one tenant */
  appendSteps(rows: readonly StepRow[]): Promise<StepCommit[]> {
    return this.#enqueue(rows[0]?.tenant_id ?? RESERVED, rows.length, () => this.#queue.appendSteps(rows));
  }

  /** @param flatten called only if the calls are let in. @returns seq of the first one; the others follow */
  appendCalls(callCount: number, flatten: () => CallBatch): Promise<number> {
    return this.#enqueue(CALLS, callCount, () => this.#queue.appendCalls(flatten()));
  }

  saveSessions(values: Primitive[], checkpointSeq: number, releasedSeqs: readonly number[]): Promise<void> {
    return this.#enqueue(RESERVED, 1, () => this.#queue.saveSessions(values, checkpointSeq, releasedSeqs));
  }

  call<Name extends WriteCallName>(
    name: Name,
    args: Parameters<WriteCalls[Name]>,
    admission: Admission = RESERVED,
  ): Promise<ReturnType<WriteCalls[Name]>> {
    const add = () => this.#queue.call(name, JSON.stringify(args));
    return this.#enqueue(admission, 1, add, roomAskedBy(name)) as Promise<ReturnType<WriteCalls[Name]>>;
  }

  /** Refuses what comes from now on; resolves when what came before is settled. */
  async drain(): Promise<void> {
    this.#stopped ??= 'closing';
    if (this.#queue.count > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** The thread is gone: what waits for it is rejected by the link, what is queued here. */
  stop(): void {
    this.#stopped = 'dead';
    for (let batch = this.#queue.take(); batch !== null; batch = this.#queue.take()) {
      this.#queue.reject(batch, busy());
    }
    this.#tellDrained();
  }

  #enqueue<T>(
    admission: Admission,
    rowCount: number,
    add: () => Promise<T>,
    room: RoomAsked = 'ordinary',
  ): Promise<T> {
    try {
      this.#admit(admission, rowCount, room);
      const bytesBefore = this.#queue.bytes;
      const settled = add();
      if (admission !== RESERVED)
        this.#takeRoom(admission, rowCount, this.#queue.bytes - bytesBefore, settled);
      this.#schedule();
      return settled;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** @throws ObservatoryError draining, store_busy or store_full */
  #admit(admission: Admission, rowCount: number, room: RoomAsked): void {
    if (this.#stopped === 'closing') throw new ObservatoryError('draining');
    if (this.#stopped === 'dead') throw this.#refuse('store_busy', rowCount);
    if (room === 'ordinary' && this.#disk.isFull && !this.#disk.claimAttempt()) {
      throw this.#refuse('store_full', rowCount);
    }
    // An empty queue takes anything: a call larger than the bound could never be sent otherwise.
    if (this.#queue.count === 0) return;
    if (this.#isFull(admission, rowCount)) throw this.#refuse('store_busy', rowCount);
  }

  #isFull(admission: Admission, rowCount: number): boolean {
    const { queueCountMax, queueBytesMax } = this.#options;
    const { count, bytes } = this.#queue;
    if (admission === RESERVED) return count + rowCount > SHARING_TENANTS * queueCountMax + RESERVED_COUNT;
    const own = this.#ofTenants.get(admission);
    if (own !== undefined && (own.count + rowCount > queueCountMax || own.bytes >= queueBytesMax))
      return true;
    return count + rowCount > SHARING_TENANTS * queueCountMax || bytes >= SHARING_TENANTS * queueBytesMax;
  }

  #takeRoom(tenantId: string, count: number, bytes: number, settled: Promise<unknown>): void {
    const own = this.#ofTenants.get(tenantId) ?? { count: 0, bytes: 0 };
    this.#ofTenants.set(tenantId, own);
    own.count += count;
    own.bytes += bytes;
    const giveBack = () => {
      own.count -= count;
      own.bytes -= bytes;
      if (own.count === 0 && this.#ofTenants.size > TENANTS_REMEMBERED) this.#ofTenants.delete(tenantId);
    };
    settled.then(giveBack, giveBack);
  }

  #refuse(reason: 'store_busy' | 'store_full', rowCount: number): ObservatoryError {
    this.#options.onEvent({ kind: 'refused', reason, rowCount });
    return reason === 'store_busy' ? busy() : full();
  }

  #schedule(): void {
    if (this.#inFlight > 0 || this.#queue.pendingCount >= WORTHY_ROWS) {
      this.#dispatch();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#inFlight < IN_FLIGHT_MAX && this.#queue.pendingCount > 0) {
      if (this.#inFlight > 0 && !this.#isWorthAhead(this.#queue.pendingCount)) return;
      const batch = this.#queue.take();
      if (batch === null) return;
      this.#inFlight += 1;
      this.#rowsInFlight += batch.rowCount;
      this.#send(batch).catch((error) =>
        this.#options.onEvent({ kind: 'batch_failed', rowCount: 0, detail: String(error) }),
      );
    }
  }

  #isWorthAhead(rowCount: number): boolean {
    return rowCount >= AHEAD_ROWS || (rowCount >= WORTHY_ROWS && rowCount >= this.#rowsInFlight);
  }

  async #send(batch: WriteBatch): Promise<void> {
    const { link, onEvent } = this.#options;
    try {
      const answer = await link.ask({ kind: 'write', operations: batch.operations }).catch((error) => {
        this.#queue.reject(batch, this.#explain(error, batch.rowCount));
        return null;
      });
      if (answer === null) return;
      this.#options.onCommitted(batch.bytes);
      this.#queue.settle(batch, answer.result as OperationResult[]);
      if (batch.room === 'ordinary' && this.#disk.noteTaken()) onEvent({ kind: 'disk_recovered' });
      onEvent({ kind: 'committed', rowCount: batch.rowCount, durationMs: answer.durationMs });
    } finally {
      this.#inFlight -= 1;
      this.#rowsInFlight -= batch.rowCount;
      this.#dispatch();
      this.#tellDrained();
    }
  }

  #explain(error: unknown, rowCount: number): Error {
    if (error instanceof ThreadError && error.failure.reason === 'full') {
      if (this.#disk.noteRefused())
        this.#options.onEvent({ kind: 'disk_full', detail: error.failure.detail });
      return this.#refuse('store_full', rowCount);
    }
    const detail = error instanceof Error ? error.message : String(error);
    this.#options.onEvent({ kind: 'batch_failed', rowCount, detail });
    if (error instanceof ThreadError && error.failure.reason === 'damaged') return toError(error.failure);
    const waitable =
      this.#stopped === 'dead' || (error instanceof ThreadError && error.failure.reason === 'busy');
    return waitable ? busy() : new Error(detail);
  }

  /** Its outcome is told by the batch it travels in. */
  #tryDisk(): void {
    this.#queue.call('probe', JSON.stringify([RECOVERY_PROBE_BYTES])).catch(() => {});
    this.#schedule();
  }

  #tellDrained(): void {
    if (this.#queue.count > 0) return;
    for (const tell of this.#drained.splice(0)) tell();
  }
}

const busy = () => new ObservatoryError('store_busy', undefined, { retryAfterSeconds: BUSY_RETRY_SECONDS });
const full = () => new ObservatoryError('store_full', undefined, { retryAfterSeconds: FULL_RETRY_SECONDS });
