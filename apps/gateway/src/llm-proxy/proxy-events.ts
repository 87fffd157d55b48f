/** What happens around the proxy, each as one function: log line and metric together. No prompts, no keys, no ids in labels. */
import type { Logger } from 'pino';
import { Counter, type Histogram, type Registry } from 'prom-client';
import { RedisFailure } from '#adapters/redis';
import type { CallDecision, ErrorCode, Incident, LimiterFailure } from '#contracts';
import { LinePace, type SteadyClock } from '#kernel';
import { VENDOR_UPSTREAMS } from '../config/upstreams.js';
import { addGauge, beginAtZero, METRIC_PREFIX, metersOf } from '../telemetry/metrics.js';
import type { ProxyCall } from './proxy-call.js';
import type { UpstreamTarget } from './upstreams/upstream-directory.js';

/** Of what tenants have added, all together: no upstream can have this name. */
const OF_SETTINGS = '(settings)';

export interface ProxyGauges {
  held: () => number;
  windows: () => number;
  waitingRows: () => number;
  bodyBytes: () => number;
  split: () => number;
  /** What guards forgot for want of room since the start, by guard. */
  forgotten: () => Readonly<Record<string, number>>;
}

export class ProxyEvents {
  readonly #logger: Logger;
  readonly #calls: Counter<'upstream' | 'decision'>;
  readonly #turnedAway: Counter<'reason'>;
  readonly #upstreamCalls: Counter<'upstream' | 'outcome'>;
  readonly #seconds: Histogram<'upstream'>;
  readonly #firstByte: Histogram<'upstream'>;
  readonly #tokens: Counter<'upstream' | 'direction'>;
  readonly #failedOpen: Counter<'site'>;
  readonly #kills: Counter;
  readonly #dropped: Counter<'what'>;
  readonly #noRoom: Counter<'what'>;
  readonly #closedTenants: Counter;
  readonly #lines: LinePace<string>;
  readonly #failOpenCounts = new Map<string, number>();
  readonly #limiterCounts = new Map<LimiterFailure, number>();

