/** Puts the proxy together: what its steps share, and what its pages read. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { UpstreamClient } from '#adapters/upstream-http';
import {
  type AgentPolicy,
  type AgentPrincipal,
  ALL_AGENTS,
  agentScope,
  type DecisionStore,
  isAllAgents,
  type LivePublisher,
  type PolicyBar,
  type ProxyStore,
  type SecretBox,
  type SpanSink,
  type SystemView,
  splitAgentScope,
  TOPICS,
} from '#contracts';
import type { SpentUsd } from '#domain/alerts';
import { KillSwitchWindows } from '#domain/kill-switch';
import { MemoryRateLimiter, SessionCaps } from '#domain/policy';
import { type Clock, type ForwardProxy, type IdSource, steadyClock, systemTimer } from '#kernel';
import type { AlertMonitor } from '../alerts/alert-monitor.js';
import type { Authenticator } from '../auth/authenticator.js';
import { SettingsAudit } from '../auth/settings-audit.js';
import type { GatewayConfig } from '../config/config.js';
import type { EnvironmentUpstream } from '../config/upstreams.js';
import type { SchemaInterceptor } from '../decision-log/schema-interceptor.js';
import type { SessionRegistry } from '../decision-log/session-registry.js';
import { FairShare } from '../fair-share.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { LlmCacheArea } from '../llm-cache/llm-cache.area.js';
import type { LiveHub } from '../realtime/live-hub.js';
import type { SemanticLoopArea } from '../semantic-loop/semantic-loop.area.js';
import { addGauge } from '../telemetry/metrics.js';
import { AgentActivity } from './agents/agent-activity.js';
import { AgentBudgets } from './agents/agent-budgets.js';
import { AgentCommands } from './agents/agent-commands.js';
import { AgentDirectory } from './agents/agent-directory.js';
import { agentStanding, policyBar, upstreamStanding } from './agents/agent-standing.js';
import { AgentViews } from './agents/agent-views.js';
import { agentAlone, subjectOf } from './agents/alert-subject.js';
import { IncidentDesk } from './agents/incident-desk.js';
import { SplitAgents } from './agents/split-agents.js';
import { ANSWER_BYTES_MAX } from './answers/answer-room.js';
import { ownOriginOf } from './answers/own-addresses.js';
import { ToldWords } from './answers/told-words.js';
import { CallLog } from './calls/call-log.js';
import { callNews } from './calls/call-news.js';
import { HeldCalls } from './calls/held-calls.js';
import { RetryClaims } from './calls/retry-claims.js';
import { RunningCalls } from './calls/running-calls.js';
import { newUnsettledAnswers, type UnsettledAnswers } from './calls/unsettled-answers.js';
import { WaitingCalls } from './calls/waiting-calls.js';
import { EarlierUse } from './limits/earlier-use.js';
import type { LimiterLink } from './limits/limiter.js';
import { PriceBook } from './limits/price-book.js';
import { pipeline } from './pipeline.js';
import { ProxyEvents } from './proxy-events.js';
import { ProxyRoute } from './proxy-route.js';
import { ContinuedSessions } from './sessions/continued-sessions.js';
import { StepDelivery } from './sessions/step-delivery.js';
import { StepFeed } from './sessions/step-feed.js';
import { tellUntoldCalls, type UntoldCallsParts } from './sessions/untold-calls.js';
import { UpstreamDirectory } from './upstreams/upstream-directory.js';
import { UpstreamHealthBoard, waitsOf } from './upstreams/upstream-health.js';

export interface LlmProxyDependencies {
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Registry;
  config: GatewayConfig;
  environmentUpstreams: readonly EnvironmentUpstream[];
  /** Null: calls go straight. */
  forwardProxy: ForwardProxy | null;
  store: DecisionStore;
  proxyStore: ProxyStore;
  secrets: SecretBox;
  live: LivePublisher;
  desk: ControlDesk;
  alerts: AlertMonitor;
  limits: LimiterLink;
  semanticLoop: SemanticLoopArea;
  llmCache: Pick<LlmCacheArea, 'desk' | 'onFailedOpen'>;
  /** Null: nobody collects spans. */
  spans: SpanSink | null;
  /** Of the calls without a trace: the share that begins one. */
  startedTracesShare: number;
}

