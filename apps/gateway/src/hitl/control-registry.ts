/**
 * Which sessions are under control, in memory, so that the ingest path can ask without waiting. Three shelves:
 *
 *     bound     holding, draining, or with directives waiting: never evicted (the sync answers depend on it);
 *               bounded by refusing new pauses and directives beyond CONTROL_BOUNDS
 *     ended     terminated: the least recently active of the tenant that has most leave first, counted; from then on the
 *               store is asked of every session that is not here
 *     resting   plainly active, but known: cooperative, with a cursor, or not yet told that its pause expired;
 *               rebuilt from the store when needed, then told of the expiry by its state alone
 *
 * All rows that are not plainly active are loaded before the gateway listens, of terminated ones as many as the shelf takes,
 * so until one of them leaves a session missing here is active.
 */

import {
  type ControlRow,
  type DecisionStore,
  type SessionKey,
  SYSTEM_OPERATOR,
  sessionKey,
  splitSessionKey,
  tenantIdOf,
} from '#contracts';
import { holdsMessages } from '#domain/hitl';
import { type Clock, FairLru, HOUR_MS } from '#kernel';
import { CONTROL_BOUNDS, type ControlBound, type ControlBounds } from './control-bounds.js';
import {
  asShown,
  type ControlEntry,
  hearsOnlyOfExpiry,
  isClosed,
  newEntry,
  waiting,
} from './control-entry.js';
import type { HitlEvents } from './hitl-events.js';

const RESTING_COUNT_MAX = 50_000;
const RESTING_IDLE_MS = HOUR_MS;

export interface ControlRegistryOptions {
  store: Pick<DecisionStore, 'controls' | 'control' | 'heldCounts'>;
  clock: Clock;
  events: HitlEvents;
  /** `CONTROL_BOUNDS` unless a spec needs small ones. */
  bounds?: ControlBounds | undefined;
}

export class ControlRegistry {
  readonly #store: ControlRegistryOptions['store'];
  readonly #events: HitlEvents;
  readonly #bounds: ControlBounds;
  readonly #bound = new Map<SessionKey, ControlEntry>();
  /** All of `#bound`, and sessions that a command now being written will bring there. */
  readonly #places = new TenantKeys();
  /** The part of `#places` that nobody commanded. */
  readonly #bySystem = new TenantKeys();
  /** The part of `#bound` whose state holds messages. */
  readonly #paused = new Map<SessionKey, ControlEntry>();
  readonly #ended: FairLru<SessionKey, ControlEntry>;
  readonly #resting: FairLru<SessionKey, ControlEntry>;
  /** Every terminated session is here. */
  #isComplete = true;

