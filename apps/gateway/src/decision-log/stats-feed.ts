/** One `GatewayStats` a second and tenant on `gateway:stats`, for Fleet Command. */
import { type GatewayStats, type LivePublisher, TOPICS } from '#contracts';
import type { Clock } from '#kernel';

const INTERVAL_MS = 1_000;

interface Counts {
  logs: number;
  violations: number;
}

export interface StatsSources {
  latency: () => { p50: number; p95: number } | null;
  liveSessionCount: (tenantId: string) => number;
  subscriberCount: () => number;
  storeQueueCount: () => number;
}

export class StatsFeed {
  readonly #counts = new Map<string, Counts>();
  #timer: NodeJS.Timeout | undefined;
  #lastMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly live: LivePublisher,
  ) {}

  start(sources: StatsSources): void {
    this.#lastMs = this.clock.nowMs();
    this.#timer = setInterval(() => this.#publish(sources), INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  countLog(tenantId: string): void {
    this.#of(tenantId).logs += 1;
  }

  countViolation(tenantId: string): void {
    this.#of(tenantId).violations += 1;
  }

  #publish(sources: StatsSources): void {
    const nowMs = this.clock.nowMs();
    const seconds = Math.max(0.001, (nowMs - this.#lastMs) / 1000);
    this.#lastMs = nowMs;
    const latency = sources.latency();
    for (const [tenantId, counts] of this.#counts) {
      const stats: GatewayStats = {
        at_ms: nowMs,
        logs_per_second: counts.logs / seconds,
        violations_per_second: counts.violations / seconds,
        ingest_p50_ms: latency?.p50 ?? null,
        ingest_p95_ms: latency?.p95 ?? null,
        live_session_count: sources.liveSessionCount(tenantId),
        subscriber_count: sources.subscriberCount(),
        store_queue_count: sources.storeQueueCount(),
      };
      counts.logs = 0;
      counts.violations = 0;
      this.live.publish(tenantId, TOPICS.stats, stats);
    }
  }

  #of(tenantId: string): Counts {
    let counts = this.#counts.get(tenantId);
    if (counts === undefined) {
      counts = { logs: 0, violations: 0 };
      this.#counts.set(tenantId, counts);
    }
    return counts;
  }
}
