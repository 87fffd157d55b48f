/**
 * Whether upstreams take calls, by what became of those that went there: what an operator asks first when many agents fail at once.
 * In constant memory for each; of this gateway alone, since its start.
 */
import type { LlmCall, UpstreamHealth } from '#contracts';
import { CallTally } from '#domain/alerts';
import { type Clock, FairLru, HOUR_MS, MINUTE_MS } from '#kernel';
import type { ProxyCall } from '../proxy-call.js';

const WINDOW_MS = 5 * MINUTE_MS;
/** Upstreams of all tenants. */
const UPSTREAM_COUNT_MAX = 2_000;
const IDLE_MS = 24 * HOUR_MS;
/** Whose calls an upstream failed: so many are told apart. */
const AGENT_COUNT_MAX = 1_000;
/** A call without a first byte for so long waits; and a client that leaves then did not leave because it had enough. */
const WAITS_AFTER_MS = 30_000;
/** Fewer, failed or waiting, may be one agent's mishap. */
const FAILED_MIN = 3;
const FALTERING_SHARE = 0.1;
/** Of the latest calls so many, failed or not, say whether it fails, however often it answers between. */
const LATEST_COUNT = 10;
const FAILED_OF_LATEST = 8;
/** The key is no good, the account has no money, or it is too busy. What else is below 500 the caller did. */
const FAILED_STATUSES: readonly number[] = [401, 402, 403, 408, 429];
/** It may be the caller's own key alone. */
const KEY_STATUSES: readonly number[] = [401, 402, 403, 429];

/** A call that ended, as far as it says something of its upstream. */
export interface UpstreamResult extends Pick<LlmCall, 'upstream' | 'agent_id' | 'status' | 'detail'> {
  tenantId: string;
  failed: boolean;
  /** The caller sent a key of its own: what is said of that says nothing of other callers. */
  hasOwnKey: boolean;
}

/** A call that the upstream has, and has not begun to answer. */
export interface UpstreamWait {
  upstream: string;
  /** Since it was sent. */
  waitedMs: number;
}

interface Known {
  tally: CallTally;
  /** When each was last failed, steady ms; oldest first. */
  failedAgents: Map<string, number>;
  /** Since it last answered. */
  failedInRow: number;
  /** Whether each of the latest calls failed, oldest first. */
  latest: readonly boolean[];
  /** Agents that it answered, with when, the latest last: two are enough to know one that is not the one that failed. */
  answeredAgents: Map<string, number>;
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
  return first_byte_ms === null && duration_ms - held_ms >= WAITS_AFTER_MS ? true : null;
}

/** The tenant's calls that an upstream has and has not begun to answer. @param calls under way; nobody knows yet whose a new one is */
export function* waitsOf(calls: Iterable<WaitingCall>, tenantId: string): Generator<UpstreamWait> {
  for (const call of calls)
    if (call.wasTakenUp && call.firstByteMs === null && call.tenantId === tenantId)
      yield { upstream: call.upstream.name, waitedMs: call.elapsedMs() - call.heldMs };
}

type WaitingCall = Pick<
  ProxyCall,
  'tenantId' | 'wasTakenUp' | 'firstByteMs' | 'heldMs' | 'elapsedMs' | 'upstream'
>;

