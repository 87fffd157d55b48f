/** One topology per tenant; its changes leave on `gateway:topology` every 100 ms, or a second where nobody watches. */
import { randomBytes } from 'node:crypto';
import {
  type LiveAudience,
  type LivePublisher,
  type NodeState,
  type SessionView,
  type StoredStep,
  TOPICS,
  type TopologyChange,
  type ViolationEvent,
} from '#contracts';
import { timestampMsOf } from '#domain/decision-log';
import { Topology } from '#domain/topology';
import type { Clock } from '#kernel';
import { FeedPace } from '../realtime/feed-pace.js';
import { FEED_INTERVAL_MS } from '../realtime/live-hub.js';

export class TopologyFeed {
  readonly #topologies = new Map<string, Topology>();
  readonly #pace: FeedPace;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly live: LivePublisher & LiveAudience,
    private readonly onWarning: (warning: string) => void,
  ) {
    this.#pace = new FeedPace(live);
  }

  start(): void {
    this.#timer = setInterval(() => this.#publishChanges(), FEED_INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Before the first step. */
  restore(tenantId: string, row: SessionView): void {
    this.#of(tenantId).restore(row);
  }

  recordStep(step: StoredStep): void {
    const { log } = step;
    const warning = this.#of(step.tenant_id).recordStep({
      session_id: step.session_id,
      agent_id: step.agent_id,
      agent_type: log.identity.agent_type,
      trace_id: step.trace_id,
      parent_step_id: log.meta.parent_step_id || null,
      at_ms: timestampMsOf(log),
      received_at_ms: step.received_at_ms,
      intent: log.cognition.intent,
      status: log.action.status,
    });
    if (warning) this.onWarning(warning);
  }

  setNodeState(tenantId: string, sessionId: string, agentId: string, state: NodeState): void {
    this.#of(tenantId).setNodeState(sessionId, agentId, state);
  }

  recordViolation(tenantId: string, event: ViolationEvent): void {
    this.#of(tenantId).recordViolation(event.agent_id, this.clock.nowMs());
  }

  endSession(tenantId: string, sessionId: string, isTerminated = false): void {
    this.#of(tenantId).endSession(sessionId, isTerminated);
  }

  snapshot(tenantId: string): TopologyChange {
    // None is kept for who looks: an operator of all tenants may name any.
    return (this.#topologies.get(tenantId) ?? new Topology({ clock: this.clock })).snapshot();
  }

  #publishChanges(): void {
    this.#pace.nextFrame();
    for (const [tenantId, topology] of this.#topologies) {
      if (!this.#pace.isDue(tenantId)) continue;
      topology.sweep();
      // Where nobody watches all leaves at once: a second's changes may be more than one delta holds.
      const isWatched = this.live.isWatched(tenantId);
      for (let change = topology.drainChanges(); change; change = isWatched ? null : topology.drainChanges())
        this.live.publish(tenantId, TOPICS.topology, change);
    }
  }

  #of(tenantId: string): Topology {
    let topology = this.#topologies.get(tenantId);
    if (topology === undefined) {
      topology = new Topology({ clock: this.clock, seed: randomBytes(4).readInt32LE() });
      this.#topologies.set(tenantId, topology);
    }
    return topology;
  }
}
