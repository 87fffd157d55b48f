/**
 * Makes steps of a session out of proxied calls, so that an agent that reports nothing itself shows up, loops and all,
 * by its base URL alone. What the model did is in its answer; how it went is in the next request, as the tools'
 * results: so a step with tool calls waits for that request, which says whether they failed, and one without leaves at once.
 *
 * An agent that posts DecisionLogs tells its own steps, and two tellings of one step would break up the repetition a
 * loop is known by. So its calls make none: neither under its name, whatever session they are in, nor in the session it
 * posts to, under whatever name they come. Only a call that was over before its first DecisionLog came is told twice.
 */
import {
  type AgentScope,
  agentScope,
  type DecisionLog,
  isCostUnknown,
  type LlmToolResult,
  PROXY_SOURCE,
  type SessionKey,
  type SessionView,
  type StoredStep,
  tenantIdOf,
  tokensOf,
} from '#contracts';
import { type Clock, FairLru, HOUR_MS } from '#kernel';
import type { SteplessUse } from '../../decision-log/session-registry.js';
import type { ProxyCall } from '../proxy-call.js';
import { FairRate } from './fair-rate.js';
import { isReported } from './is-reported.js';
import { begunStepOf, intentOf, outputOf, type SoFar, stepOf, waitsForResults } from './step-of-call.js';

/** Of this and all else that is remembered here over all tenants, the one that has most gives way. */
const SESSION_COUNT_MAX = 50_000;
const SESSION_IDLE_MS = HOUR_MS;
/** A result that has not come by then will not come: the step leaves as `pending`. */
const RESULT_WAIT_MS = 120_000;
/** Steps of a moment share one way through the interceptor and one write. */
const FLUSH_INTERVAL_MS = 100;
/** Steps made per second for all tenants, half of it for one alone; beyond it calls are recorded, but make no steps. */
const STEPS_PER_SECOND_MAX = 400;
/** Sessions shown per second with a call that is under way, shared likewise; others are seen with their first step. */
const BEGUN_PER_SECOND_MAX = 400;
/** Agents, and as many sessions, that are known to report themselves. */
const SELF_REPORTING_COUNT_MAX = 20_000;
/** Since its latest DecisionLog, to the minute; then its calls make steps again. */
const SELF_REPORTING_MS = HOUR_MS;
/** An agent that goes on reporting in the same session is noted at most this often. */
const REPORT_NOTED_EVERY_MS = 60_000;

interface Conversation extends SoFar {
  /** Length and checksum of the latest request that made a step: an SDK tries again with the same body. Null: none has. */
  toldBytes: number | null;
  toldChecksum: number;
  /** What calls without a step took that its row does not say yet, beyond their cost: known costs are in the sum. */
  untold: { tokens: number; isUnknown: boolean } | null;
  /** Waits for the results of its tool calls. */
  open: { tenantId: string; log: DecisionLog; sinceMs: number } | null;
}

/** Who reported in a session, and when it was noted. */
interface Report {
  agentId: string;
  notedMs: number;
}

export interface StepFeedParts {
  clock: Clock;
  /** Takes a tenant's steps. Must not throw; a refusal is its own to report. */
  deliver: (tenantId: string, logs: DecisionLog[]) => void;
  /** A step that waits for its answer, or its tools, and its session may have to be seen without. Must not throw. */
  onWaiting: (key: SessionKey, log: DecisionLog) => void;
  /** After the steps that were delivered before; a session without a row gets one. Must not throw. */
  onStepless: (uses: SteplessUse[]) => void;
  /** Of a session; undefined where it has none in memory. */
  rowOf: (key: SessionKey) => Pick<SessionView, 'cost_usd'> | undefined;
  onSkipped: () => void;
}

