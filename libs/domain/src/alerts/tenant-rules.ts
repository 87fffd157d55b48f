/** The rules of one tenant, what is known of its agents, and what of both is firing. */
import {
  type Acknowledgement,
  ALL_AGENTS,
  type AlertType,
  type NOTICE_PHASES,
  type PolicyBar,
} from '#contracts';
import { type Clock, TtlLru } from '#kernel';
import { AgentFacts } from './agent-facts.js';
import type { AlertEvent } from './alert-event.js';
import { LoopCarriers } from './loop-carriers.js';
import { isMuted, planNotice, QUIET, type SubjectState } from './notice-plan.js';
import { type Hush, type NoticeDetail, readCondition, type SpentUsd } from './rule-condition.js';
import { agentIdOf, isAbout, type RuleSettings, subjectIdOf } from './rule-defaults.js';
import { type FiringState, NO_SESSIONS, WatchedRule } from './watched-rule.js';

/** Agents remembered per tenant; the one unheard of longest is forgotten, with what it made fire. */
export const AGENTS_PER_TENANT_MAX = 5_000;

/** A notice whose time has come. */
export interface DueNotice {
  rule: RuleSettings;
  phase: Exclude<(typeof NOTICE_PHASES)[number], 'test'>;
  tenant_id: string;
  /** Or ALL_AGENTS. */
  agent_id: string;
  session_id: string | null;
  at_ms: number;
  /** When it began. */
  since_ms: number;
  detail: NoticeDetail;
}

export interface TenantRulesParts {
  tenantId: string;
  clock: Clock;
  /** Every rule there is. Asked at once, and at `refresh`. */
  rules(): readonly RuleSettings[];
  policyBar(agentId: string): PolicyBar | null;
  /** In USD, the calls that ended among it, as far as prices are known. @param agentId null: all together */
  spentUsd(agentId: string | null): SpentUsd;
  /** What of this rule fires is other than before. */
  onChanged(ruleId: string): void;
  /** A bound was reached: an agent was forgotten, could not be watched, or is looked at later than a second after. */
  onBound(bound: 'agents' | 'subjects' | 'tick'): void;
}

/** Which events can change a rule's condition. Silence is broken by events, and begun by the tick. */
const ABOUT: Record<AlertType, ReadonlySet<AlertEvent['kind']>> = {
  kill_switch: new Set(['incident', 'reactivated']),
  entropy_loop: new Set(['step', 'severity']),
  semantic_loop: new Set(['semantic_loop']),
  hitl_required: new Set(['person']),
  budget: new Set(['spend']),
  spend: new Set(['call']),
  total_spend: new Set(['call']),
  error_rate: new Set(['call']),
  agent_silent: new Set(['call', 'step']),
};

/** What still holds after a restart is known then, and may be news. */
const TOLD_ON_START: ReadonlySet<AlertType> = new Set(['entropy_loop', 'hitl_required']);

export class TenantRules {
  readonly #parts: TenantRulesParts;
  readonly #rules = new Map<string, WatchedRule>();
  readonly #agents: TtlLru<string, AgentFacts>;
  readonly #loopCarriers: LoopCarriers;
  /** No more than there are sessions under control. */
  readonly #pausedSessionIds = new Set<string>();
  /** What a tick has still to look at; null: it begins anew. */
  #round: Iterator<{ one: WatchedRule; agentId: string }> | null = null;