  constructor(clock: SteadyClock, logger: Logger, metrics: Registry, gauges: ProxyGauges) {
    const { counter, histogram } = metersOf(metrics);
    this.#lines = new LinePace(clock);
    this.#logger = logger;
    this.#calls = counter(
      'proxy_calls_total',
      'Proxied calls by what became of them.',
      'upstream',
      'decision',
    );
    this.#turnedAway = counter(
      'proxy_turned_away_total',
      'Requests refused before it is known whose they are and where they go, by code: no such key, agent or upstream. They are no proxied calls.',
      'reason',
    );
    beginAtZero(this.#turnedAway, 'reason', ['unauthorized', 'forbidden', 'upstream_not_found']);
    this.#upstreamCalls = counter(
      'proxy_upstream_calls_total',
      'Calls that an upstream answered or failed: it did not answer, or with 401, 402, 403, 408, 429 or 5xx.',
      'upstream',
      'outcome',
    );
    this.#seconds = histogram(
      'proxy_call_seconds',
      'Request received to last byte of the answer, time held included.',
      [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300],
      'upstream',
    );
    this.#firstByte = histogram(
      'proxy_first_byte_seconds',
      'Request received to first byte of the answer.',
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60],
      'upstream',
    );
    this.#tokens = counter(
      'proxy_tokens_total',
      'Tokens as the vendors counted them.',
      'upstream',
      'direction',
    );
    this.#failedOpen = counter(
      'fail_open_total',
      'Guards that failed and let the call go on, by guard.',
      'site',
    );
    beginAtZero(this.#failedOpen, 'site', ['rate_limiter', 'semantic_loop', 'cache']);
    this.#kills = counter('kill_switch_fired_total', 'Agents stopped by the kill switch.');
    this.#dropped = counter(
      'proxy_dropped_total',
      'Records of calls given up because a bound was reached or the store refused: rows, steps, incidents.',
      'what',
    );
    beginAtZero(this.#dropped, 'what', ['rows', 'steps', 'incidents']);
    this.#closedTenants = counter(
      'proxy_closed_tenants_total',
      'Tenants closed to agents without settings of their own: the kill switch stopped more than are told apart.',
    );
    this.#noRoom = counter(
      'proxy_no_room_total',
      'Because too much was under way: calls refused (body_bytes, upstream_calls), answers unread (answer_bytes).',
      'what',
    );
    new Counter({
      name: `${METRIC_PREFIX}proxy_forgotten_total`,
      help: 'What a guard forgot for want of room: kill_switch_windows, session_caps, limit_counters, and budget_refunds that Redis was not told.',
      labelNames: ['what'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const [what, count] of Object.entries(gauges.forgotten())) this.inc({ what }, count);
      },
    });
    const gauge = (name: string, help: string, read: () => number) => addGauge(metrics, name, help, read);
    gauge('proxy_held_calls', 'Calls that wait for an operator now.', gauges.held);
    gauge('kill_switch_windows', 'Windows of the kill switch in memory.', gauges.windows);
    gauge('split_agents', 'Agents whose calls reach another gateway on the same Redis, too.', gauges.split);
    gauge('proxy_waiting_rows', 'Calls not yet handed to the store.', gauges.waitingRows);
    gauge(
      'proxy_body_bytes',
      'Bytes of the bodies of calls under way, held ones included.',
      gauges.bodyBytes,
    );
  }

  ended(call: ProxyCall, decision: CallDecision): void {
    const upstream = labelOf(call.upstream);
    this.#calls.inc({ upstream, decision });
    this.#seconds.observe({ upstream }, call.durationMs / 1_000);
    if (call.firstByteMs !== null) this.#firstByte.observe({ upstream }, call.firstByteMs / 1_000);
    const usage = call.answer?.usage;
    if (usage) {
      this.#tokens.inc({ upstream, direction: 'input' }, usage.input_tokens);
      this.#tokens.inc({ upstream, direction: 'output' }, usage.output_tokens);
    }
  }

  /** No line of the log: strangers cause it. */
  turnedAway(code: ErrorCode): void {
    this.#turnedAway.inc({ reason: code });
  }

  upstreamTried(upstream: UpstreamTarget, failed: boolean): void {
    this.#upstreamCalls.inc({ upstream: labelOf(upstream), outcome: failed ? 'failed' : 'answered' });
  }

  /** Sites that failed open since the start, by name. */
  failOpenCounts(): Record<string, number> {
    return Object.fromEntries(this.#failOpenCounts);
  }

  /** For a guard that says the rest itself. */
  countFailOpen(site: string): void {
    this.#failedOpen.inc({ site });
    this.#failOpenCounts.set(site, (this.#failOpenCounts.get(site) ?? 0) + 1);
  }

  /** Counted each time, logged once a minute per guard. */
  failedOpen(site: string, error: unknown): void {
    this.#failedOpenFor({ site }, error, 'a guard failed; calls go on without it');
  }

  /** Sites' `rate_limiter` by what was wrong, since the start. */
  limiterFailureCounts(): Partial<Record<LimiterFailure, number>> {
    return Object.fromEntries(this.#limiterCounts);
  }

  /** Counted each time, logged once a minute per reason: a Redis that is away and one that refuses are looked for elsewhere. */
  limiterFailedOpen(error: unknown): void {
    const site = 'rate_limiter';
    const reason = error instanceof RedisFailure ? error.reason : 'error';
    this.#limiterCounts.set(reason, (this.#limiterCounts.get(reason) ?? 0) + 1);
    this.#failedOpenFor({ site, reason }, error, LIMITER_LINES[reason]);
  }

  #failedOpenFor(cause: { site: string; reason?: LimiterFailure }, error: unknown, text: string): void {
    this.countFailOpen(cause.site);
    const untold_count = this.#lines.untoldAt(Object.values(cause).join(' '));
    if (untold_count !== null)
      this.#logger.error({ event: 'fail_open', ...cause, untold_count, err: error }, text);
  }

  failedClosed(site: string, callId: string, error: unknown): void {
    this.#logger.error(
      { event: 'fail_closed', site, call_id: callId, err: error },
      'a step failed; the call was refused',
    );
  }

  killed(tenantId: string, { agent_id, session_id, incident_id, breakdown, threshold }: Incident): void {
    this.#kills.inc();
    this.#logger.warn(
      {
        event: 'kill_switch',
        tenant_id: tenantId,
        agent_id,
        session_id,
        incident_id,
        score: breakdown.score,
        threshold,
      },
      'the kill switch stopped an agent',
    );
  }

  /** Logged once a minute, however many are. */
  agentSplit(tenantId: string, agentId: string): void {
    const untold_count = this.#lines.untoldAt('agent_split');
    if (untold_count !== null)
      this.#logger.warn(
        { event: 'agent_split', tenant_id: tenantId, agent_id: agentId, untold_count },
        'calls of an agent reach this gateway and another one: what is paused or stopped here goes on there; let the balancer choose by agent',
      );
  }

  incidentUnsaved(incidentId: string, error: unknown): void {
    this.#logger.error(
      { event: 'incident_unsaved', incident_id: incidentId, err: error },
      'an incident could not be stored',
    );
  }

  incidentLost(): void {
    this.#dropped.inc({ what: 'incidents' });
  }

  deactivationUnsaved(error: unknown): void {
    this.#logger.error(
      { event: 'deactivation_unsaved', err: error },
      'a deactivation is in force but could not be stored; it is tried again until it is',
    );
  }

  tenantClosed(tenantId: string): void {
    this.#closedTenants.inc();
    this.#logger.error(
      { event: 'tenant_closed', tenant_id: tenantId },
      'the kill switch stopped more agents of a tenant than are told apart: those without settings of their own are refused',
    );
  }

  keyLost(upstream: string): void {
    this.#logger.error(
      { event: 'upstream_key_lost', upstream },
      'the key of an upstream was sealed with another secret; give it again in the settings',
    );
  }

  rowsDropped(count: number, error: unknown): void {
    this.#dropped.inc({ what: 'rows' }, count);
    this.#logger.warn({ event: 'calls_dropped', count, err: error }, 'calls could not be recorded');
  }

  noRoom(what: 'body_bytes' | 'upstream_calls' | 'answer_bytes'): void {
    this.#noRoom.inc({ what });
  }

  stepSkipped(): void {
    this.#dropped.inc({ what: 'steps' });
  }

  stepsRefused(count: number, error: unknown): void {
    this.#dropped.inc({ what: 'steps' }, count);
    this.#logger.warn(
      { event: 'proxy_steps_refused', count, err: error },
      'steps of proxied calls were not stored',
    );
  }

  injectionUnconfirmed(error: unknown): void {
    this.#logger.warn(
      { event: 'injection_unconfirmed', err: error },
      'a directive may reach its agent again',
    );
  }
}

const LIMITER_LINES: Record<LimiterFailure, string> = {
  timeout: 'Redis did not answer the limiter in time; rates and budgets are not enforced for these calls',
  disconnected: 'the limiter has no connection to Redis; calls go on without rates and budgets',
  busy: 'the limiter awaits too many answers of Redis; rates and budgets are not enforced for further calls',
  reply: 'Redis answered the limiter with an error; rates and budgets are not enforced for these calls',
  error: 'the limiter failed; rates and budgets are not enforced for these calls',
};

/**
 * Its name, where every tenant has it. One that a tenant has made up is that tenant's: whoever reads metrics may act for
 * another, and a series once begun stays, whatever is removed from the settings.
 */
const labelOf = ({ name, source }: UpstreamTarget): string =>
  source === 'settings' && !Object.hasOwn(VENDOR_UPSTREAMS, name) ? OF_SETTINGS : name;
