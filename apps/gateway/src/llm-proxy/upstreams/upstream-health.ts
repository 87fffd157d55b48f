/**
 * Whether upstreams take calls, by what became of those that went there: what an operator asks first when many agents fail at once.
 * In constant memory for each; of this gateway alone, since its start.
 */
import type { LlmCall, UpstreamHealth } from '#contracts';
import { CallTally } from '#domain/alerts';
import { type Clock, FairLru, HOUR_MS, MINUTE_MS } from '#kernel';

const WINDOW_MS = 5 * MINUTE_MS;
/** Upstreams of all tenants. */
const UPSTREAM_COUNT_MAX = 2_000;
const IDLE_MS = 24 * HOUR_MS;
/** Whose calls an upstream failed: so many are told apart. */
const AGENT_COUNT_MAX = 1_000;
/** A client that waited so long for a first byte did not leave because it had enough. */
const GIVEN_UP_AFTER_MS = 30_000;
/** Fewer may be one agent's mishap. */
const FAILED_MIN = 3;
const FALTERING_SHARE = 0.1;
/** The key is no good, the account has no money, or it is too busy. What else is below 500 the caller did. */
const FAILED_STATUSES: readonly number[] = [401, 402, 403, 408, 429];

/** A call that ended, as far as it says something of its upstream. */
export interface UpstreamResult extends Pick<LlmCall, 'upstream' | 'agent_id' | 'status' | 'detail'> {
  tenantId: string;
  failed: boolean;
}

interface Known {
  tally: CallTally;
  /** When each was last failed, steady ms; oldest first. */
  failedAgents: Map<string, number>;
  /** Since it last answered. */
  failedInRow: number;
  failingSinceMs: number | null;
  answeredMs: number | null;
  lastFailure: { ms: number; status: number; detail: string | null } | null;
}

/** Null: it says nothing, since a guard refused the call, the client left early or the gateway shut down. */
export function wasFailedByUpstream(
  {
    decision,
    status,
    first_byte_ms,
    duration_ms,
    held_ms,
  }: Pick<LlmCall, 'decision' | 'status' | 'first_byte_ms' | 'duration_ms' | 'held_ms'>,
  { wasTakenUp, wasShutDown }: { wasTakenUp: boolean; wasShutDown: boolean },
): boolean | null {
  if (decision === 'upstream_failed') return true;
  if (decision === 'forwarded' || decision === 'hinted')
    return status === 0 ? null : status >= 500 || FAILED_STATUSES.includes(status);
  if (decision !== 'aborted' || !wasTakenUp || wasShutDown) return null;
  return first_byte_ms === null && duration_ms - held_ms >= GIVEN_UP_AFTER_MS ? true : null;
}

/** Times are kept by the steady clock: somebody who sets the wall clock must not heal or fail an upstream. */
export class UpstreamHealthBoard {
  readonly #clock: Clock;
  readonly #known: FairLru<string, Known>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#known = new FairLru({ countMax: UPSTREAM_COUNT_MAX, idleMs: IDLE_MS, clock });
  }

  /** O(1). */
  note({ tenantId, upstream, agent_id, status, detail, failed }: UpstreamResult): void {
    const known = this.#of(tenantId, upstream);
    const ms = this.#clock.steadyMs();
    known.tally.add(ms, failed);
    if (!failed) {
      known.failedInRow = 0;
      known.failingSinceMs = null;
      known.answeredMs = ms;
      return;
    }
    known.failedInRow += 1;
    known.failingSinceMs ??= ms;
    known.lastFailure = { ms, status, detail };
    const { failedAgents } = known;
    failedAgents.delete(agent_id);
    failedAgents.set(agent_id, ms);
    if (failedAgents.size > AGENT_COUNT_MAX) failedAgents.delete(failedAgents.keys().next().value as string);
  }

  /** By name. */
  list(tenantId: string): UpstreamHealth[] {
    return [...this.#known.entries(tenantId)]
      .map(([name, known]) => this.#view(name, known))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #view(name: string, known: Known): UpstreamHealth {
    const steadyMs = this.#clock.steadyMs();
    const atMs = (ms: number): number => Math.round(this.#clock.nowMs() - (steadyMs - ms));
    const { tally, failedAgents, failingSinceMs, answeredMs, lastFailure } = known;
    const { callCount, failureCount } = tally.read(steadyMs);
    let agentCount = 0;
    for (const failedMs of failedAgents.values()) if (failedMs > steadyMs - WINDOW_MS) agentCount += 1;
    return {
      name,
      state: stateOf(callCount, failureCount, known.failedInRow),
      call_count: callCount,
      failed_count: failureCount,
      failed_agent_count: agentCount,
      failing_since_ms: failingSinceMs === null ? null : atMs(failingSinceMs),
      answered_at_ms: answeredMs === null ? null : atMs(answeredMs),
      last_failure: lastFailure && {
        at_ms: atMs(lastFailure.ms),
        status: lastFailure.status,
        detail: lastFailure.detail,
      },
    };
  }

  #of(tenantId: string, name: string): Known {
    const known = this.#known.get(tenantId, name);
    if (known !== undefined) return known;
    const fresh: Known = {
      tally: new CallTally(WINDOW_MS),
      failedAgents: new Map(),
      failedInRow: 0,
      failingSinceMs: null,
      answeredMs: null,
      lastFailure: null,
    };
    this.#known.set(tenantId, name, fresh);
    return fresh;
  }
}

function stateOf(callCount: number, failedCount: number, failedInRow: number): UpstreamHealth['state'] {
  if (callCount === 0) return 'idle';
  if (failedInRow >= FAILED_MIN) return 'failing';
  return failedCount >= Math.max(FAILED_MIN, callCount * FALTERING_SHARE) ? 'faltering' : 'serving';
}
