/**
 * Brings back the entropy window, the row and the control of a session that has a past in the store, before its next step
 * is scored: after a restart, or once a bound pushed one of them out; each has its own. Messages that come meanwhile wait
 * for the same read.
 */
import {
  type DecisionStore,
  type EntropyTuple,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfigSource,
  runtimeConfigSchema,
  type SessionKey,
  splitSessionKey,
} from '#contracts';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { SessionRegistry } from './session-registry.js';
import { toolKeySetting } from './tool-key-setting.js';

/** The two questions and the one act this needs of the tracker, whose writer stays the interceptor's. */
interface RestorableWindows {
  has(key: SessionKey): boolean;
  restore(key: SessionKey, agentId: string, tuples: EntropyTuple[]): boolean;
}

export interface WindowRestoreParts {
  tracker: RestorableWindows;
  store: Pick<DecisionStore, 'lastTuples'>;
  config: RuntimeConfigSource;
  rows: Pick<SessionRegistry, 'mayBeStored' | 'mayHaveLeft' | 'bringBack'>;
  desk: Pick<ControlDesk, 'recall'>;
}

export class WindowRestore {
  readonly #parts: WindowRestoreParts;
  readonly #underWay = new Map<SessionKey, Promise<void>>();

  constructor(parts: WindowRestoreParts) {
    this.#parts = parts;
  }

  /** Null if there is nothing to wait for. */
  restore(key: SessionKey): Promise<void> | null {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const { tracker, rows, desk } = this.#parts;
    const hasWindow = tracker.has(key);
    const lacksWindow = !hasWindow && rows.mayBeStored(key);
    const lacksRow = rows.mayHaveLeft(key);
    const recalled = desk.recall(key);
    if (!lacksWindow && !lacksRow && recalled === null) return null;
    const restoring = Promise.all([
      lacksWindow ? this.#windowFromStore(key) : hasWindow,
      lacksRow ? rows.bringBack(key) : null,
      recalled,
    ])
      // A bound may have pushed one out while the others were read.
      .then(async ([hadWindow]) => {
        if (hadWindow && !tracker.has(key)) await this.#windowFromStore(key);
        if (rows.mayHaveLeft(key)) await rows.bringBack(key);
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, restoring);
    return restoring;
  }

  /** @returns false where there is none */
  async #windowFromStore(key: SessionKey): Promise<boolean> {
    const { tracker, config, store } = this.#parts;
    const { tenantId, sessionId } = splitSessionKey(key);
    const size = runtimeConfigSchema.shape.entropy_window_size.safeParse(config.get('entropy_window_size'));
    const count = size.success ? size.data : RUNTIME_CONFIG_DEFAULTS.entropy_window_size;
    const last = await store.lastTuples(tenantId, sessionId, count, toolKeySetting(config));
    if (last === null) return false;
    tracker.restore(key, last.agent_id, last.tuples);
    return true;
  }
}
