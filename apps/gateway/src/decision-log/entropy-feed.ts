/** What the entropy tracker says, carried to where it is seen: live topics, the store, the map. */
import {
  type DecisionStore,
  type EntropyAlertEvent,
  type LiveAudience,
  type LivePublisher,
  type NodeState,
  type SessionKey,
  sessionTopic,
  splitSessionKey,
  TOPICS,
  tenantIdOf,
} from '#contracts';
import type { EntropyPublisher } from '#domain/entropy';
import type { AlertBoard } from './alert-board.js';
import type { IngestEvents } from './ingest-events.js';
import type { TopologyFeed } from './topology-feed.js';

export class EntropyFeed implements EntropyPublisher {
  constructor(
    private readonly live: LivePublisher & LiveAudience,
    private readonly store: DecisionStore,
    private readonly topology: TopologyFeed,
    private readonly board: AlertBoard,
    private readonly events: IngestEvents,
  ) {}

  publishAlert(key: SessionKey, event: EntropyAlertEvent): void {
    const tenantId = tenantIdOf(key);
    const raised = this.board.raise(key, event);
    this.live.publish(tenantId, TOPICS.entropyAlerts, raised);
    this.events.alertRaised(event);
    this.store
      .appendAlert(tenantId, raised)
      .then(() => this.#tellOpenSession(tenantId, event.session_id))
      .catch((error) => this.events.storeFailed('alert', error));
  }

  /** As the store counts them: the board forgets those of a loop that is over, and a snapshot doesn't. */
  async #tellOpenSession(tenantId: string, sessionId: string): Promise<void> {
    if (!this.live.isSessionWatched(tenantId, sessionId)) return;
    const alert = await this.store.alertGroup(tenantId, sessionId);
    if (alert !== null) this.live.publish(tenantId, sessionTopic(sessionId), { kind: 'alert', alert });
  }

  publishNodeState(key: SessionKey, agentId: string, state: NodeState): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.topology.setNodeState(tenantId, sessionId, agentId, state);
  }
}