/** Times are kept by the steady clock: somebody who sets the wall clock must not heal or fail an upstream. */
export class UpstreamHealthBoard {
  readonly #clock: Clock;
  readonly #known: FairLru<string, Known>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#known = new FairLru({ countMax: UPSTREAM_COUNT_MAX, idleMs: IDLE_MS, clock });
  }

  /** O(1), and O(agents it failed) where a key of the caller's own is refused. */
  note({ tenantId, upstream, agent_id, status, detail, failed, hasOwnKey }: UpstreamResult): void {
    const known = this.#of(tenantId, upstream);
    const ms = this.#clock.steadyMs();
    known.tally.add(ms, failed);
    const { failedAgents, answeredAgents } = known;
    if (failed) {
      known.lastFailure = { ms, status, detail };
      putLast(failedAgents, agent_id, ms, AGENT_COUNT_MAX);
    } else {
      known.answeredMs = ms;
      putLast(answeredAgents, agent_id, ms, 2);
    }
    if (failed && hasOwnKey && KEY_STATUSES.includes(status) && isAgentsAlone(known, agent_id, ms)) return;
    known.failedInRow = failed ? known.failedInRow + 1 : 0;
    known.latest = [...known.latest, failed].slice(-LATEST_COUNT);
    known.failingSinceMs = failed || isFailing(known) ? (known.failingSinceMs ?? ms) : null;
  }

  /**
   * By name.
   * @param waits the tenant's, however short
   */
  list(tenantId: string, waits: Iterable<UpstreamWait>): UpstreamHealth[] {
    const long = new Map<string, number[]>();
    for (const { upstream, waitedMs } of waits) {
      if (waitedMs < WAITS_AFTER_MS) continue;
      const others = long.get(upstream);
      if (others === undefined) long.set(upstream, [waitedMs]);
      else others.push(waitedMs);
      // It may have answered none yet.
      this.#of(tenantId, upstream);
    }
    return [...this.#known.entries(tenantId)]
      .map(([name, known]) => this.#view(name, known, long.get(name) ?? []))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #view(name: string, known: Known, waits: readonly number[]): UpstreamHealth {
    const steadyMs = this.#clock.steadyMs();
    const atMs = (ms: number): number => Math.round(this.#clock.nowMs() - (steadyMs - ms));
    const { tally, failedAgents, failingSinceMs, answeredMs, lastFailure } = known;
    const { callCount, failureCount } = tally.read(steadyMs);
    const waitingSinceMs = waits.length === 0 ? null : steadyMs - Math.max(...waits);
    const hangs =
      waits.length >= FAILED_MIN && (answeredMs ?? Number.NEGATIVE_INFINITY) < (waitingSinceMs ?? 0);
    const agents = [...failedAgents].filter(([, failedMs]) => failedMs > steadyMs - WINDOW_MS);
    return {
      name,
      state: stateOf(callCount, failureCount, known, hangs),
      call_count: callCount,
      failed_count: failureCount,
      failed_agent_count: agents.length,
      failed_agent_id: agents.length === 1 ? (agents[0]?.[0] ?? null) : null,
      waiting_count: waits.length,
      waiting_since_ms: waitingSinceMs === null ? null : atMs(waitingSinceMs),
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
      latest: [],
      answeredAgents: new Map(),
      failingSinceMs: null,
      answeredMs: null,
      lastFailure: null,
    };
    this.#known.set(tenantId, name, fresh);
    return fresh;
  }
}

/** As a Map keeps what was put last at its end, its first is the oldest. */
function putLast(map: Map<string, number>, agentId: string, ms: number, countMax: number): void {
  map.delete(agentId);
  map.set(agentId, ms);
  if (map.size > countMax) map.delete(map.keys().next().value as string);
}

/** Of all whose calls went there within the window it alone failed, and others were answered. */
function isAgentsAlone({ failedAgents, answeredAgents }: Known, agentId: string, nowMs: number): boolean {
  const hasOther = (agents: Map<string, number>): boolean =>
    [...agents].some(([other, ms]) => other !== agentId && ms > nowMs - WINDOW_MS);
  return hasOther(answeredAgents) && !hasOther(failedAgents);
}

const isFailing = ({ failedInRow, latest }: Pick<Known, 'failedInRow' | 'latest'>): boolean =>
  failedInRow >= FAILED_MIN || latest.filter(Boolean).length >= FAILED_OF_LATEST;

function stateOf(
  callCount: number,
  failedCount: number,
  known: Known,
  hangs: boolean,
): UpstreamHealth['state'] {
  if (callCount > 0 && isFailing(known)) return 'failing';
  if (hangs) return 'faltering';
  if (callCount === 0) return 'idle';
  return failedCount >= Math.max(FAILED_MIN, callCount * FALTERING_SHARE) ? 'faltering' : 'serving';
}
