/**
 * The steps that were made of calls, on their way to the interceptor, as if their agent had sent them; and what calls took without
 * one. No agent would send them again: what the store has no room for waits until it has, and behind it what comes of its tenant.
 */
import { type DecisionLog, tenantIdOf } from '#contracts';
import { BackgroundWork, type Timer } from '#kernel';
import type { SchemaInterceptor } from '../../decision-log/schema-interceptor.js';
import type { SessionRegistry, SteplessUse } from '../../decision-log/session-registry.js';
import { FairShare } from '../../fair-share.js';
import { hasNoRoomYet } from '../../has-no-room-yet.js';
import { lastAttempts } from '../../last-attempts.js';

/** Steps on their way, and uses behind them, half of them of one tenant; of more, steps are refused, and a use waits for none. */
export const WAITING_COUNT_MAX = 5_000;
/** Scored and written in one go, roughly. */
const BATCH_COUNT_MAX = 500;
/** After a refusal. */
const RETRY_INTERVAL_MS = 1_000;

/** In the order in which they came. */
type Load = { logs: DecisionLog[] } | { use: SteplessUse };

/** Of one tenant, while it has something here. */
interface Lane {
  tenantId: string;
  loads: Load[];
  isMoving: boolean;
}

export interface StepDeliveryParts {
  timer: Timer;
  /** Whether the store takes none of the tenant's now: then none are scored, which an alert may follow. */
  refuses: (tenantId: string) => boolean;
  /** Those steps are lost. */
  onRefused: (stepCount: number, error: unknown) => void;
}

export class StepDelivery {
  readonly #parts: StepDeliveryParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #moving = new BackgroundWork();
  readonly #room = new FairShare({ max: WAITING_COUNT_MAX, onFull: () => {} });
  #isArmed = false;
  #interceptor: Pick<SchemaInterceptor, 'intercept'> | null = null;
  #sessions: Pick<SessionRegistry, 'noteStepless'> | null = null;

  constructor(parts: StepDeliveryParts) {
    this.#parts = parts;
  }

  /** Before the first call. */
  connect(
    interceptor: Pick<SchemaInterceptor, 'intercept'>,
    sessions: Pick<SessionRegistry, 'noteStepless'>,
  ): void {
    this.#interceptor = interceptor;
    this.#sessions = sessions;
  }

  /** Never throws. */
  deliver(tenantId: string, logs: DecisionLog[]): void {
    if (!this.#room.take(tenantId, logs.length)) {
      this.#parts.onRefused(logs.length, null);
      return;
    }
    const lane = this.#lanes.get(tenantId) ?? { tenantId, loads: [], isMoving: false };
    this.#lanes.set(tenantId, lane);
    const last = lane.loads.at(-1);
    // What waits behind another goes with it: a store that takes longer to answer than steps to come would never catch up.
    if (lane.loads.length > 1 && last !== undefined && 'logs' in last && last.logs.length < BATCH_COUNT_MAX)
      last.logs.push(...logs);
    else lane.loads.push({ logs: [...logs] });
    if (lane.loads.length === 1) this.#move(lane);
  }

  /** Once what its tenant delivered before has come in: it may begin their sessions. */
  noteStepless(uses: readonly SteplessUse[]): void {
    for (const use of uses) {
      const tenantId = tenantIdOf(use.key);
      const lane = this.#lanes.get(tenantId);
      if (lane !== undefined && this.#room.take(tenantId, 1)) lane.loads.push({ use });
      else this.#sessions?.noteStepless(use);
    }
  }

  /** After the last: what the store has refused is tried a few times more. Never rejects. */
  async stop(): Promise<void> {
    await lastAttempts(this.#parts.timer, async () => {
      await this.#moveAll();
      return this.#lanes.size === 0;
    });
    for (const { loads } of this.#lanes.values())
      for (const load of loads) if ('logs' in load) this.#parts.onRefused(load.logs.length, null);
    this.#lanes.clear();
  }

  /** Resolves once all that is here now has come in, or is refused for the moment. Never rejects. */
  async #moveAll(): Promise<void> {
    for (const lane of this.#lanes.values()) this.#move(lane);
    await this.#moving.settled();
  }

  #move(lane: Lane): void {
    if (lane.isMoving) return;
    lane.isMoving = true;
    const moved = this.#moveOn(lane).finally(() => {
      lane.isMoving = false;
    });
    void this.#moving.add(moved);
  }

  /** Up to the first that has to wait. */
  async #moveOn({ tenantId, loads }: Lane): Promise<void> {
    for (let load = loads[0]; load !== undefined; load = loads[0]) {
      if ('use' in load) this.#sessions?.noteStepless(load.use);
      else if (!(await this.#store(tenantId, load.logs))) return this.#arm();
      loads.shift();
      this.#room.giveBack(tenantId, 'use' in load ? 1 : load.logs.length);
    }
    this.#lanes.delete(tenantId);
  }

  /** @returns false if the store has no room for the moment */
  async #store(tenantId: string, logs: readonly DecisionLog[]): Promise<boolean> {
    if (this.#parts.refuses(tenantId)) return false;
    try {
      await this.#interceptor?.intercept(
        tenantId,
        logs.map((value) => ({ value, text: null })),
      );
    } catch (error) {
      if (hasNoRoomYet(error)) return false;
      this.#parts.onRefused(logs.length, error);
    }
    return true;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#parts.timer.after(RETRY_INTERVAL_MS, () => {
      this.#isArmed = false;
      void this.#moveAll();
    });
  }
}