  constructor({ store, clock, events, bounds = CONTROL_BOUNDS }: ControlRegistryOptions) {
    this.#store = store;
    this.#bounds = bounds;
    this.#events = events;
    this.#ended = new FairLru({
      countMax: bounds.terminatedKeptMax,
      idleMs: Number.POSITIVE_INFINITY,
      clock,
      onEvict: () => {
        this.#isComplete = false;
        events.evicted('ended');
      },
    });
    this.#resting = new FairLru({
      countMax: RESTING_COUNT_MAX,
      idleMs: RESTING_IDLE_MS,
      clock,
      onEvict: () => events.evicted('resting'),
    });
  }

  /** Reads every session under control, and how much each holds. Rejects as the store does. */
  async loadAll(): Promise<void> {
    for (const row of await this.#store.controls(this.#bounds.terminatedKeptMax)) this.#adopt(row);
    this.#isComplete = this.#ended.size < this.#bounds.terminatedKeptMax;
    for (const { tenant_id, session_id, held_count } of await this.#store.heldCounts()) {
      const entry = await this.load(sessionKey(tenant_id, session_id));
      entry.heldBalance = held_count;
      // The gateway died between a resume and the end of its release: keep the gate closed, the desk drains it.
      entry.draining = !holdsMessages(entry.row.state);
      this.settle(entry);
    }
  }

  #adopt(row: ControlRow): void {
    const entry = newEntry(sessionKey(row.tenant_id, row.session_id), row.tenant_id, row.session_id);
    entry.row = row;
    entry.known = true;
    this.settle(entry);
  }

  /** Hot path: only what may be holding. O(1). */
  bound(key: SessionKey): ControlEntry | undefined {
    return this.#bound.get(key);
  }

  /** Whatever is in memory; marks it as used. O(1). */
  peek(key: SessionKey): ControlEntry | undefined {
    const bound = this.#bound.get(key);
    if (bound !== undefined) return bound;
    const tenantId = tenantIdOf(key);
    return this.#ended.get(tenantId, key) ?? this.#resting.get(tenantId, key);
  }

  /** True if only the store knows whether the session is terminated. A look-up at most. */
  mayHaveLeft(key: SessionKey): boolean {
    return !this.#isComplete && this.peek(key)?.known !== true;
  }

  /** In memory, else a fresh one whose row is a guess until `load`. O(1). */
  open(key: SessionKey): ControlEntry {
    const present = this.peek(key);
    if (present !== undefined) return present;
    const { tenantId, sessionId } = splitSessionKey(key);
    const entry = newEntry(key, tenantId, sessionId);
    this.#resting.set(tenantId, key, entry);
    return entry;
  }

  /** The entry with its durable row. Rejects as the store does. */
  async load(key: SessionKey): Promise<ControlEntry> {
    for (;;) {
      const opened = this.open(key);
      if (opened.known) return opened;
      const { tenantId, sessionId } = splitSessionKey(key);
      const row = await this.#store.control(tenantId, sessionId);
      // Where it has left memory since, who came then may have changed it: what was read may be old.
      if (opened.known || this.open(key) !== opened) continue;
      if (row !== null) opened.row = asShown(row, opened.row);
      opened.known = true;
      this.settle(opened);
      return opened;
    }
  }

  /** Puts the entry on the shelf its state asks for; after every change. O(1). */
  settle(entry: ControlEntry): void {
    const { key } = entry;
    const { tenant_id } = entry.row;
    const ended = entry.row.state === 'terminated';
    const hasToHear = waiting(entry).length > 0 && !hearsOnlyOfExpiry(entry);
    const mustStay = isClosed(entry) || (!ended && hasToHear);
    if (mustStay) this.#bound.set(key, entry);
    else this.#bound.delete(key);
    if (!mustStay && ended) this.#ended.set(tenant_id, key, entry);
    else this.#ended.delete(tenant_id, key);
    if (!mustStay && !ended) this.#resting.set(tenant_id, key, entry);
    else this.#resting.delete(tenant_id, key);
    if (holdsMessages(entry.row.state)) this.#paused.set(key, entry);
    else this.#paused.delete(key);
    this.#countPlace(entry);
    this.#events.controlled(this.#bound.size, this.#paused.size);
  }

  /**
   * Takes the session's place for a command that may bring it under control, before the command is written: of many at
   * once no more get through than there are places. To be followed by `release`. O(1).
   *
   * @returns the bound that keeps this operator, or `system`, from it: then nothing was taken; null if none does
   */
  reserve(operatorId: string, entry: ControlEntry): ControlBound | null {
    const bound = this.#boundMetBy(operatorId, entry);
    if (bound !== null) return bound;
    entry.reservedFor = operatorId;
    this.#countPlace(entry);
    return null;
  }

  /** The command is done or has failed: the place stays the session's only if it is under control now. O(1). */
  release(entry: ControlEntry): void {
    entry.reservedFor = null;
    this.#countPlace(entry);
  }

  #boundMetBy(operatorId: string, { key, row: { tenant_id } }: ControlEntry): ControlBound | null {
    const bounds = this.#bounds;
    const isSystem = operatorId === SYSTEM_OPERATOR;
    const bySystem = this.#bySystem.of(tenant_id);
    if (isSystem && bySystem.size >= bounds.systemPausesPerTenantMax && !bySystem.has(key))
      return 'systemPausesPerTenantMax';
    const theirs = this.#places.of(tenant_id);
    if (theirs.has(key)) return null;
    if (theirs.size >= bounds.controlsPerTenantMax) return 'controlsPerTenantMax';
    const reservedCount = isSystem ? bounds.controlsReservedForOperators : 0;
    return this.#places.size < bounds.controlsMax - reservedCount ? null : 'controlsMax';
  }

  #countPlace({ key, reservedFor, row: { tenant_id, operator_id } }: ControlEntry): void {
    const isBound = this.#bound.has(key);
    this.#places.put(tenant_id, key, isBound || reservedFor !== null);
    const isBySystem = reservedFor === SYSTEM_OPERATOR || (isBound && operator_id === SYSTEM_OPERATOR);
    this.#bySystem.put(tenant_id, key, isBySystem);
  }

  /** Every session that holds messages, in no order. */
  pausedEntries(): IterableIterator<ControlEntry> {
    return this.#paused.values();
  }

  /** Every session that is never evicted, in no order. */
  boundEntries(): IterableIterator<ControlEntry> {
    return this.#bound.values();
  }
}

/** Sessions by tenant; nothing is kept of a tenant without one. */
class TenantKeys {
  readonly #byTenant = new Map<string, Set<SessionKey>>();
  #size = 0;

  /** Of all tenants. */
  get size(): number {
    return this.#size;
  }

  of(tenantId: string): ReadonlySet<SessionKey> {
    return this.#byTenant.get(tenantId) ?? NO_KEYS;
  }

  /** @param isIn whether the session is among them from now on */
  put(tenantId: string, key: SessionKey, isIn: boolean): void {
    const keys = this.#byTenant.get(tenantId) ?? new Set();
    if (isIn === keys.has(key)) return;
    this.#size += isIn ? 1 : -1;
    if (isIn) this.#byTenant.set(tenantId, keys.add(key));
    else if (keys.delete(key) && keys.size === 0) this.#byTenant.delete(tenantId);
  }
}

const NO_KEYS: ReadonlySet<SessionKey> = new Set();