export class StepFeed {
  readonly #parts: StepFeedParts;
  readonly #rate: FairRate;
  readonly #begunRate: FairRate;
  readonly #conversations: FairLru<SessionKey, Conversation>;
  readonly #selfReportingAgents: FairLru<AgentScope, true>;
  readonly #selfReportingSessions: FairLru<SessionKey, Report>;
  /** Conversations with an open step, oldest first. */
  readonly #open = new Map<SessionKey, Conversation>();
  #ready = new Map<string, DecisionLog[]>();
  #stepless: SteplessUse[] = [];
  #timers: NodeJS.Timeout[] = [];

  constructor(parts: StepFeedParts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#rate = new FairRate({ clock, perSecondMax: STEPS_PER_SECOND_MAX });
    this.#begunRate = new FairRate({ clock, perSecondMax: BEGUN_PER_SECOND_MAX });
    this.#conversations = new FairLru({
      countMax: SESSION_COUNT_MAX,
      idleMs: SESSION_IDLE_MS,
      clock,
      onEvict: (key, conversation) => this.#giveUp(key, conversation),
    });
    const selfReporting = { countMax: SELF_REPORTING_COUNT_MAX, idleMs: SELF_REPORTING_MS, clock };
    this.#selfReportingAgents = new FairLru(selfReporting);
    this.#selfReportingSessions = new FairLru(selfReporting);
  }

  /** @param sessions as they were before this start: who told steps within the last hour goes on to */
  start(sessions: Iterable<[SessionKey, SessionView]>): void {
    const sinceMs = this.#parts.clock.nowMs() - SELF_REPORTING_MS;
    for (const [key, view] of sessions)
      if (isReported(view) && view.last_seen_ms > sinceMs)
        this.#noteReporter(key, tenantIdOf(key), view.agent_id);
    this.#timers = [
      setInterval(() => this.flush(), FLUSH_INTERVAL_MS),
      setInterval(() => this.#giveUpOld(), RESULT_WAIT_MS / 10),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const [key, conversation] of [...this.#open]) this.#giveUp(key, conversation);
    this.flush();
  }

  /** A step came in, from whomever. Cheap: asked of every DecisionLog. @param key of its session */
  noteReported(key: SessionKey, { tenant_id, agent_id, session_id, log }: StoredStep): void {
    if (log.meta.source_app === PROXY_SOURCE) return;
    const noted = this.#selfReportingSessions.peek(tenant_id, key);
    const isFresh = (report: Report) => this.#parts.clock.steadyMs() - report.notedMs < REPORT_NOTED_EVERY_MS;
    if (noted?.agentId === agent_id && isFresh(noted)) return;
    if (noted === undefined) this.#withdraw(key, tenant_id, session_id);
    this.#noteReporter(key, tenant_id, agent_id);
  }

  /** A request came in: the step before it learns how its tool calls went. */
  noteRequest(call: ProxyCall): void {
    if (call.sessionKey === null || call.request === null) return;
    const conversation = this.#conversations.get(call.tenantId, call.sessionKey);
    if (conversation === undefined || isToldAlready(call, conversation)) return;
    const { tool_results: results } = call.request.newest;
    if (conversation.open !== null) this.#close(call.sessionKey, conversation, results);
  }

  /** A call may go to its upstream. Hot path: a look-up, where its session has a row. */
  noteSent(call: ProxyCall): void {
    const { sessionKey, summary, tenantId, scope } = call;
    if (sessionKey === null || summary === null || this.#parts.rowOf(sessionKey) !== undefined) return;
    if (this.#isReported(tenantId, sessionKey, scope) || !this.#begunRate.take(tenantId)) return;
    this.#parts.onWaiting(sessionKey, begunStepOf(call, intentOf(summary.asked || summary.askedFirst)));
  }

  /** What any call cost is in the sum that the session's next step says. */
  noteCost({ sessionKey, tenantId, scope, costMicroUsd }: ProxyCall): void {
    if (sessionKey === null || !costMicroUsd || this.#isReported(tenantId, sessionKey, scope)) return;
    const known = this.#conversations.get(tenantId, sessionKey);
    const conversation = known ?? this.#fresh(sessionKey);
    // Whoever fetches an answer of the background may be told that it took less.
    conversation.costMicroUsd = Math.max(0, conversation.costMicroUsd + costMicroUsd);
    if (costMicroUsd < 0 && conversation.open !== null) takeBack(conversation.open.log, -costMicroUsd);
    if (known === undefined) this.#conversations.set(tenantId, sessionKey, conversation);
  }

  /** A call has ended at the upstream, well or badly. After `noteCost`. @returns false: it makes no step */
  noteAnswer(call: ProxyCall): boolean {
    const { sessionKey, summary, tenantId } = call;
    if (sessionKey === null || summary === null) return false;
    const known = this.#conversations.get(tenantId, sessionKey);
    if (known !== undefined && isToldAlready(call, known)) return false;
    if (this.#isReported(tenantId, sessionKey, call.scope)) return false;
    if (!this.#rate.take(tenantId)) {
      this.#parts.onSkipped();
      return false;
    }
    const conversation = known ?? this.#fresh(sessionKey);
    if (conversation.open !== null) this.#close(sessionKey, conversation, []);
    const asked = summary.asked || conversation.asked || summary.askedFirst;
    conversation.asked = asked === conversation.asked ? asked : intentOf(asked);
    const log = stepOf(call, conversation);
    conversation.lastCallId = call.id;
    conversation.toldBytes = call.bodyBytes;
    conversation.toldChecksum = call.bodyChecksum;
    this.#conversations.set(tenantId, sessionKey, conversation);
    if (waitsForResults(call)) {
      conversation.open = { tenantId, log, sinceMs: this.#parts.clock.steadyMs() };
      this.#open.set(sessionKey, conversation);
      this.#parts.onWaiting(sessionKey, log);
    } else this.#push(sessionKey, conversation, tenantId, log);
    return true;
  }

  /**
   * A call that makes no step has ended: its session may have no further step to say what it took. A row that begins with it is one
   * to send and to save, as a step is: where those are too many, it is said with what comes next. After `noteCost`.
   */
  noteStepless(call: ProxyCall): void {
    const { sessionKey, tenantId, scope, decision, costMicroUsd, answer } = call;
    if (sessionKey === null || this.#isReported(tenantId, sessionKey, scope)) return;
    const tokens = answer?.usage ? tokensOf(answer.usage) : 0;
    const isUnknown = isCostUnknown({ decision, cost_usd: costMicroUsd, usage: answer?.usage ?? null });
    if (!costMicroUsd && tokens === 0 && !isUnknown) return;
    const known = this.#conversations.peek(tenantId, sessionKey);
    const conversation = known ?? this.#fresh(sessionKey);
    if (this.#parts.rowOf(sessionKey) === undefined && !this.#rate.take(tenantId)) {
      conversation.untold ??= { tokens: 0, isUnknown: false };
      conversation.untold.tokens += tokens;
      conversation.untold.isUnknown ||= isUnknown;
      if (known === undefined) this.#conversations.set(tenantId, sessionKey, conversation);
      return;
    }
    const of = { key: sessionKey, agentId: call.agentId, callId: call.id };
    this.#tellUntold(of, conversation);
    this.#stepless.push({
      ...of,
      costUsd: isUnknown ? null : (costMicroUsd ?? 0) / 1e6,
      sessionCostUsd: conversation.costMicroUsd / 1e6,
      tokens,
    });
    // The next step's sum is without it already.
    if ((costMicroUsd ?? 0) < 0) this.flush();
  }

  /** Hands on what is ready. */
  flush(): void {
    const ready = this.#ready;
    if (ready.size > 0) this.#ready = new Map();
    for (const [tenantId, logs] of ready) this.#parts.deliver(tenantId, logs);
    if (this.#stepless.length > 0) this.#parts.onStepless(this.#stepless.splice(0));
  }

  #noteReporter(key: SessionKey, tenantId: string, agentId: string): void {
    const notedMs = this.#parts.clock.steadyMs();
    this.#selfReportingSessions.set(tenantId, key, { agentId, notedMs });
    this.#selfReportingAgents.set(tenantId, agentScope(tenantId, agentId), true);
  }

  #isReported(tenantId: string, key: SessionKey, scope: AgentScope): boolean {
    return (
      this.#selfReportingSessions.peek(tenantId, key) !== undefined ||
      this.#selfReportingAgents.peek(tenantId, scope) !== undefined
    );
  }

  /** Of a session that was here before a start, or a quiet hour ago, the cost goes on from there: its steps say a sum. */
  #fresh(key: SessionKey): Conversation {
    return {
      asked: '',
      lastCallId: null,
      toldBytes: null,
      toldChecksum: 0,
      costMicroUsd: Math.round((this.#parts.rowOf(key)?.cost_usd ?? 0) * 1e6),
      untold: null,
      open: null,
    };
  }

  #close(key: SessionKey, conversation: Conversation, results: readonly LlmToolResult[]): void {
    const { open } = conversation;
    if (open === null) return;
    conversation.open = null;
    this.#open.delete(key);
    if (results.length > 0) {
      open.log.action.status = results.some((result) => result.failed) ? 'failure' : 'success';
      open.log.action.tool_output_summary = outputOf(results.map((result) => result.text).join('\n'));
    }
    this.#push(key, conversation, open.tenantId, open.log);
  }

  /** What has not left yet of a session whose agent turns out to tell its steps itself. */
  #withdraw(key: SessionKey, tenantId: string, sessionId: string): void {
    const conversation = this.#conversations.peek(tenantId, key);
    if (conversation === undefined) return;
    conversation.open = null;
    conversation.untold = null;
    this.#open.delete(key);
    const logs = this.#ready.get(tenantId)?.filter(({ meta }) => meta.session_id !== sessionId);
    if (logs !== undefined) this.#ready.set(tenantId, logs);
  }

  #giveUp(key: SessionKey, conversation: Conversation): void {
    this.#close(key, conversation, []);
  }

  #giveUpOld(): void {
    const beforeMs = this.#parts.clock.steadyMs() - RESULT_WAIT_MS;
    for (const [key, conversation] of this.#open) {
      if (conversation.open !== null && conversation.open.sinceMs > beforeMs) return;
      this.#giveUp(key, conversation);
    }
  }

  #push(key: SessionKey, conversation: Conversation, tenantId: string, log: DecisionLog): void {
    const logs = this.#ready.get(tenantId);
    if (logs === undefined) this.#ready.set(tenantId, [log]);
    else logs.push(log);
    this.#tellUntold({ key, agentId: log.identity.agent_id, callId: log.meta.trace_id }, conversation);
  }

  #tellUntold(of: Pick<SteplessUse, 'key' | 'agentId' | 'callId'>, conversation: Conversation): void {
    const { untold, costMicroUsd } = conversation;
    if (untold === null) return;
    conversation.untold = null;
    const use = { ...of, sessionCostUsd: costMicroUsd / 1e6 };
    this.#stepless.push({ ...use, costUsd: 0, tokens: untold.tokens });
    if (untold.isUnknown) this.#stepless.push({ ...use, costUsd: null, tokens: 0 });
  }
}

/** From the sum that a waiting step says: rows take the largest for the latest. */
function takeBack({ state_delta }: DecisionLog, microUsd: number): void {
  const saidUsd = state_delta?.cumulative_session_cost;
  if (state_delta && typeof saidUsd === 'number')
    state_delta.cumulative_session_cost = Math.max(0, Math.round(saidUsd * 1e6) - microUsd) / 1e6;
}

/**
 * A client SDK's own retry of a request that has its step. Where no earlier attempt made one (it broke on its way, came to a gateway
 * that was about to end, or a limit or a pause sent it back), the attempt that gets through is the step.
 */
const isToldAlready = (call: ProxyCall, { toldBytes, toldChecksum }: Conversation): boolean =>
  call.isRetry && call.bodyBytes === toldBytes && call.bodyChecksum === toldChecksum;
