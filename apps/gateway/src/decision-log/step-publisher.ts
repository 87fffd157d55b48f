/** One stored step, shown everywhere it is due: its session's row, the feeds, the map. */
import {
  type EntropyTuple,
  type LiveAudience,
  type LivePublisher,
  type SessionKey,
  type StoredStep,
  sessionTopic,
  TOPICS,
  type ViolationEvent,
} from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import type { SessionRegistry } from './session-registry.js';
import type { StatsFeed } from './stats-feed.js';
import type { TopologyFeed } from './topology-feed.js';

export class StepPublisher {
  /** Told of each step once it is published. Set once, before the first. */
  onStep: (key: SessionKey, step: StoredStep) => void = () => {};

  constructor(
    private readonly registry: SessionRegistry,
    private readonly topology: TopologyFeed,
    private readonly live: LivePublisher & LiveAudience,
    private readonly stats: StatsFeed,
  ) {}

  /** @param window the session's tuples with this step, oldest first; kept */
  publish(key: SessionKey, step: StoredStep, window: readonly EntropyTuple[]): void {
    const { tenant_id, session_id, body_chars } = step;
    this.stats.countLog(tenant_id);
    this.registry.apply(key, step, window);
    this.topology.recordStep(step);
    if (step.log.control?.is_terminal) this.topology.endSession(tenant_id, session_id);
    this.live.publish(tenant_id, TOPICS.messages, step, body_chars);
    // Counted by the feed of messages, too: who comes back to a session nobody watched is not told that nothing happened.
    if (this.live.isSessionWatched(tenant_id, session_id)) {
      const event = { kind: 'step' as const, step: stepViewOf(step), window: window as EntropyTuple[] };
      this.live.publish(tenant_id, sessionTopic(session_id), event, body_chars);
    }
    this.onStep(key, step);
  }

  /** To those who look at its session, and to nobody else. Resolves once the session has a row; never rejects. */
  publishHeld(key: SessionKey, step: StoredStep): Promise<void> {
    const { tenant_id, session_id, body_chars } = step;
    const introduced = this.registry.introduceHeld(key, step);
    const event = { kind: 'held' as const, step: stepViewOf(step) };
    this.live.publish(tenant_id, sessionTopic(session_id), event, body_chars);
    return introduced;
  }

  publishViolation(tenantId: string, event: ViolationEvent): void {
    this.stats.countViolation(tenantId);
    this.topology.recordViolation(tenantId, event);
    this.live.publish(tenantId, TOPICS.violations, event);
  }
}