/** What calls tell the sessions' rows. */
type ProxySessions = Pick<
  SessionRegistry,
  'entries' | 'introduceWaiting' | 'noteCall' | 'noteStepless' | 'peek'
>;
type RecoveredSessions = UntoldCallsParts['sessions'];

export class LlmProxyArea {
  readonly agents: AgentDirectory;
  readonly upstreams: UpstreamDirectory;
  readonly prices: PriceBook;
  readonly budgets: AgentBudgets;
  readonly incidents: IncidentDesk;
  readonly views: AgentViews;
  readonly commands: AgentCommands;
  readonly held = new HeldCalls();
  readonly #waiting = new WaitingCalls();
  readonly log: CallLog;
  readonly feed: StepFeed;
  readonly #activity: AgentActivity;
  readonly #split: SplitAgents;
  readonly #upstreamHealth: UpstreamHealthBoard;
  readonly #client: UpstreamClient;
  readonly #bodyBytes: FairShare;
  readonly #answerBytes: FairShare;
  readonly #running: RunningCalls;
  readonly #events: ProxyEvents;
  readonly #windows: KillSwitchWindows;
  readonly #caps: SessionCaps;
  readonly #earlierUse: EarlierUse;
  readonly #unsettled: UnsettledAnswers;
  readonly #continued: ContinuedSessions;
  readonly #told: ToldWords;
  readonly #parts: LlmProxyDependencies;
  readonly #steps: StepDelivery;
  #sessions: ProxySessions | null = null;
  #route: ProxyRoute | null = null;