  constructor(parts: TenantRulesParts) {
    this.#parts = parts;
    this.#loopCarriers = new LoopCarriers(parts.clock);
    this.#agents = new TtlLru({
      countMax: AGENTS_PER_TENANT_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock: parts.clock,
      onEvict: (agentId) => {
        for (const one of this.#rules.values())
          if (one.forget(agentId)) parts.onChanged(one.settings.rule_id);
        parts.onBound('agents');
      },
    });
    this.#applyRules(this.#enabledRules());
  }

  observe(event: AlertEvent): DueNotice[] {
    const due: DueNotice[] = [];
    for (const one of this.#spread(event)) this.#observe(one, due);
    return due;
  }

  /** Ends after `workMs`, and goes on there the next time. */
  tick(nowMs: number, workMs: number): DueNotice[] {
    const { clock, onBound } = this.#parts;
    const due: DueNotice[] = [];
    const startMs = clock.steadyMs();
    this.#round ??= this.#watched();
    for (let next = this.#round.next(); next.done !== true; next = this.#round.next()) {
      const { one, agentId } = next.value;
      this.#evaluate(one, agentId, this.#agents.peek(agentId) ?? new AgentFacts(), nowMs, due);
      one.forgetQuiet(agentId, nowMs, clock.steadyMs());
      if (clock.steadyMs() - startMs < workMs) continue;
      onBound('tick');
      return due;
    }
    this.#round = null;
    return due;
  }

  prime(event: AlertEvent): void {
    for (const one of this.#spread(event)) {
      const facts = this.#facts(one.agent_id);
      facts.apply(one, this.#steadyOf(one.at_ms));
      facts.watchedSteadyMs = this.#parts.clock.steadyMs();
    }
  }

  notePause(sessionId: string, isPaused: boolean): void {
    if (isPaused) this.#pausedSessionIds.add(sessionId);
    else this.#pausedSessionIds.delete(sessionId);
  }

  noteTerminated(sessionIds: ReadonlySet<string>, at_ms: number): DueNotice[] {
    const { tenantId: tenant_id } = this.#parts;
    for (const [, facts] of this.#agents.entries())
      if (facts.seenInSessionId !== null && sessionIds.has(facts.seenInSessionId)) facts.isDismissed = true;
    return [...sessionIds].flatMap((session_id) => {
      const agent_id = this.#loopCarriers.anyOf(session_id);
      const label = { kind: 'severity', tenant_id, session_id, at_ms, severity: 'normal' } as const;
      return agent_id === null ? [] : this.observe({ ...label, agent_id });
    });
  }

  untold(nowMs: number): DueNotice[] {
    const rules = [...this.#rules.values()];
    const isStopped = (agentId: string) => (this.#agents.peek(agentId)?.incident ?? null) !== null;
    // Whom an operator reactivated in the last moment of that process: nothing may stop it again before that is known.
    const reactivated = rules.flatMap((one) => {
      if (one.settings.type !== 'kill_switch') return [];
      const agentIds = one.agentIds().filter((agentId) => !isStopped(agentId));
      return this.#evaluateAll(one, agentIds, nowMs);
    });
    const toldOnStart = rules.filter(({ settings }) => TOLD_ON_START.has(settings.type));
    return [...reactivated, ...this.#evaluateKnown(toldOnStart, nowMs)];
  }

  refresh(nowMs: number): DueNotice[] {
    const rules = this.#enabledRules();
    const unwatched = [...this.#rules].flatMap(([id, { settings }]) =>
      this.#unwatched(settings, this.states(id), rules.get(id), nowMs),
    );
    return [...unwatched, ...this.#evaluateKnown(this.#applyRules(rules), nowMs)];
  }

  states(ruleId: string): FiringState[] {
    const refusalsOf = (agentId: string) => this.#agents.peek(agentId)?.refusals ?? [];
    return this.#rules.get(ruleId)?.firing(this.#parts.clock.nowMs(), refusalsOf) ?? [];
  }

  /** @see WatchedRule.acknowledge */
  acknowledge(
    ruleId: string,
    agent_id: string,
    since_ms: number,
    acknowledged: Acknowledgement | null,
  ): DueNotice[] {
    const one = this.#rules.get(ruleId);
    const subject = one?.acknowledge(agent_id, since_ms, acknowledged);
    if (one === undefined || subject === undefined) return [];
    this.#parts.onChanged(ruleId);
    const { settings: rule } = one;
    const { tenantId: tenant_id } = this.#parts;
    if (acknowledged === null || subject.state.noticeCount === 0 || isMuted(rule, acknowledged.at_ms))
      return [];
    const { by: acknowledged_by, at_ms } = acknowledged;
    const { sessionId: session_id } = subject;
    const detail = { acknowledged_by };
    return [{ rule, phase: 'acknowledged', tenant_id, agent_id, session_id, at_ms, since_ms, detail }];
  }

  *firingAgents(type: AlertType): Generator<string> {
    for (const { settings } of this.#rules.values())
      if (settings.type === type)
        for (const { agent_id, since_ms } of this.states(settings.rule_id))
          if (since_ms !== null) yield agent_id;
  }

  restore(ruleId: string, kept: readonly FiringState[]): void {
    const one = this.#rules.get(ruleId);
    const steadyMs = this.#parts.clock.steadyMs();
    // In the last moment of that process the rule may have been changed: what it watches no more is kept no more. Or an operator
    // reactivated the agent, and an incident stopped it again.
    const states = kept.filter(
      (state) =>
        one !== undefined &&
        isAbout(one.settings, state.agent_id) &&
        !(one.settings.type === 'kill_switch' && this.#isStoppedAgain(state)),
    );
    if (states.length < kept.length) this.#parts.onChanged(ruleId);
    one?.restore(states, steadyMs);
    for (const state of states) {
      const { agent_id, since_ms, told_session_ids, refusals } = state;
      if (one?.settings.type === 'entropy_loop') this.#recallLoops(state);
      // When the latest was nobody knows: it may have looped up to the end, however long ago people heard of it.
      if (one?.settings.type === 'semantic_loop' && since_ms !== null)
        this.#facts(agent_id).recallLoop(told_session_ids, steadyMs);
      if (refusals.length > 0) this.#facts(agent_id).recallRefusals(refusals);
    }
  }

  unclosed(rule: RuleSettings, states: readonly FiringState[], nowMs: number): DueNotice[] {
    const { rule_id } = rule;
    const due = this.#unwatched(rule, states, this.#rules.get(rule_id)?.settings, nowMs);
    if (due.length > 0) this.#parts.onChanged(rule_id);
    return due;
  }

  #isStoppedAgain({ agent_id, told_session_ids }: FiringState): boolean {
    const incidentId = this.#agents.peek(agent_id)?.incident?.incident_id;
    return incidentId !== undefined && told_session_ids.some((id) => id !== incidentId);
  }

  /** Of a session in a loop `prime` knows the agent that was seen last; it is the loop of each of which people heard in it. */
  #recallLoops({ agent_id, told_session_ids }: FiringState): void {
    const { tenantId: tenant_id } = this.#parts;
    for (const session_id of told_session_ids) {
      const at_ms = this.#loopCarriers.heardMs(session_id);
      if (at_ms !== null)
        this.prime({ kind: 'severity', tenant_id, agent_id, session_id, at_ms, severity: 'loop' });
    }
  }

  #observe(event: AlertEvent, due: DueNotice[]): void {
    const facts = this.#facts(event.agent_id);
    const steadyMs = this.#steadyOf(event.at_ms);
    const isNews = facts.apply(event, steadyMs);
    for (const one of this.#rules.values()) {
      const { rule_id, type } = one.settings;
      const subjectId = subjectIdOf(one.settings, event.agent_id);
      if (!ABOUT[type].has(event.kind) || !isAbout(one.settings, subjectId)) continue;
      // The common case, ten thousand times a second: a step that changes nothing.
      if (type === 'entropy_loop' && !isNews) continue;
      if (type === 'agent_silent' && one.peek(event.agent_id) === undefined) continue;
      if (type === 'error_rate' && event.kind === 'call') {
        const subject = one.subject(event.agent_id, event.at_ms);
        if (subject === null) continue;
        one.countCall(subject, steadyMs, event.failed);
      }
      this.#evaluate(one, subjectId, facts, event.at_ms, due);
      if (type === 'budget' && isNews) this.#parts.onChanged(rule_id);
    }
  }

  #evaluate(one: WatchedRule, agentId: string, facts: AgentFacts, atMs: number, due: DueNotice[]): void {
    const rule = one.settings;
    const known = one.peek(agentId);
    const nowMs = this.#notBefore(known?.state ?? QUIET, atMs);
    const isFiring = known !== undefined && known.state.sinceMs !== null;
    const tally = known?.tally ?? null;
    const toldSessionIds = known?.toldSessionIds ?? NO_SESSIONS;
    const hush = rule.type === 'agent_silent' ? this.#hushOf(agentId, facts) : null;
    const steadyMs = this.#parts.clock.steadyMs();
    if (hush !== null) facts.hushedSteadyMs = steadyMs;
    const spentUsd = () => this.#parts.spentUsd(agentIdOf(agentId));
    const reading = readCondition({
      rule,
      facts,
      tally,
      toldSessionIds,
      spentUsd,
      hush,
      isFiring,
      nowMs,
      steadyMs,
    });
    const { holds, session_id, detail, sessions = { told: [], untold: [] } } = reading;
    const isOn = holds === 'unknown' ? isFiring : holds;
    if (!isOn && !isFiring) return;
    const subject = known ?? one.subject(agentId, nowMs);
    if (subject === null) return;
    const sinceMs = subject.state.sinceMs ?? nowMs;
    const isNews = sessions.untold.length > 0;
    const { state, say } = planNotice(subject.state, { holds: isOn, isNews }, rule, nowMs);
    // One that has left its loop is forgotten: when it comes back, it is news.
    const told = say === null ? sessions.told : [...sessions.told, ...sessions.untold];
    const isOther = state !== subject.state || told.length !== subject.toldSessionIds.size;
    if (isOther) this.#parts.onChanged(rule.rule_id);
    subject.toldSessionIds = told.length === 0 ? NO_SESSIONS : new Set(told);
    subject.state = state;
    if (isOn && session_id !== null) subject.sessionId = session_id;
    if (say !== null) {
      due.push({
        rule,
        phase: say,
        tenant_id: this.#parts.tenantId,
        agent_id: agentId,
        session_id: subject.sessionId,
        at_ms: nowMs,
        since_ms: sinceMs,
        detail,
      });
    }
    if (!isOn) subject.sessionId = null;
    // An operator looked and decided: what stops the agent after that is news, whatever the cooldown.
    if (!isOn && rule.type === 'kill_switch') one.forget(agentId);
  }

  /**
   * Closes what people were told of agents that a rule watches no more: nobody would ever say that it is over.
   * @param after undefined: it is there no more
   */
  #unwatched(
    rule: RuleSettings,
    states: readonly FiringState[],
    after: RuleSettings | undefined,
    nowMs: number,
  ): DueNotice[] {
    if (!rule.notify_recovery) return [];
    return states.flatMap(({ agent_id, since_ms, notice_count }): DueNotice[] => {
      if (since_ms === null || notice_count === 0) return [];
      if (after !== undefined && isAbout(after, agent_id)) return [];
      return [
        {
          rule,
          phase: 'recovered',
          tenant_id: this.#parts.tenantId,
          agent_id,
          session_id: this.#rules.get(rule.rule_id)?.peek(agent_id)?.sessionId ?? null,
          at_ms: nowMs,
          since_ms,
          detail: { watch_ended: true },
        },
      ];
    });
  }

  /** Every agent that the rules are about. */
  #evaluateKnown(rules: readonly WatchedRule[], nowMs: number): DueNotice[] {
    return rules.flatMap((one) => this.#evaluateAll(one, this.#known(one), nowMs));
  }

  #evaluateAll(one: WatchedRule, agentIds: readonly string[], nowMs: number): DueNotice[] {
    const due: DueNotice[] = [];
    for (const agentId of agentIds)
      this.#evaluate(one, agentId, this.#agents.peek(agentId) ?? new AgentFacts(), nowMs, due);
    return due;
  }

  /** The agents that the rule is about and of which something is known; of a rule about one agent nobody else is looked at. */
  #known({ settings }: WatchedRule): string[] {
    const { type, agent_id } = settings;
    if (type === 'total_spend') return [ALL_AGENTS];
    if (agent_id === null)
      return [...this.#agents.entries()].map(([agentId]) => agentId).filter((id) => isAbout(settings, id));
    return this.#agents.peek(agent_id) === undefined ? [] : [agent_id];
  }

  /** Somebody's decision before a call that is held for it. */
  #hushOf(agentId: string, facts: AgentFacts): Hush | null {
    const { incident, runningCallCount, isDismissed, seenInSessionId } = facts;
    if (incident !== null) return 'killed';
    if (isDismissed) return 'terminated';
    const bar = this.#parts.policyBar(agentId);
    if (bar !== null) return bar;
    if (seenInSessionId !== null && this.#pausedSessionIds.has(seenInSessionId)) return 'paused';
    return runningCallCount > 0 ? 'busy' : null;
  }

  /**
   * What is heard of late, as an incident from before a start is, happened before the latest notice, and before somebody took it in
   * hand. What is to come counts as now, these too: the clock was set back since.
   */
  #notBefore({ lastNoticeMs, acknowledged }: SubjectState, atMs: number): number {
    const latestMs = Math.max(atMs, lastNoticeMs ?? atMs, acknowledged?.at_ms ?? atMs);
    return Math.min(latestMs, this.#parts.clock.nowMs());
  }

  /** When that was, by the steady clock. Before this process only the wall clock tells; what is to come counts as now. */
  #steadyOf(atMs: number): number {
    const { clock } = this.#parts;
    return clock.steadyMs() - Math.max(0, clock.nowMs() - atMs);
  }

  #facts(agentId: string): AgentFacts {
    let facts = this.#agents.get(agentId);
    if (facts === undefined) {
      facts = new AgentFacts();
      this.#agents.set(agentId, facts);
    }
    return facts;
  }

  /** By id. */
  #enabledRules(): ReadonlyMap<string, RuleSettings> {
    const enabled = this.#parts.rules().filter((rule) => rule.enabled);
    return new Map(enabled.map((rule) => [rule.rule_id, rule]));
  }

  /** @returns those that are new or changed: what holds may hold of other agents than before */
  #applyRules(rules: ReadonlyMap<string, RuleSettings>): WatchedRule[] {
    const { clock, onBound, onChanged } = this.#parts;
    const changed: WatchedRule[] = [];
    for (const ruleId of this.#rules.keys()) {
      if (rules.has(ruleId)) continue;
      this.#rules.delete(ruleId);
      onChanged(ruleId);
    }
    for (const [ruleId, rule] of rules) {
      const known = this.#rules.get(ruleId);
      const one = known ?? new WatchedRule(rule, () => onBound('subjects'));
      if (known?.settings !== rule) changed.push(one);
      if (known === undefined) this.#rules.set(ruleId, one);
      else if (known.change(rule, clock.steadyMs())) onChanged(ruleId);
    }
    return changed;
  }

  /** Each agent that time may change something about, for each rule. It may take several ticks: what is gone meanwhile is left out. */
  *#watched(): Generator<{ one: WatchedRule; agentId: string }> {
    for (const [ruleId, one] of this.#rules) {
      const isSilence = one.settings.type === 'agent_silent';
      const agentIds = isSilence ? new Set([...this.#known(one), ...one.agentIds()]) : one.agentIds();
      for (const agentId of agentIds) {
        if (this.#rules.get(ruleId) !== one) break;
        const isThere =
          one.peek(agentId) !== undefined || (isSilence && this.#agents.peek(agentId) !== undefined);
        if (isThere && isAbout(one.settings, agentId)) yield { one, agentId };
      }
    }
  }

  /** The event itself, and before it what it means to other agents: those from whose session it takes the loop label. */
  #spread(event: AlertEvent): readonly AlertEvent[] {
    const relieved = this.#loopCarriers.apply(event);
    if (relieved.length === 0) return [event];
    const { tenant_id, session_id, at_ms } = event;
    const label = { kind: 'severity', tenant_id, session_id, at_ms, severity: 'normal' } as const;
    return [...relieved.map((agent_id) => ({ ...label, agent_id })), event];
  }
}
