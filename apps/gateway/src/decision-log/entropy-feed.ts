/** What the entropy tracker says, carried to where it is seen: live topics, the store, the map. */
import {
  type DecisionStore,
  type EntropyAlertEvent,
  type LivePublisher,
  type NodeState,
  type SessionKey,
  splitSessionKey,
  TOPICS,
} from '#contracts';
import type { EntropyPublisher } from '#domain/entropy';
import { type AlertBoard, GROUP_COUNT_MAX } from './alert-board.js';
import type { IngestEvents } from './ingest-events.js';
import type { TopologyFeed } from './topology-feed.js';

/** Between two lines about alerts that gave way. */
const FULL_TOLD_EVERY_MS = 60_000;

export class EntropyFeed implements EntropyPublisher {
  #gaveWayCount = 0;
  #fullToldMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly live: LivePublisher,
    private readonly store: DecisionStore,
    private readonly topology: TopologyFeed,
    private readonly board: AlertBoard,
    private readonly events: IngestEvents,
  ) {}

  publishAlert(key: SessionKey, event: EntropyAlertEvent): void {
    const { tenantId } = splitSessionKey(key);
    if (this.board.raise(key, event)) this.#noteFull(event.at_ms);
    this.live.publish(tenantId, TOPICS.entropyAlerts, event);
    this.events.alertRaised(event);
    this.store.appendAlert(tenantId, event).catch((error) => this.events.storeFailed('alert', error));
  }

  /** The board is full: alerts of the tenant with most are in its history, but no longer on its panel. */
  #noteFull(atMs: number): void {
    this.#gaveWayCount += 1;
    if (atMs - this.#fullToldMs < FULL_TOLD_EVERY_MS) return;
    this.#fullToldMs = atMs;
    this.events.warn(
      `more than ${GROUP_COUNT_MAX} entropy alerts are open; ${this.#gaveWayCount} since the start gave way, each of the tenant that had most`,
    );
  }

  publishNodeState(key: SessionKey, agentId: string, state: NodeState): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.topology.setNodeState(tenantId, sessionId, agentId, state);
  }
}