  constructor(parts: LlmProxyDependencies) {
    this.#parts = parts;
    const { clock, live, config, proxyStore, store, alerts } = parts;
    const events = new ProxyEvents(steadyClock, parts.logger, parts.metrics, {
      held: () => this.held.count,
      windows: () => this.#windows.counts().windows,
      waitingRows: () => this.log.waitingCount,
      bodyBytes: () => this.#bodyBytes.taken,
      split: () => this.#split.count,
      forgotten: () => this.#forgotten(),
    });
    this.#events = events;
    const { limits } = parts;
    if (limits.isShared)
      addGauge(parts.metrics, 'redis_connected', 'Redis answers: 1 or 0.', async () =>
        Number(await limits.isConnected()),
      );
    parts.llmCache.onFailedOpen = (error) => events.failedOpen('cache', error);
    parts.semanticLoop.events.onFailedOpen = () => events.countFailOpen('semantic_loop');
    this.#windows = new KillSwitchWindows({ clock });
    this.#activity = new AgentActivity(clock);
    this.#upstreamHealth = new UpstreamHealthBoard(clock);
    this.#caps = new SessionCaps({ clock });
    const answerStore = (site: string) => ({
      clock,
      timer: systemTimer,
      store: proxyStore,
      onSaveFailed: (error: unknown) => events.failedOpen(site, error),
    });
    this.#unsettled = newUnsettledAnswers(answerStore('unsettled_answers'));
    this.#continued = new ContinuedSessions(answerStore('continued_sessions'));
    this.#told = new ToldWords(answerStore('told_words'));
    const audit = new SettingsAudit(store, clock);
    this.agents = new AgentDirectory({
      store: proxyStore,
      audit,
      clock,
      timer: systemTimer,
      onPolicy: (scope) => {
        this.#waiting.lookAgain(isAllAgents(scope) ? undefined : scope);
        const { tenantId, agentId } = splitAgentScope(scope);
        this.views.touch(tenantId, agentId);
      },
      onClosed: (tenantId) => {
        events.tenantClosed(tenantId);
        this.#waiting.lookAgain();
      },
      onUnsaved: (error) => events.deactivationUnsaved(error),
    });
    this.upstreams = new UpstreamDirectory({
      environment: parts.environmentUpstreams,
      store: proxyStore,
      audit,
      secrets: parts.secrets,
      clock,
      onKeyLost: (name) => events.keyLost(name),
    });
    this.prices = new PriceBook({ store: proxyStore, audit, clock });
    this.log = new CallLog({
      store: proxyStore,
      live,
      onDropped: (count, error) => events.rowsDropped(count, error),
    });
    this.budgets = new AgentBudgets({
      store: proxyStore,
      log: this.log,
      agents: this.agents,
      activity: this.#activity,
      limits: parts.limits,
      alerts,
      clock,
      running: () => this.#route?.running ?? [],
      onLimiterFailed: (error) => events.limiterFailedOpen(error),
    });
    this.incidents = new IncidentDesk({
      agents: this.agents,
      windows: this.#windows,
      store: proxyStore,
      live,
      alerts,
      events,
      timer: systemTimer,
      nowMs: () => clock.nowMs(),
    });
    this.#earlierUse = new EarlierUse({ store: proxyStore, log: this.log, caps: this.#caps, clock });
    this.#split = new SplitAgents({
      homes: parts.limits.homes,
      clock: steadyClock,
      onChanged: (scope, isSplit) => {
        const { tenantId, agentId } = splitAgentScope(scope);
        this.views.touch(tenantId, agentId);
        if (isSplit) events.agentSplit(tenantId, agentId);
      },
    });
    this.views = new AgentViews({
      clock,
      agents: this.agents,
      activity: this.#activity,
      windows: this.#windows,
      held: this.held,
      split: this.#split,
      live,
    });
    const { agents, incidents, budgets, views } = this;
    this.commands = new AgentCommands({ agents, incidents, budgets, views });
    incidents.onOpened = (tenantId, incident) => this.commands.noteKilled(tenantId, incident);
    this.#steps = new StepDelivery({
      timer: systemTimer,
      refuses: (tenantId) => store.refusal(tenantId) !== null,
      onRefused: (count, error) => events.stepsRefused(count, error),
    });
    this.feed = new StepFeed({
      clock,
      deliver: (tenantId, logs) => this.#steps.deliver(tenantId, logs),
      onWaiting: (key, log) => void this.#sessions?.introduceWaiting(key, log),
      onStepless: (uses) => this.#steps.noteStepless(uses),
      rowOf: (key) => this.#sessions?.peek(key),
      onSkipped: () => events.stepSkipped(),
    });
    const { forwardProxy } = parts;
    if (forwardProxy !== null)
      parts.logger.info(
        { event: 'forward_proxy', host: forwardProxy.url.host },
        'calls to upstreams leave through a forward proxy, unless by plain HTTP or to what NO_PROXY names',
      );
    this.#client = new UpstreamClient({
      headersTimeoutMs: config.upstreamHeadersTimeoutMs,
      idleTimeoutMs: config.upstreamIdleTimeoutMs,
      // A call that may run has a socket: nothing queues where nobody sees it.
      connectionsMax: config.upstreamCallsMax,
      forwardProxy,
    });
    this.#bodyBytes = new FairShare({
      max: config.proxyInflightBytesMax,
      onFull: () => events.noRoom('body_bytes'),
    });
    this.#answerBytes = new FairShare({
      max: ANSWER_BYTES_MAX,
      onFull: () => events.noRoom('answer_bytes'),
    });
    this.#running = new RunningCalls({
      max: config.upstreamCallsMax,
      onFull: () => events.noRoom('upstream_calls'),
    });
    parts.limits.onReady = () => void this.budgets.tellAll();
  }

  /**
   * Brings back settings, open incidents and what was spent, and tells the sessions' rows of it. After they are read, before the
   * first call; rejects as the store does.
   */
  async recover(sessions: RecoveredSessions): Promise<void> {
    await Promise.all([
      this.agents.load(),
      this.upstreams.load(),
      this.prices.load(),
      this.#unsettled.load(),
      this.#continued.load(),
      this.#told.load(),
    ]);
    await this.budgets.recover();
    await tellUntoldCalls({ store: this.#parts.proxyStore, sessions, clock: this.#parts.clock });
  }

  /** Of the gateways that share a Redis; null: this one is alone. */
  get controlLog(): LimiterLink['controlLog'] {
    return this.#parts.limits.controlLog;
  }

  /** Why the agent's policy, or that of all agents, does not let it call now; null: both do. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null {
    const nowMs = this.#parts.clock.nowMs();
    const barOf = (policy: AgentPolicy | null) => policy && policyBar(policy, nowMs);
    const { agents } = this;
    return (
      barOf(agents.restriction(agentScope(tenantId, agentId))) ?? barOf(agents.restrictionOfAll(tenantId))
    );
  }

  /** What the agent has spent, as far as prices are known. @param agentId null: all agents together */
  spentUsd(tenantId: string, agentId: string | null): SpentUsd {
    const scope = agentScope(tenantId, agentId ?? ALL_AGENTS);
    const { hour, day, month, hourAtMost } = this.#activity.spentLately(scope);
    return { hour: hour / 1e6, day: day / 1e6, month: month / 1e6, hourAtMost: hourAtMost / 1e6 };
  }

  /** Sites that failed open since the start, the store they share with other gateways, and the tenant's upstreams. */
  async health(
    tenantId: string,
  ): Promise<Pick<SystemView, 'fail_open' | 'limiter_fail_open' | 'redis' | 'upstreams'>> {
    const { limits } = this.#parts;
    const connected = await limits.isConnected();
    return {
      fail_open: this.#events.failOpenCounts(),
      limiter_fail_open: this.#events.limiterFailureCounts(),
      redis: { configured: limits.isShared, connected, away_since_ms: limits.awaySinceMs },
      upstreams: this.#upstreamHealth
        .list(tenantId, waitsOf(this.#route?.running ?? [], tenantId))
        .filter(({ name }) => this.upstreams.find(tenantId, name) !== null),
    };
  }

  /** Limits in Redis are Redis' to forget. */
  #forgotten(): Record<string, number> {
    const { evicted_capacity, evicted_memory } = this.#windows.counts();
    const { limiter } = this.#parts.limits;
    return {
      kill_switch_windows: evicted_capacity + evicted_memory,
      session_caps: this.#caps.evictedCount,
      ...(limiter instanceof MemoryRateLimiter
        ? { limit_counters: limiter.evictedCount }
        : { budget_refunds: this.budgets.forgottenRefundCount }),
    };
  }

  /** The route to put in front of the server. */
  route(authenticator: Authenticator, isDraining: () => boolean): ProxyRoute {
    const { alerts, clock, ids, config, desk, limits, semanticLoop, llmCache, spans } = this.#parts;
    const standingParts = {
      agents: this.agents,
      isInForce: (principal: AgentPrincipal) => authenticator.isInForce(principal),
      clock,
    };
    const standing = agentStanding(standingParts);
    authenticator.onRevoked(({ kind }) => {
      if (kind === 'agent_key') this.#waiting.lookAgain();
    });
    const steps = pipeline({
      trace: { startedShare: this.#parts.startedTracesShare },
      identify: {
        authenticate: (authorization, key) => authenticator.agent(authorization, key),
        agentFor: (principal, tenantId) => authenticator.agentFor(principal, tenantId),
        upstreams: this.upstreams,
        onRefused: (code) => this.#events.turnedAway(code),
      },
      receive: {
        limits: { bodyBytesMax: config.proxyBodyBytesMax, bodyTimeoutMs: config.proxyBodyTimeoutMs },
        bodyBytes: this.#bodyBytes,
        retries: new RetryClaims(clock),
        continued: this.#continued,
      },
      record: {
        log: this.log,
        activity: this.#activity,
        events: this.#events,
        ...callNews({
          agents: this.agents,
          alerts,
          budgets: this.budgets,
          clock,
          desk,
          events: this.#events,
          spans,
          split: this.#split,
          upstreamHealth: this.#upstreamHealth,
          views: this.views,
          noteCall: (key, callId, refused) => this.#sessions?.noteCall(key, callId, refused),
        }),
      },
      stepFeed: this.feed,
      policy: {
        agents: this.agents,
        standing,
        prices: this.prices,
        limiter: limits.limiter,
        caps: this.#caps,
        earlierUse: this.#earlierUse,
        unsettled: this.#unsettled,
        clock,
        onOverBudget: (call, { scope, period }) =>
          this.budgets.note(scope, isAllAgents(scope) ? agentAlone(scope) : subjectOf(call), period),
        onBudgetBegun: ({ scope, period }) => void this.budgets.seedIfLost(scope, period),
        onLimiterFailed: (error) => this.#events.limiterFailedOpen(error),
        onNotGivenBack: (changes) => this.budgets.owe(changes),
        onCapsFailed: (error) => this.#events.failedOpen('session_caps', error),
      },
      hold: {
        desk,
        held: this.held,
        waiting: this.#waiting,
        standing,
        holdMs: config.holdMs,
        streamHoldMs: config.streamHoldMs,
        onChanged: (call) => this.views.touch(call.tenantId, call.agentId),
        onTakeFailed: (error) => this.#events.injectionUnconfirmed(error),
      },
      killSwitch: {
        agents: this.agents,
        windows: this.#windows,
        incidents: this.incidents,
        ids,
        killResponse: config.killResponse,
      },
      semanticLoop: { ...semanticLoop.stepParts, agents: this.agents },
      cache: { desk: llmCache.desk, agents: this.agents, control: desk, waiting: this.#waiting, standing },
      forward: {
        client: this.#client,
        control: desk,
        waiting: this.#waiting,
        told: this.#told,
        standing: upstreamStanding(standingParts),
        running: this.#running,
        bodyBytes: this.#bodyBytes,
        answerBytes: this.#answerBytes,
        clientStallMs: config.upstreamIdleTimeoutMs,
        ownOrigin: ownOriginOf(config),
      },
    });
    this.#route = new ProxyRoute({ steps, clock, ids, events: this.#events, isDraining });
    return this.#route;
  }

  start(hub: LiveHub, interceptor: SchemaInterceptor, sessions: ProxySessions): void {
    this.#steps.connect(interceptor, sessions);
    this.#sessions = sessions;
    hub.provideSnapshot(TOPICS.calls, (tenantId) => hub.newest(tenantId, TOPICS.calls, 200));
    hub.provideSnapshot(TOPICS.agents, (tenantId) => this.views.list(tenantId));
    hub.provideSnapshot(TOPICS.allAgents, (tenantId) => this.views.allAgents(tenantId));
    hub.provideSnapshot(TOPICS.incidents, (tenantId) => this.incidents.snapshot(tenantId));
    this.views.start();
    this.#split.start();
    this.feed.start(sessions.entries());
    this.budgets.noteAll();
  }

  /** After the last call: what was recorded is written. A call that the client still has ends with it. Never rejects. */
  async stop(): Promise<void> {
    this.views.stop();
    this.#split.stop();
    await this.#client.close();
    this.feed.stop();
    // At once: each goes on for a moment where the store refuses.
    await Promise.all([
      this.#steps.stop(),
      this.incidents.stop(),
      this.agents.stop(),
      this.log.close(),
      this.#unsettled.stop(),
      this.#continued.stop(),
      this.#told.stop(),
    ]);
    await this.#parts.limits.close();
  }
}
