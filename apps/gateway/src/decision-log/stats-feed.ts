/** One `GatewayStats` a second on `gateway:stats`, for Fleet Command: to each tenant that sent something, or looks now. */
import { type GatewayStats, type LiveAudience, type LivePublisher, TOPICS } from '#contracts';
import type { Clock } from '#kernel';

const INTERVAL_MS = 1_000;

interface Counts {
  logs: number;
  violations: number;
}

export interface StatsSources {
  latency: () => { p50: number | null; p95: number | null };
  liveSessionCounts: () => ReadonlyMap<string, number>;
  subscriberCount: () => number;
  storeQueueCount: () => number;
}

export class StatsFeed {
  readonly #counts = new Map<string, Counts>();
  #timer: NodeJS.Timeout | undefined;
  #lastMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly live: LivePublisher & Pick<LiveAudience, 'watchedTenants'>,
  ) {}

  start(sources: StatsSources): void {
    this.#lastMs = this.clock.steadyMs();
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
    const steadyMs = this.clock.steadyMs();
    const seconds = Math.max(0.001, (steadyMs - this.#lastMs) / 1000);
    this.#lastMs = steadyMs;
    const { p50, p95 } = sources.latency();
    const liveSessionCounts = sources.liveSessionCounts();
    for (const tenantId of new Set([...this.#counts.keys(), ...this.live.watchedTenants()])) {
      const counts = this.#counts.get(tenantId) ?? { logs: 0, violations: 0 };
      const stats: GatewayStats = {
        at_ms: this.clock.nowMs(),
        logs_per_second: counts.logs / seconds,
        violations_per_second: counts.violations / seconds,
        ingest_p50_ms: p50,
        ingest_p95_ms: p95,
        live_session_count: liveSessionCounts.get(tenantId) ?? 0,
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
