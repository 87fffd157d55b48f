/** Where the gateway's parts publish what operators see. Scoped to a tenant; never blocks, never throws. */
import type { Published, Topic } from '../live.js';

export interface LivePublisher {
  /**
   * Feeds leave in batches of 100 ms; alerts and control at once.
   *
   * @param chars of the payload as JSON, about, where a stranger decides how long it is: bounds what is kept of it
   */
  publish<T extends Topic>(tenantId: string, topic: T, payload: Published<T>, chars?: number): void;
}

/** Whether it is worth the work. */
export interface LiveAudience {
  /** Somebody of this tenant has subscribed to a topic, of whatever kind. */
  isWatched(tenantId: string): boolean;

  /** Those of which that is so. */
  watchedTenants(): Iterable<string>;

  /** Somebody has subscribed to this session. */
  isSessionWatched(tenantId: string, sessionId: string): boolean;
}
